//! listdir, liststatdir, fsyncdir, makedir, removedir.

use super::Worker;
use super::outcome::{Outcome, Undone, timed, timed_call};
use super::system::{self, Fd};
use crate::model::{Flowop, Operation};

impl Worker<'_> {
    /// Put the path of the next directory into `path`.
    fn next_directory(&mut self, nth: usize, flowop: &Flowop) -> Result<(), Undone> {
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let directory = files.directory(self.pick(nth, fileset));
        files.layout.directory_path_into(directory, &mut self.path);
        Ok(())
    }

    /// Read all entries of a directory, and look at each if the flowop says so; the bytes are
    /// those of the entries.
    pub(super) fn list_directory(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        self.next_directory(nth, flowop)?;
        let looks = flowop.operation == Operation::ListStatDir;
        let (path, buffer) = (&self.path, self.buffer.bytes_mut());
        timed(|| {
            with_directory(path, |directory| {
                let mut bytes = 0;
                loop {
                    let records = system::read_directory(directory, buffer)?;
                    if records.is_empty() {
                        return Ok(bytes);
                    }
                    bytes += records.len() as u64;
                    if looks {
                        look_at_each(directory, records)?;
                    }
                }
            })
        })
    }

    pub(super) fn sync_directory(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        self.next_directory(nth, flowop)?;
        let path = &self.path;
        timed_call(|| with_directory(path, system::fsync))
    }

    pub(super) fn make_directory(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let claim = files
            .claim_absent_leafdir(self.pick(nth, fileset))
            .ok_or_else(|| Undone::nothing(!files.leafdirs_full()))?;
        files
            .layout
            .leafdir_path_into(claim.leafdir, &mut self.path);
        let outcome = timed_call(|| system::make_directory(&self.path));
        files.settle_leafdir(claim, outcome.is_ok());
        outcome
    }

    pub(super) fn remove_directory(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let claim = files
            .claim_existing_leafdir(self.pick(nth, fileset))
            .ok_or_else(|| Undone::nothing(!files.leafdirs_empty()))?;
        files
            .layout
            .leafdir_path_into(claim.leafdir, &mut self.path);
        let outcome = timed_call(|| system::remove_directory(&self.path));
        files.settle_leafdir(claim, outcome.is_err());
        outcome
    }
}

/// Open a directory, work on it, and close it.
fn with_directory<T>(path: &[u8], work: impl FnOnce(Fd) -> system::Result<T>) -> system::Result<T> {
    let directory = system::open(path, libc::O_RDONLY | libc::O_DIRECTORY)?;
    let result = work(directory);
    system::close(directory)?;
    result
}

fn look_at_each(directory: Fd, records: &[u8]) -> system::Result<()> {
    for name in system::entry_names(records) {
        match system::stat_at(directory, name) {
            // Others may delete what this thread has read.
            Ok(()) | Err(libc::ENOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
