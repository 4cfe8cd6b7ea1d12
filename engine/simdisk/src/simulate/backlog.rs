//! More work than can be done at once: so many requests are always under way until all are done.

use crate::device::{Action, Command, Extent};
use crate::host::{Request, Served};
use crate::simulate::run::Source;
use crate::time::Ns;

/// Issues a request for every place, so many of them at a time. Streams take turns.
pub struct Backlog<P> {
    places: P,
    action: Action,
    streams: u64,
    idle: u64,
    issued: u64,
    answered: u64,
    count: u64,
    now: Ns,
}

impl<P: Iterator<Item = Extent>> Backlog<P> {
    /// For the first `count` places.
    ///
    /// # Panics
    /// Later, if there are fewer of them.
    pub fn new(places: P, count: u64, action: Action, under_way: u64, streams: u64) -> Self {
        Self {
            places,
            action,
            streams,
            idle: under_way,
            issued: 0,
            answered: 0,
            count,
            now: 0,
        }
    }
}

impl<P: Iterator<Item = Extent>> Source for Backlog<P> {
    fn next(&self) -> Option<Ns> {
        (self.idle > 0 && self.issued < self.count).then_some(self.now)
    }

    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>) {
        while self.idle > 0 && self.issued < self.count {
            let command = Command {
                tag: self.issued,
                action: self.action,
                extent: self.places.next().expect("as many places as were counted"),
                through: false,
            };
            requests.push(Request {
                command,
                stream: (self.issued % self.streams) as u32,
                issued: at,
            });
            self.issued += 1;
            self.idle -= 1;
        }
    }

    fn answered(&mut self, served: &Served) {
        self.idle += 1;
        self.answered += 1;
        self.now = served.done;
    }

    fn is_finished(&self) -> bool {
        self.answered == self.count
    }
}
