//! First in, first out.

use std::collections::VecDeque;

use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

#[derive(Debug, Default)]
pub struct Fifo(VecDeque<Request>);

impl Scheduler for Fifo {
    fn add(&mut self, _: Ns, request: Request) {
        self.0.push_back(request);
    }

    fn take(&mut self, _: Ns) -> Choice {
        self.0.pop_front().map_or(Choice::Nothing, Choice::Send)
    }

    fn completed(&mut self, _: Ns, _: &Request) {}

    fn waiting(&self) -> usize {
        self.0.len()
    }
}
