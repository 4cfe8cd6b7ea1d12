//! mmapread, mmapwrite: through a mapping of the whole file, made when its slot is first used so.

use std::ops::Range;

use super::outcome::{Outcome, Undone, timed};
use super::slots::OpenFile;
use super::view::{LOST, View};
use super::worker::Worker;
use crate::model::Flowop;

impl Worker<'_> {
    pub(super) fn mmap_read(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let (_, part) = self.next_part(nth, flowop)?;
        let slot = self.slots.of(flowop);
        let view = self.slots.view(slot).as_ref();
        let view = view.expect("made with the part");
        let outcome = timed(|| view.read(part, self.buffer.bytes_mut()));
        self.settle_view(slot, outcome)
    }

    pub(super) fn mmap_write(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let (file, part) = self.next_part(nth, flowop)?;
        let data = self.some_data(file.fileset, part.len() as u64);
        let slot = self.slots.of(flowop);
        let view = self.slots.view(slot).as_ref();
        let view = view.expect("made with the part");
        let outcome = timed(|| view.write(part, data));
        self.settle_view(slot, outcome)
    }

    /// Give up a mapping that has lost its file; the next op makes a new one.
    fn settle_view(&mut self, slot: usize, outcome: Outcome) -> Outcome {
        if outcome == Err(Undone::Failed(LOST)) {
            *self.slots.view(slot) = None;
        }
        outcome
    }

    /// The file of a flowop's slot, mapped, and the part of it that is next, or a random one.
    fn next_part(
        &mut self,
        nth: usize,
        flowop: &Flowop,
    ) -> Result<(OpenFile, Range<usize>), Undone> {
        let file = self.file(nth, flowop)?;
        let slot = self.slots.of(flowop);
        if self.slots.view(slot).is_none() {
            let is_writable = !self.files(file.fileset).fileset.readonly;
            let view = View::new(file.fd, is_writable).map_err(Undone::Failed)?;
            *self.slots.view(slot) = Some(view);
        }
        let size_b = self.slots.view(slot).as_ref().map_or(0, |view| view.length) as u64;
        let iosize = match flowop.iosize.draw(&mut self.env.stream) {
            0 => size_b,
            iosize => iosize.min(size_b),
        };
        let offset = if flowop.random {
            self.random_offset(flowop, iosize, size_b)
        } else {
            self.slots.next_offset(slot, iosize, size_b)
        };
        let end = (offset + iosize).min(size_b);
        Ok((file, offset as usize..end as usize))
    }
}
