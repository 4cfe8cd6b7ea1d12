//! The requests of one process, as CFQ and BFQ keep them.

use crate::device::Action;
use crate::host::Request;
use crate::host::sorted::{Aged, Key};
use crate::time::Ns;

/// When a request that its process waits for (a read) is overdue, and when one of the writeback of all
/// (a write): `fifo_expire_sync`, `fifo_expire_async` of both schedulers.
const SYNC_EXPIRE_NS: Ns = 125_000_000;
const ASYNC_EXPIRE_NS: Ns = 250_000_000;
/// How far behind the last place a request still is worth a way back, and how much longer that way
/// counts; `back_seek_max`, `back_seek_penalty` of both. Sectors.
const BACK_MOST: u64 = 16 * 1024 * 2;
const BACK_PENALTY: u64 = 2;
/// How long the device is kept idle for the next request of a process; `slice_idle` of both.
pub(super) const IDLE_NS: Ns = 8_000_000;

/// Whose a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Writeback,
    Process(u32),
}

impl Owner {
    pub fn of(request: &Request) -> Self {
        match request.command.action {
            Action::Write => Self::Writeback,
            _ => Self::Process(request.stream),
        }
    }

    pub fn is_sync(self) -> bool {
        self != Self::Writeback
    }
}

/// What an owner wants, and has sent.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    pub waiting: Aged,
    pub in_flight: usize,
}

impl Wishes {
    pub fn is_empty(&self) -> bool {
        self.waiting.sorted.is_empty()
    }

    /// The oldest, if it is overdue.
    pub fn overdue(&mut self, at: Ns, owner: Owner) -> Option<Key> {
        let after = if owner.is_sync() {
            SYNC_EXPIRE_NS
        } else {
            ASYNC_EXPIRE_NS
        };
        self.waiting.expired(at, after)
    }

    /// The request with the shortest way from a sector: ahead, or a little behind; else the first.
    pub fn nearest(&self, sector: u64) -> Option<Key> {
        let sorted = &self.waiting.sorted;
        let ahead = sorted.from(sector).map(|key| (key.0 - sector, key));
        let behind = sorted
            .before(sector)
            .map(|key| (sector - key.0, key))
            .filter(|&(distance, _)| distance <= BACK_MOST)
            .map(|(distance, key)| (distance * BACK_PENALTY, key));
        let nearest = ahead
            .into_iter()
            .chain(behind)
            .min_by_key(|&(way, _)| way)
            .map(|(_, key)| key);
        nearest.or_else(|| sorted.from(0))
    }

    pub fn send(&mut self, key: Key) -> Option<Request> {
        let request = self.waiting.sorted.remove(key)?;
        self.in_flight += 1;
        Some(request)
    }

    /// Hear that a request is answered: perhaps one that another scheduler has sent.
    pub fn answered(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    pub fn is_at_rest(&self) -> bool {
        self.in_flight == 0 && self.is_empty()
    }
}
