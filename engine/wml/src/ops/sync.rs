//! fsync, fdatasync, fsyncset.

use super::Worker;
use super::outcome::{Outcome, Undone, timed_call};
use super::system::{self, Fd};
use crate::model::Flowop;

impl Worker<'_> {
    /// Have the file of a slot written back by a system call.
    pub(super) fn sync_file(
        &mut self,
        nth: usize,
        flowop: &Flowop,
        call: fn(Fd) -> system::Result<()>,
    ) -> Outcome {
        let file = self.file(nth, flowop)?;
        timed_call(|| call(file.fd))
    }

    /// fsync every file of the fileset that this thread has open, of all filesets without one. It
    /// fails as the first of them does, after all have been tried.
    pub(super) fn sync_set(&mut self, flowop: &Flowop) -> Outcome {
        let in_set = |fileset| flowop.fileset.is_none_or(|set| set == fileset);
        let files = || self.slots.open_files().filter(|file| in_set(file.fileset));
        if files().next().is_none() {
            return Err(Undone::Skipped);
        }
        timed_call(|| {
            let mut result = Ok(());
            for file in files() {
                result = result.and(system::fsync(file.fd));
            }
            result
        })
    }
}
