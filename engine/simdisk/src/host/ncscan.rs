//! N-step CSCAN: sweeps that nobody joins.

use std::mem;

use crate::host::sorted::Sorted;
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// The scheduler that nfstricks03 (section 5.3) sets against the elevator: what a sweep sends is
/// fixed when it begins, all that comes later waits for the next one. No request waits for more than
/// the sweep that goes on when it comes, and its own.
#[derive(Debug, Default)]
pub struct NCscan {
    sweep: Sorted,
    next: Sorted,
}

impl Scheduler for NCscan {
    fn add(&mut self, _: Ns, request: Request) {
        self.next.add(request);
    }

    fn take(&mut self, _: Ns) -> Choice {
        if self.sweep.is_empty() {
            mem::swap(&mut self.sweep, &mut self.next);
        }
        self.sweep
            .take_first()
            .map_or(Choice::Nothing, Choice::Send)
    }

    fn completed(&mut self, _: Ns, _: &Request) {}

    fn waiting(&self) -> usize {
        self.sweep.len() + self.next.len()
    }
}
