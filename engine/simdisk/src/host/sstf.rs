//! Shortest seek time first.

use crate::host::sorted::Sorted;
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// Sends what begins nearest to the end of the last request sent. A host does not know cylinders:
/// the distance is in sectors, as in every kernel that had this scheduler; of two equally near
/// requests the one ahead goes first. Far requests may starve.
#[derive(Debug, Default)]
pub struct Sstf {
    sector: u64,
    requests: Sorted,
}

impl Scheduler for Sstf {
    fn add(&mut self, _: Ns, request: Request) {
        self.requests.add(request);
    }

    fn take(&mut self, _: Ns) -> Choice {
        let ahead = self.requests.from(self.sector);
        let behind = self.requests.before(self.sector);
        let distance = |key: &(u64, u64)| key.0.abs_diff(self.sector);
        let nearest = ahead.into_iter().chain(behind).min_by_key(distance);
        let Some(request) = nearest.and_then(|key| self.requests.remove(key)) else {
            return Choice::Nothing;
        };
        self.sector = request.command.extent.end();
        Choice::Send(request)
    }

    fn completed(&mut self, _: Ns, _: &Request) {}

    fn waiting(&self) -> usize {
        self.requests.len()
    }
}
