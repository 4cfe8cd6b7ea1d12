//! A model of Linux' BFQ, "budget fair queueing".

use std::collections::BTreeMap;

use crate::host::process::{IDLE_NS, Owner, Wishes};
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// Sectors that an owner may get at once: at most, at least, and at first
/// (`bfq_default_max_budget`, its 32nd part, two thirds of it).
const BUDGET_MOST: u64 = 16 * 1024;
const BUDGET_LEAST: u64 = BUDGET_MOST / 32;
const BUDGET_FIRST: u64 = BUDGET_MOST * 2 / 3;
/// The longest that one owner keeps the device; `timeout_sync`.
const TIMEOUT_NS: Ns = 125_000_000;
/// Virtual time per sector: 2 to this.
const SHIFT: u32 = 20;

/// Gives each owner a budget of sectors in the order of B-WF2Q+: of those whose share is due, the
/// one that would be through with its budget first in an ideally fair system. Within a budget the
/// nearest request goes out, and the device is kept idle a little for who may read on.
///
/// Models `block/bfq-iosched.c` of Linux 6, described in P. Valente and F. Checconi, "High
/// throughput disk scheduling with fair bandwidth distribution", IEEE Trans. Computers 59(9), 2010,
/// with its defaults and equal weights. Left out: raised weights (`low_latency`), groups, merging
/// of co-operating processes, injection, the largest budget as measured from the peak rate, charging
/// time instead of sectors to slow owners, and the knowledge of who is not worth waiting for.
#[derive(Debug, Default)]
pub struct Bfq {
    owners: BTreeMap<Owner, Share>,
    service: Option<Service>,
    virtual_time: u64,
    waiting: usize,
    sector: u64,
}

/// What an owner wants, and what is due to it.
#[derive(Debug)]
struct Share {
    wishes: Wishes,
    /// The next one.
    budget: u64,
    /// In virtual time.
    start: u64,
    finish: u64,
}

/// Who has the device.
#[derive(Clone, Copy, Debug)]
struct Service {
    owner: Owner,
    budget: u64,
    served: u64,
    /// Once something was sent.
    end: Option<Ns>,
    idle_until: Option<Ns>,
}

/// Why an owner loses the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Exhausted,
    TimedOut,
    Idle,
    NothingMore,
}

impl Share {
    fn new() -> Self {
        Self {
            wishes: Wishes::default(),
            budget: BUDGET_FIRST,
            start: 0,
            finish: 0,
        }
    }

    /// Be due from a virtual time on.
    fn claim(&mut self, from: u64) {
        self.start = from;
        self.finish = from + (self.budget << SHIFT);
    }

    /// The next budget of a process, from how it used this one.
    fn adapt(&mut self, reason: Reason, served: u64) {
        self.budget = match reason {
            Reason::Exhausted => (self.budget * 4).min(BUDGET_MOST),
            Reason::TimedOut => (self.budget * 2).min(BUDGET_MOST),
            Reason::Idle if self.budget > 5 * BUDGET_LEAST => self.budget - 4 * BUDGET_LEAST,
            Reason::Idle => BUDGET_LEAST,
            Reason::NothingMore => served.clamp(BUDGET_LEAST, BUDGET_MOST),
        };
    }
}

impl Bfq {
    /// Give the device to whose turn it is.
    fn select(&mut self) -> Option<Service> {
        let claims = self
            .owners
            .iter()
            .filter(|(_, share)| !share.wishes.is_empty());
        let earliest = claims.clone().map(|(_, share)| share.start).min()?;
        self.virtual_time = self.virtual_time.max(earliest);
        let (&owner, share) = claims
            .filter(|(_, share)| share.start <= self.virtual_time)
            .min_by_key(|(_, share)| share.finish)?;
        Some(Service {
            owner,
            budget: share.budget,
            served: 0,
            end: None,
            idle_until: None,
        })
    }

    /// Take the device from who has it, and count what it got.
    fn expire(&mut self, service: Service, reason: Reason) {
        self.service = None;
        let Some(share) = self.owners.get_mut(&service.owner) else {
            return;
        };
        share.finish = share.start + (service.served << SHIFT);
        if service.owner.is_sync() {
            share.adapt(reason, service.served);
        } else {
            share.budget = BUDGET_MOST;
        }
        if !share.wishes.is_empty() {
            share.claim(share.finish);
        }
    }

    fn send(&mut self, at: Ns, mut service: Service, request: Request) -> Choice {
        let claims = self.owners.iter();
        let active =
            claims.filter(|&(&owner, share)| owner == service.owner || !share.wishes.is_empty());
        let sectors = request.command.extent.sectors;
        self.virtual_time += (sectors << SHIFT) / active.count() as u64;
        service.served += sectors;
        service.end.get_or_insert(at + TIMEOUT_NS);
        service.idle_until = None;
        self.service = Some(service);
        self.waiting -= 1;
        self.sector = request.command.extent.end();
        Choice::Send(request)
    }
}

impl Scheduler for Bfq {
    fn add(&mut self, at: Ns, request: Request) {
        let owner = Owner::of(&request);
        let is_served = self.service.is_some_and(|service| service.owner == owner);
        let share = self.owners.entry(owner).or_insert_with(Share::new);
        if share.wishes.is_empty() && !is_served {
            share.claim(self.virtual_time.max(share.finish));
        }
        share.wishes.waiting.add(at, request);
        self.waiting += 1;
    }

    fn take(&mut self, at: Ns) -> Choice {
        loop {
            let Some(service) = self.service else {
                let Some(selected) = self.select() else {
                    return Choice::Nothing;
                };
                self.service = Some(selected);
                continue;
            };
            let Some(share) = self.owners.get_mut(&service.owner) else {
                self.service = None;
                continue;
            };
            if service.end.is_some_and(|end| at >= end) {
                self.expire(service, Reason::TimedOut);
                continue;
            }
            let wishes = &mut share.wishes;
            let overdue = match service.end {
                None => wishes.overdue(at, service.owner),
                Some(_) => None,
            };
            if let Some(key) = overdue.or_else(|| wishes.nearest(self.sector)) {
                let next = wishes.waiting.sorted.get(key);
                let sectors = next.map_or(0, |request| request.command.extent.sectors);
                // A request that is larger than a whole budget goes out as the first.
                if service.served > 0 && service.served + sectors > service.budget {
                    self.expire(service, Reason::Exhausted);
                } else if let Some(request) = wishes.send(key) {
                    return self.send(at, service, request);
                }
            } else if !service.owner.is_sync() {
                self.expire(service, Reason::NothingMore);
            } else if wishes.in_flight > 0 {
                return Choice::Nothing;
            } else if let Some(until) = service.idle_until.filter(|&until| at < until) {
                return Choice::Wait(until);
            } else {
                self.expire(service, Reason::Idle);
            }
        }
    }

    fn completed(&mut self, at: Ns, request: &Request) {
        let owner = Owner::of(request);
        let Some(share) = self.owners.get_mut(&owner) else {
            return;
        };
        share.wishes.answered();
        let rests = share.wishes.is_at_rest();
        if let Some(service) = self
            .service
            .as_mut()
            .filter(|service| service.owner == owner)
        {
            service.idle_until = rests.then_some(at + IDLE_NS);
        }
    }

    fn waiting(&self) -> usize {
        self.waiting
    }
}
