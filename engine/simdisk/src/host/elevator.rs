//! The elevator of BSD: one sweep upwards after the other.

use std::mem;

use crate::host::sorted::Sorted;
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// Cyclical SCAN as `bufqdisksort` of FreeBSD 4 does it (sys/kern/subr_disklabel.c): a request at or
/// behind the place of the last one sent joins the sweep that goes on, any other waits for the next.
/// Hence its starvation (nfstricks03, section 5.3): whoever reads on in sequence stays in the sweep
/// for ever. As there, the next sweep becomes the one that goes on as soon as the last request of
/// this one is sent, and the place of the last one sent remains.
///
/// Left out: ordered requests (barriers), which no reader issues.
#[derive(Debug, Default)]
pub struct Elevator {
    sector: u64,
    sweep: Sorted,
    next: Sorted,
}

impl Scheduler for Elevator {
    fn add(&mut self, _: Ns, request: Request) {
        if self.waiting() == 0 || request.command.extent.sector >= self.sector {
            self.sweep.add(request);
        } else {
            self.next.add(request);
        }
    }

    fn take(&mut self, _: Ns) -> Choice {
        let Some(request) = self.sweep.take_first() else {
            return Choice::Nothing;
        };
        self.sector = request.command.extent.sector;
        if self.sweep.is_empty() {
            mem::swap(&mut self.sweep, &mut self.next);
        }
        Choice::Send(request)
    }

    fn completed(&mut self, _: Ns, _: &Request) {}

    fn waiting(&self) -> usize {
        self.sweep.len() + self.next.len()
    }
}
