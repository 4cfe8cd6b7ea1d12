//! A scheduler before a device: what the host has asked for and the device has not yet answered.

use std::collections::{HashMap, VecDeque};

use crate::device::{Action, Device, Event, Ns};
use crate::host::{Choice, Request, Scheduler};

/// A device and its scheduler. Reads and writes are scheduled; a flush or a discard goes to the
/// device before all that waits, as in the kernel.
pub struct Station<D: Device + ?Sized = dyn Device> {
    device: Box<D>,
    scheduler: Box<dyn Scheduler>,
    urgent: VecDeque<Request>,
    sent: HashMap<u64, Request>,
    /// When the scheduler wants to be asked again.
    again: Option<Ns>,
    heard: Vec<(Ns, Event)>,
}

impl<D: Device + ?Sized> Station<D> {
    pub fn new(device: Box<D>, scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            device,
            scheduler,
            urgent: VecDeque::new(),
            sent: HashMap::new(),
            again: None,
            heard: Vec::new(),
        }
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    /// For what is not a command: faults, power, a reset. No request may be lost by it unsaid.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Begin anew with this scheduler; requests that were not completed are forgotten.
    pub fn restart(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
        self.urgent.clear();
        self.sent.clear();
        self.again = None;
    }

    /// Requests that have not been completed.
    pub fn waiting(&self) -> usize {
        self.urgent.len() + self.scheduler.waiting() + self.sent.len()
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
        [self.device.next(), asked_again]
            .into_iter()
            .flatten()
            .min()
    }

    /// Go on to a time and append what the device tells. What frees room is followed at once by
    /// the next request.
    pub fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(at) = self.next().filter(|&at| at <= to) {
            self.device.advance(at, &mut self.heard);
            for (when, event) in self.heard.drain(..) {
                if let Event::Completed { tag, .. } = event
                    && let Some(request) = self.sent.remove(&tag)
                {
                    self.scheduler.completed(when, &request);
                }
                events.push((when, event));
            }
            self.fill(at);
        }
        self.device.advance(to, events);
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
                    self.sent.insert(request.command.tag, request);
                    self.device.submit(at, request.command);
                }
                Choice::Wait(until) => {
                    self.again = Some(until);
                    return;
                }
                Choice::Nothing => return,
            }
        }
    }
}
