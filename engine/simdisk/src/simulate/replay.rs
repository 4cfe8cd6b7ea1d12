//! A trace, issued at its times whatever the device does (an open loop).

use crate::host::{Request, Served};
use crate::simulate::run::Source;
use crate::time::Ns;

/// The requests of a trace, in the order in which they are issued.
pub struct Replay {
    requests: Vec<Request>,
    issued: usize,
    unanswered: usize,
}

impl Replay {
    pub fn new(requests: Vec<Request>) -> Self {
        Self {
            unanswered: requests.len(),
            requests,
            issued: 0,
        }
    }
}

impl Source for Replay {
    fn next(&self) -> Option<Ns> {
        self.requests.get(self.issued).map(|request| request.issued)
    }

    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>) {
        let waiting = &self.requests[self.issued..];
        let due = waiting
            .iter()
            .take_while(|request| request.issued <= at)
            .count();
        requests.extend_from_slice(&waiting[..due]);
        self.issued += due;
    }

    fn answered(&mut self, _: &Served) {
        self.unanswered -= 1;
    }

    fn is_finished(&self) -> bool {
        self.unanswered == 0
    }
}
