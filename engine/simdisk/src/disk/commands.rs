//! How a command goes through the disk, from when the electronics have read it to its answer.

use crate::device::{Action, Command, Event, Extent, Outcome};
use crate::disk::Disk;
use crate::disk::queue::Stage;
use crate::time::Ns;

impl Disk {
    /// The electronics have read a command.
    pub(super) fn begin(&mut self, at: Ns, nth: u64, events: &mut Vec<(Ns, Event)>) {
        if self.faults.gone {
            return self.complete(at, nth, Outcome::Gone, events);
        }
        if self.queue.get(nth).command.action != Action::Flush {
            self.queue.set(nth, Stage::Held);
            return self.admit(at, nth, events);
        }
        let mark = self.cache.mark();
        if self.cache.lacks(mark) {
            self.queue.set(nth, Stage::Flushing { mark });
        } else {
            self.complete(at, nth, Outcome::Done, events);
        }
    }

    /// Let those go on that were held and need not be any more.
    pub(super) fn admit_held(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        let mut from = 0;
        while let Some(held) = self.queue.next_held(from) {
            let before = self.queue.count();
            self.admit(at, held, events);
            // one that is complete may let any other go on
            let complete = self.queue.count() < before;
            from = if complete { 0 } else { held + 1 };
        }
    }

    /// Let a command go on, if nothing holds it.
    fn admit(&mut self, at: Ns, nth: u64, events: &mut Vec<(Ns, Event)>) {
        let Command { action, extent, .. } = self.queue.get(nth).command;
        if self.queue.holds(nth) || (action != Action::Read && self.media.writes(extent)) {
            return;
        }
        // what a flush waits for is not replaced before the media have it
        if action == Action::Write
            && self.queue.has_flush()
            && self.cache.dirty().first_in(extent).is_some()
        {
            return;
        }
        match action {
            Action::Read => {
                if !self.answer_from_memory(at, nth) {
                    self.wait_for_media(nth);
                }
            }
            Action::Write => {
                if self.cache.reserve(extent.sectors) {
                    self.give_memory_to_writes();
                    self.interface.carry(nth, extent.sectors, at, at);
                    self.queue.set(nth, Stage::Incoming);
                }
            }
            Action::Discard => {
                self.cache.clean(extent);
                events.push((at, Event::Dropped { extent }));
                self.complete(at, nth, Outcome::Done, events);
                self.complete_stored(at, events);
            }
            Action::Flush => unreachable!("a flush is never held"),
        }
    }

    /// Send the data of a read, if the memory has all of them.
    pub(super) fn answer_from_memory(&mut self, at: Ns, nth: u64) -> bool {
        let extent = self.queue.get(nth).command.extent;
        self.settle_reading_ahead(at);
        if !self.remembers(extent) {
            return false;
        }
        self.read_further_ahead(extent);
        self.counters.cache_hits += 1;
        self.interface.carry(nth, extent.sectors, at, at);
        self.queue.set(nth, Stage::Outgoing);
        true
    }

    /// Whether every sector is in a segment or in the write cache.
    fn remembers(&mut self, extent: Extent) -> bool {
        let mut sector = extent.sector;
        while sector < extent.end() {
            let end = self.segments.end_at(sector);
            match end.or_else(|| self.cache.dirty().end_at(sector)) {
                Some(end) => sector = end,
                None => return false,
            }
        }
        true
    }

    /// Segments of reads give way to written data.
    fn give_memory_to_writes(&mut self) {
        let taken = self.cache.taken().div_ceil(self.segment_sectors) as usize;
        let left = self.segment_count.saturating_sub(taken).max(1);
        self.segments.allow(left, self.media.fills());
    }

    /// Data have come in or gone out.
    pub(super) fn transferred(&mut self, at: Ns, nth: u64, events: &mut Vec<(Ns, Event)>) {
        let pending = self.queue.get(nth);
        if pending.stage == Stage::Outgoing {
            return self.complete(at, nth, Outcome::Done, events);
        }
        let Command {
            tag,
            extent,
            through,
            ..
        } = pending.command;
        self.cache.store(extent);
        events.push((at, Event::Cached { tag }));
        if self.write_back && !through {
            self.complete(at, nth, Outcome::Done, events);
        } else {
            self.wait_for_media(nth);
        }
    }

    fn wait_for_media(&mut self, nth: u64) {
        let sector = self.queue.get(nth).command.extent.sector;
        let place = self.mechanics.geometry().place(sector);
        self.queue.wait(nth, place);
    }

    /// Answer the writes and flushes that waited for what the media hold now.
    pub(super) fn complete_stored(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        let mut from = 0;
        while let Some(nth) = self.next_stored(from) {
            self.complete(at, nth, Outcome::Done, events);
            from = nth + 1;
        }
    }

    /// The first from a number on that waited for what the media hold now.
    fn next_stored(&self, from: u64) -> Option<u64> {
        let mut waiting = self.queue.iter().filter(|&(nth, _)| nth >= from);
        let stored = waiting.find(
            |(_, pending)| match (pending.stage, pending.command.action) {
                (Stage::Waiting, Action::Write) => {
                    let extent = pending.command.extent;
                    self.cache.dirty().first_in(extent).is_none()
                }
                (Stage::Flushing { mark }, _) => !self.cache.lacks(mark),
                _ => false,
            },
        );
        stored.map(|(nth, _)| nth)
    }

    /// Answer a command.
    pub(super) fn complete(
        &mut self,
        at: Ns,
        nth: u64,
        outcome: Outcome,
        events: &mut Vec<(Ns, Event)>,
    ) {
        let Command { tag, action, .. } = self.queue.remove(nth).command;
        let count = match action {
            Action::Read => &mut self.counters.reads,
            Action::Write => &mut self.counters.writes,
            Action::Flush => &mut self.counters.flushes,
            Action::Discard => &mut self.counters.discards,
        };
        *count += 1;
        self.stay_awake(at);
        events.push((at, Event::Completed { tag, outcome }));
    }
}
