//! mmapread, mmapwrite: through a mapping of the whole file, made when its slot is first used so.

use std::ops::Range;

use super::outcome::{Outcome, Undone, timed};
use super::slots::OpenFile;
use super::system::{self, Fd};
use super::{Worker, sigbus};
use crate::failure::errno;
use crate::model::Flowop;

/// The errno of an access that found no file behind the mapping.
const LOST: i32 = libc::EFAULT;

/// A shared mapping of a file as long as it was then.
pub struct View {
    start: *mut u8,
    length: usize,
    is_writable: bool,
}

// SAFETY: the view owns its mapping and has no state of a thread.
unsafe impl Send for View {}

impl View {
    fn new(fd: Fd, is_writable: bool) -> system::Result<Self> {
        let length = system::size_of_file(fd)? as usize;
        let writes = if is_writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a fresh mapping touches no memory that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | writes,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(errno());
        }
        Ok(Self {
            start: start.cast(),
            length,
            is_writable,
        })
    }

    /// Copy a part of the file into the buffer, piece after piece.
    fn read(&self, part: Range<usize>, buffer: &mut [u8]) -> system::Result<u64> {
        let (to, step) = (buffer.as_mut_ptr(), buffer.len());
        self.access(part, step, |from, length| {
            // SAFETY: both are valid for that length, and nobody looks at bytes that race with
            // the writes of others.
            unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
        })
    }

    /// Copy the data, over and over, into a part of the file.
    fn write(&self, part: Range<usize>, data: &[u8]) -> system::Result<u64> {
        if !self.is_writable {
            return Err(libc::EACCES);
        }
        self.access(part, data.len(), |to, length| {
            // SAFETY: both are valid for that length; the file may change at any time anyhow.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, length) };
        })
    }

    fn access(
        &self,
        part: Range<usize>,
        step: usize,
        copy: impl Fn(*mut u8, usize),
    ) -> system::Result<u64> {
        assert!(part.start <= part.end && part.end <= self.length);
        let bytes = part.len() as u64;
        let whole = sigbus::guarded(self.start, self.length, || {
            for from in part.clone().step_by(step.max(1)) {
                // SAFETY: within the mapping, as asserted above.
                copy(unsafe { self.start.add(from) }, step.min(part.end - from));
            }
        });
        if whole { Ok(bytes) } else { Err(LOST) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

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
