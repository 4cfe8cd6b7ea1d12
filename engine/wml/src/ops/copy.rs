//! copyfilerange.

use super::outcome::{Outcome, Undone, timed};
use super::slots::Slot;
use super::{Worker, system};
use crate::model::Flowop;

/// The most that is asked for at once; the kernel takes less than 2 GiB.
const LARGEST_B: u64 = 1 << 30;

impl Worker<'_> {
    /// Copy the whole file of `srcfd` over that of the slot within the kernel, in pieces of
    /// `iosize`, from the beginning to its end.
    pub(super) fn copy_file_range(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let source = match flowop.srcfd.map(|slot| self.slots.get(slot)) {
            Some(Slot::Open(source)) => source,
            Some(Slot::Vacant) => return Err(Undone::Skipped),
            Some(Slot::Empty | Slot::Closed(_)) | None => return Err(Undone::Failed(libc::EBADF)),
        };
        let file = self.file(nth, flowop)?;
        let piece = match flowop.iosize.draw(&mut self.env.stream) {
            0 => LARGEST_B,
            iosize => iosize.min(LARGEST_B),
        };
        timed(|| {
            let mut done = 0;
            loop {
                match system::copy_range(source.fd, file.fd, done, piece as usize)? as u64 {
                    0 => return Ok(done),
                    bytes => done += bytes,
                }
            }
        })
    }
}
