//! A scheduler before a device: what the host has asked for and the device has not yet answered.

use std::collections::VecDeque;

use crate::device::{Action, Device, Event, Outcome};
use crate::host::{Choice, Request, Scheduler};
use crate::time::{Ns, sooner};

/// A device and its scheduler. Reads and writes are scheduled; a flush or a discard goes to the
/// device before all that waits, as in the kernel.
pub struct RequestQueue<D: Device + ?Sized = dyn Device> {
    device: Box<D>,
    scheduler: Box<dyn Scheduler>,
    urgent: VecDeque<Request>,
    sent: Vec<Sent>,
    sent_count: u64,
    /// When the scheduler wants to be asked again.
    again: Option<Ns>,
    heard: Vec<(Ns, Event)>,
    served: Option<Vec<Served>>,
}

/// A request that the device has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub request: Request,
    pub at: Ns,
    /// How many it got before.
    pub nth: u64,
}

/// A request that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub sent: Sent,
    pub done: Ns,
    pub outcome: Outcome,
}

impl<D: Device + ?Sized> RequestQueue<D> {
    pub fn new(device: Box<D>, scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            device,
            scheduler,
            urgent: VecDeque::new(),
            sent: Vec::new(),
            sent_count: 0,
            again: None,
            heard: Vec::new(),
            served: None,
        }
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    /// For what is not a command: faults, power, a reset. No request may be lost by it unsaid.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Requests that have not been completed.
    pub fn waiting(&self) -> usize {
        self.urgent.len() + self.scheduler.waiting() + self.sent.len()
    }

    /// Keep what is served from now on, for [`RequestQueue::served`].
    pub fn keep_served(&mut self) {
        self.served.get_or_insert_default();
    }

    /// Take what was served since the last call, in the order of the answers; nothing unless it is
    /// kept.
    pub fn served(&mut self) -> impl Iterator<Item = Served> + '_ {
        self.served.iter_mut().flat_map(|served| served.drain(..))
    }

    /// Begin anew with this scheduler; requests that were not completed are forgotten.
    pub fn restart(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
        self.urgent.clear();
        self.sent.clear();
        self.again = None;
    }

    /// Take a request at a time to which `advance` has gone.
    pub fn offer(&mut self, at: Ns, request: Request) {
        match request.command.action {
            Action::Read | Action::Write => self.scheduler.add(at, request),
            Action::Flush | Action::Discard => self.urgent.push_back(request),
        }
        self.fill(at);
    }

    /// When something happens next without a further request, if anything does.
    pub fn next(&self) -> Option<Ns> {
        let asked_again = self.again.filter(|_| self.has_room());
        sooner(self.device.next(), asked_again)
    }

    /// Go on to a time and append what the device tells. What frees room is followed at once by
    /// the next request.
    pub fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(at) = self.next().filter(|&at| at <= to) {
            self.step(at, events);
        }
        self.device.advance(to, events);
    }

    /// The same for a time before which nothing happens; more may happen at that time.
    pub fn step(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        let mut heard = std::mem::take(&mut self.heard);
        self.device.advance(at, &mut heard);
        for (when, event) in heard.drain(..) {
            if let Event::Completed { tag, outcome } = event {
                self.note(when, tag, outcome);
            }
            events.push((when, event));
        }
        self.heard = heard;
        self.fill(at);
    }

    fn note(&mut self, done: Ns, tag: u64, outcome: Outcome) {
        let is_it = |sent: &Sent| sent.request.command.tag == tag;
        let Some(place) = self.sent.iter().position(is_it) else {
            return;
        };
        let sent = self.sent.swap_remove(place);
        if let Action::Read | Action::Write = sent.request.command.action {
            self.scheduler.completed(done, &sent.request);
        }
        if let Some(served) = &mut self.served {
            served.push(Served {
                sent,
                done,
                outcome,
            });
        }
    }

    fn has_room(&self) -> bool {
        self.device.waiting() < self.device.depth()
    }

    fn fill(&mut self, at: Ns) {
        self.again = None;
        while self.has_room() {
            let choice = match self.urgent.pop_front() {
                Some(request) => Choice::Send(request),
                None => self.scheduler.take(at),
            };
            match choice {
                Choice::Send(request) => {
                    let nth = self.sent_count;
                    self.sent.push(Sent { request, at, nth });
                    self.sent_count += 1;
                    self.device.submit(at, request.command);
                }
                Choice::Wait(until) => {
                    assert!(until > at, "a scheduler waits for a time that is past");
                    self.again = Some(until);
                    return;
                }
                Choice::Nothing => return,
            }
        }
    }
}
