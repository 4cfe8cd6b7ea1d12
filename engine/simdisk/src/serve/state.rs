//! The model and the data of a disk that is served, and the requests that it has not answered.

use std::collections::HashMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::device::{Action, Command, Device, Event, Extent, Outcome};
use crate::host::{Request, RequestQueue, Scheduler};
use crate::serve::media::Media;
use crate::serve::overlay::Piece;
use crate::serve::request::{Answer, Asked, Data, Due, Pending, size_b};
use crate::serve::served::{Ailment, Noting};
use crate::time::Ns;

/// What time the disk goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Requests take as long as the model says.
    Real,
    /// Requests are carried out at once and the model does not see them.
    Instant,
}

/// Everything about a disk that changes, under one lock.
pub struct State {
    pub queue: RequestQueue<Noting>,
    pub media: Media,
    pub clock: Clock,
    pub is_powered: bool,
    /// New requests wait at the door.
    pub is_closed: bool,
    /// For ever, as the server ends.
    pub is_shut: bool,
    /// Why the store cannot be written to.
    pub broken: Option<String>,
    /// Bytes of requests that are not answered.
    pub held_b: usize,
    pending: HashMap<u64, Pending>,
    events: Vec<(Ns, Event)>,
    /// How far the model has gone; at most an answer's cost beyond the clock.
    model: Ns,
    tags: u64,
}

impl State {
    pub fn new(queue: RequestQueue<Noting>, media: Media, clock: Clock, at: Ns) -> Self {
        Self {
            queue,
            media,
            clock,
            is_powered: true,
            is_closed: false,
            is_shut: false,
            broken: None,
            held_b: 0,
            pending: HashMap::new(),
            events: Vec::new(),
            model: at,
            tags: 0,
        }
    }

    /// # Errors
    /// If it has none, in words.
    pub fn has_power(&self) -> Result<(), String> {
        match self.is_powered {
            true => Ok(()),
            false => Err("the disk has no power".into()),
        }
    }

    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Let the model go on to a time; it may be there already. Returns where it is.
    pub fn advance(&mut self, to: Ns) -> Ns {
        self.model = self.model.max(to);
        self.queue.advance(self.model, &mut self.events);
        self.note_sent();
        self.model
    }

    fn note_sent(&mut self) {
        for (tag, at) in self.queue.device_mut().sent.drain(..) {
            if let Some(pending) = self.pending.get_mut(&tag) {
                pending.sent = at;
            }
        }
    }

    /// There is something for [`State::settle`] to do.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Give a request to the model, at the time to which it has advanced. Returns the tag.
    pub fn offer(&mut self, issued: Ns, asked: &Asked<'_>, answer: Answer) -> u64 {
        self.tags += 1;
        let command = Command {
            tag: self.tags,
            action: asked.action,
            extent: asked.extent,
            through: false,
        };
        let request = Request {
            command,
            stream: asked.stream,
            issued,
        };
        let data = match asked.action {
            Action::Write => Data::Write(asked.data.into()),
            _ => Data::None,
        };
        let pending = Pending {
            request,
            sent: issued,
            data,
            answer,
        };
        self.held_b += asked.size_b();
        self.pending.insert(command.tag, pending);
        self.queue.offer(self.model, request);
        self.note_sent();
        command.tag
    }

    /// What the volatile memory holds where a read will read.
    pub fn volatile(&self, extent: Extent) -> Vec<Piece> {
        self.media.volatile(extent)
    }

    /// Give a waiting read its data before its time.
    pub fn give_ahead(&mut self, tag: u64, data: Vec<u8>) {
        let pending = self.pending.get_mut(&tag);
        if let Some(untouched @ Data::None) = pending.map(|pending| &mut pending.data) {
            *untouched = Data::Ahead(data);
        }
    }

    /// The longest read that waits. Bytes.
    pub fn longest_read_b(&self) -> usize {
        let commands = self.pending.values().map(|pending| pending.request.command);
        let reads = commands.filter(|command| command.action == Action::Read);
        reads
            .map(|command| size_b(command.action, command.extent))
            .max()
            .unwrap_or(0)
    }

    /// Move the data as the model has said, and return what is to be answered, in order.
    pub fn settle(&mut self) -> Vec<Due> {
        let mut events = std::mem::take(&mut self.events);
        let mut due = Vec::new();
        for (when, event) in events.drain(..) {
            match event {
                Event::Cached { tag } => self.cache(tag),
                Event::Stored { extent } => {
                    let stored = self.media.store(extent);
                    self.check(stored);
                }
                Event::Dropped { extent } => {
                    self.overwritten(extent);
                    let dropped = self.media.drop_extent(extent);
                    self.check(dropped);
                }
                Event::Completed { tag, outcome } => due.extend(self.complete(when, tag, outcome)),
            }
        }
        self.events = events;
        due
    }

    fn cache(&mut self, tag: u64) {
        let Some(pending) = self.pending.get(&tag) else {
            return;
        };
        let extent = pending.request.command.extent;
        if let Data::Write(data) = &pending.data {
            self.media.cache(extent, data);
        }
        self.overwritten(extent);
    }

    /// Reads that wait must not answer with what they took here before.
    fn overwritten(&mut self, extent: Extent) {
        for pending in self.pending.values_mut() {
            let command = pending.request.command;
            if command.action == Action::Read && command.extent.overlaps(extent) {
                pending.data = Data::Stale;
            }
        }
    }

    fn complete(&mut self, planned: Ns, tag: u64, outcome: Outcome) -> Option<Due> {
        let pending = self.pending.remove(&tag)?;
        let command = pending.request.command;
        self.held_b -= size_b(command.action, command.extent);
        let result = match (outcome, command.action, pending.data) {
            (Outcome::Unreadable(_) | Outcome::Gone, ..) => Err(libc::EIO),
            (Outcome::Done, Action::Read, Data::Ahead(data)) => Ok(data),
            (Outcome::Done, Action::Read, _) => self.read(command.extent),
            (Outcome::Done, ..) if self.broken.is_some() => Err(libc::EIO),
            (Outcome::Done, ..) => Ok(Vec::new()),
        };
        Some(Due {
            request: pending.request,
            sent: pending.sent,
            planned,
            result,
            answer: pending.answer,
        })
    }

    fn read(&mut self, extent: Extent) -> Result<Vec<u8>, i32> {
        let mut data = vec![0; size_b(Action::Read, extent)];
        let read = self.media.read(extent, &mut data);
        read.map(|()| data).map_err(|_| libc::EIO)
    }

    /// Remember that the store has failed: what was answered already would be lost silently.
    fn check(&mut self, stored: io::Result<()>) -> bool {
        if let Err(error) = &stored {
            self.broken = Some(format!("the store cannot be written to: {error}"));
        }
        stored.is_ok()
    }

    /// Carry out a request past the model, which only takes note of it.
    pub fn carry_out(&mut self, asked: &Asked<'_>, answer: Answer) {
        let served = &mut self.queue.device_mut().served;
        served.prepared(asked.action, asked.extent);
        let done = match asked.action {
            Action::Read => {
                return answer(self.read(asked.extent).as_deref().map_err(|&code| code));
            }
            Action::Write => self.media.write(asked.extent, asked.data),
            Action::Discard => self.media.drop_extent(asked.extent),
            Action::Flush => Ok(()),
        };
        let is_done = self.check(done) && self.broken.is_none();
        answer(if is_done { Ok(&[]) } else { Err(libc::EIO) });
    }

    /// Write everything to the store.
    pub fn store_all(&mut self) {
        let stored = self.media.store_all();
        self.check(stored);
    }

    /// Lose power now: what is volatile is lost. Returns the requests that are never completed.
    pub fn cut_power(&mut self, now: Ns, scheduler: Box<dyn Scheduler>) -> Vec<Due> {
        let at = self.advance(now);
        let mut due = self.settle();
        let device = self.queue.device_mut();
        device.cut_power(at, &mut self.events);
        due.extend(self.settle());
        self.media.cut_power();
        self.queue.restart(scheduler);
        self.is_powered = false;
        due.extend(self.fail_waiting(at));
        due
    }

    /// Forget all that waits. Returns it, to be failed.
    pub fn fail_waiting(&mut self, at: Ns) -> Vec<Due> {
        self.held_b = 0;
        let waiting = self.pending.drain();
        let failed = waiting.map(|(_, pending)| Due {
            request: pending.request,
            sent: pending.sent,
            planned: at,
            result: Err(libc::EIO),
            answer: pending.answer,
        });
        failed.collect()
    }

    /// Let the device have an ailment; one that vanishes loses what is volatile, as without power.
    /// Returns what it answers to that.
    ///
    /// # Errors
    /// If it cannot have it.
    pub fn ail(&mut self, now: Ns, ailment: Ailment) -> Result<Vec<Due>, String> {
        let at = self.advance(now);
        self.queue.device_mut().ail(at, ailment)?;
        if ailment != Ailment::Vanish {
            return Ok(Vec::new());
        }
        self.advance(at);
        let due = self.settle();
        self.media.cut_power();
        Ok(due)
    }

    pub fn restore_power(&mut self, now: Ns) {
        let at = self.advance(now);
        self.queue.device_mut().restore_power(at);
        self.is_powered = true;
    }

    /// Be as if ready since long. Nothing may wait, and everything must be stored.
    pub fn reset(&mut self, now: Ns) {
        let at = self.advance(now);
        self.queue.device_mut().reset(at);
    }
}
