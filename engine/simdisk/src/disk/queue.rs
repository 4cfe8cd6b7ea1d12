//! The commands that the disk has taken and not yet answered.

use std::collections::VecDeque;

use crate::device::{Action, Command, Extent};
use crate::disk::byplace::ByPlace;
use crate::disk::geometry::Place;
use crate::time::Ns;

/// How far a command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The electronics read it.
    Read,
    /// It waits for one before it that overlaps, or for room in the write cache.
    Held,
    /// Its data come in over the bus.
    Incoming,
    /// It wants the media: a read, or a write whose data are in.
    Waiting,
    /// The media are at it.
    Served,
    /// A flush waits until all that came in up to this mark is on the media.
    Flushing { mark: u64 },
    /// Its data go out over the bus.
    Outgoing,
}

#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub command: Command,
    pub submitted: Ns,
    /// Where it begins, once it waits for the media.
    pub place: Option<Place>,
    pub stage: Stage,
}

/// Commands by their number: each is one higher than that of the command that came before.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// In the order in which they came, with gaps where one has been answered.
    pending: VecDeque<Option<Pending>>,
    /// The number of the first of these.
    first: u64,
    len: usize,
    held: usize,
    incoming: usize,
    flushing: usize,
    all: ByPlace,
    waiting: ByPlace,
    /// No command has been longer since there was none. Sectors.
    longest: u64,
}

impl Queue {
    pub fn count(&self) -> usize {
        self.len
    }

    /// Take a command, and number it.
    pub fn push(&mut self, at: Ns, command: Command) -> u64 {
        let nth = self.end();
        if self.len == 0 {
            self.longest = 0;
        }
        self.longest = self.longest.max(command.extent.sectors);
        self.all.insert(command.extent.sector, nth);
        self.pending.push_back(Some(Pending {
            command,
            submitted: at,
            place: None,
            stage: Stage::Read,
        }));
        self.len += 1;
        nth
    }

    /// # Panics
    /// If it does not wait any more.
    pub fn get(&self, nth: u64) -> &Pending {
        let found = self.pending[(nth - self.first) as usize].as_ref();
        found.expect("a command that is at work waits for its answer")
    }

    pub fn set(&mut self, nth: u64, stage: Stage) {
        let found = self.pending[(nth - self.first) as usize].as_mut();
        let pending = found.expect("a command that is at work waits for its answer");
        let before = std::mem::replace(&mut pending.stage, stage);
        let sector = pending.command.extent.sector;
        self.note(sector, nth, before, stage);
    }

    fn note(&mut self, sector: u64, nth: u64, before: Stage, after: Stage) {
        match before {
            Stage::Held => self.held -= 1,
            Stage::Incoming => self.incoming -= 1,
            Stage::Flushing { .. } => self.flushing -= 1,
            Stage::Waiting => self.waiting.remove(sector, nth),
            _ => {}
        }
        match after {
            Stage::Held => self.held += 1,
            Stage::Incoming => self.incoming += 1,
            Stage::Flushing { .. } => self.flushing += 1,
            Stage::Waiting => self.waiting.insert(sector, nth),
            _ => {}
        }
    }

    /// Let a command wait for the media.
    pub fn wait(&mut self, nth: u64, place: Place) {
        if let Some(pending) = &mut self.pending[(nth - self.first) as usize] {
            pending.place = Some(place);
        }
        self.set(nth, Stage::Waiting);
    }

    /// # Panics
    /// If it does not wait any more.
    pub fn remove(&mut self, nth: u64) -> Pending {
        let found = self.pending[(nth - self.first) as usize].take();
        let pending = found.expect("a command that is at work waits for its answer");
        let sector = pending.command.extent.sector;
        // as one whose data go out, it is on none of the lists
        self.note(sector, nth, pending.stage, Stage::Outgoing);
        self.all.remove(sector, nth);
        self.len -= 1;
        while let Some(None) = self.pending.front() {
            self.pending.pop_front();
            self.first += 1;
        }
        pending
    }

    /// All with their numbers, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Pending)> {
        let numbered = (self.first..).zip(&self.pending);
        numbered.filter_map(|(nth, pending)| Some((nth, pending.as_ref()?)))
    }

    /// The number that the next command will have.
    pub fn end(&self) -> u64 {
        self.first + self.pending.len() as u64
    }

    /// The first of all.
    pub fn first(&self) -> Option<u64> {
        self.iter().next().map(|(nth, _)| nth)
    }

    /// The first that is held, from a number on.
    pub fn next_held(&self, from: u64) -> Option<u64> {
        if self.held == 0 {
            return None;
        }
        let mut all = self.iter();
        let held = all.find(|&(nth, pending)| nth >= from && pending.stage == Stage::Held)?;
        Some(held.0)
    }

    /// Those that wait for the media.
    pub fn waiting(&self) -> &ByPlace {
        &self.waiting
    }

    /// Of those, the one that came first.
    pub fn oldest_waiting(&self) -> Option<u64> {
        if self.waiting.is_empty() {
            return None;
        }
        let mut all = self.iter();
        let oldest = all.find(|(_, pending)| pending.stage == Stage::Waiting)?;
        Some(oldest.0)
    }

    /// Whether a flush waits for the media.
    pub fn has_flush(&self) -> bool {
        self.flushing > 0
    }

    /// The first sector of an extent for which data come in over the bus.
    pub fn first_incoming(&self, extent: Extent) -> Option<u64> {
        if self.incoming == 0 {
            return None;
        }
        let near = self.overlapping(extent).map(|nth| self.get(nth));
        let incoming = near.filter(|pending| pending.stage == Stage::Incoming);
        let sectors = incoming.map(|pending| pending.command.extent.sector);
        sectors.map(|sector| sector.max(extent.sector)).min()
    }

    /// Those that overlap an extent.
    fn overlapping(&self, extent: Extent) -> impl Iterator<Item = u64> + '_ {
        let from = extent.sector.saturating_sub(self.longest);
        let near = self.all.within(from, extent.end());
        near.filter(move |&nth| self.get(nth).command.extent.overlaps(extent))
    }

    /// Whether one that came before overlaps: they are carried out in their order. A write also
    /// waits behind writes that are held, so that none waits for room for ever.
    pub fn holds(&self, nth: u64) -> bool {
        if self.len == 1 {
            return false;
        }
        let command = self.get(nth).command;
        self.overlapping(command.extent).any(|other| other < nth)
            || (command.action == Action::Write && self.holds_a_write_before(nth))
    }

    fn holds_a_write_before(&self, nth: u64) -> bool {
        self.held > 0
            && self
                .iter()
                .take_while(|&(other, _)| other < nth)
                .any(|(_, before)| {
                    before.command.action == Action::Write && before.stage == Stage::Held
                })
    }

    /// Forget all; they are never answered.
    pub fn clear(&mut self) {
        self.first += self.pending.len() as u64;
        self.pending.clear();
        self.len = 0;
        self.held = 0;
        self.incoming = 0;
        self.flushing = 0;
        self.all.clear();
        self.waiting.clear();
    }
}
