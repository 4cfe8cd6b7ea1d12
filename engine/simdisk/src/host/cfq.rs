//! A model of Linux' CFQ, "complete fairness queueing".

use std::collections::{BTreeMap, VecDeque};

use crate::host::process::{IDLE_NS, Owner, Wishes};
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// The time that a process, or the writeback of all, has the device for; `slice_sync`,
/// `slice_async`.
const SYNC_SLICE_NS: Ns = 100_000_000;
const ASYNC_SLICE_NS: Ns = 40_000_000;
/// Requests that one of several owners may have at the device; `quantum`.
const QUANTUM: usize = 8;

/// Gives each process a slice of time in turn, and within it sends the nearest request. When a
/// process has nothing to send, the device is kept idle a little: it may read on.
///
/// Models `block/cfq-iosched.c` of Linux 2.6.39 to 4.20 with its defaults. Left out: priorities and
/// groups, slices that shrink with many processes (`target_latency`), merging of neighbours and of
/// co-operating processes, and the knowledge of who is not worth waiting for (think times, seeky
/// processes on devices with a queue); requests of different owners do not wait for each other
/// to leave the device.
#[derive(Debug, Default)]
pub struct Cfq {
    owners: BTreeMap<Owner, Wishes>,
    /// Who waits for a slice.
    round: VecDeque<Owner>,
    active: Option<Slice>,
    waiting: usize,
    sector: u64,
}

/// Who has the device.
#[derive(Clone, Copy, Debug)]
struct Slice {
    owner: Owner,
    /// Once something was sent.
    end: Option<Ns>,
    idle_until: Option<Ns>,
}

impl Cfq {
    /// End the slice; who has more to send waits for another.
    fn retire(&mut self, owner: Owner) {
        self.active = None;
        match self.owners.get(&owner) {
            Some(wishes) if !wishes.is_empty() => self.round.push_back(owner),
            Some(wishes) if wishes.is_at_rest() => _ = self.owners.remove(&owner),
            _ => {}
        }
    }

    fn send(&mut self, at: Ns, mut slice: Slice) -> Choice {
        let wishes = self.owners.entry(slice.owner).or_default();
        let overdue = match slice.end {
            None => wishes.overdue(at, slice.owner),
            Some(_) => None,
        };
        let key = overdue.or_else(|| wishes.nearest(self.sector));
        let Some(request) = key.and_then(|key| wishes.send(key)) else {
            return Choice::Nothing;
        };
        let length = if slice.owner.is_sync() {
            SYNC_SLICE_NS
        } else {
            ASYNC_SLICE_NS
        };
        slice.end.get_or_insert(at + length);
        slice.idle_until = None;
        self.active = Some(slice);
        self.waiting -= 1;
        self.sector = request.command.extent.end();
        Choice::Send(request)
    }
}

impl Scheduler for Cfq {
    fn add(&mut self, at: Ns, request: Request) {
        let owner = Owner::of(&request);
        let wishes = self.owners.entry(owner).or_default();
        let is_active = self.active.is_some_and(|slice| slice.owner == owner);
        if wishes.is_empty() && !is_active {
            self.round.push_back(owner);
        }
        wishes.waiting.add(at, request);
        self.waiting += 1;
    }

    fn take(&mut self, at: Ns) -> Choice {
        loop {
            let Some(slice) = self.active else {
                let Some(owner) = self.round.pop_front() else {
                    return Choice::Nothing;
                };
                self.active = Some(Slice {
                    owner,
                    end: None,
                    idle_until: None,
                });
                continue;
            };
            let wishes = self.owners.entry(slice.owner).or_default();
            let is_over = slice.end.is_some_and(|end| at >= end);
            if !is_over && !wishes.is_empty() {
                if wishes.in_flight >= QUANTUM && !self.round.is_empty() {
                    return Choice::Nothing;
                }
                return self.send(at, slice);
            }
            if !is_over && slice.owner.is_sync() {
                if wishes.in_flight > 0 {
                    return Choice::Nothing;
                }
                if let Some(until) = slice.idle_until.filter(|&until| at < until) {
                    return Choice::Wait(until);
                }
            }
            self.retire(slice.owner);
        }
    }

    fn completed(&mut self, at: Ns, request: &Request) {
        let owner = Owner::of(request);
        let Some(wishes) = self.owners.get_mut(&owner) else {
            return;
        };
        wishes.answered();
        let rests = wishes.is_at_rest();
        if let Some(slice) = self.active.as_mut().filter(|slice| slice.owner == owner) {
            let end = slice.end.unwrap_or(Ns::MAX);
            slice.idle_until = rests.then_some(end.min(at + IDLE_NS));
        } else if rests {
            self.owners.remove(&owner);
        }
    }

    fn waiting(&self) -> usize {
        self.waiting
    }
}
