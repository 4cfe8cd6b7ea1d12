//! renamefile, linkfile, symlinkfile: a new name, one that is absent, for an existing file.

use super::outcome::{Outcome, Undone, timed_call};
use super::{Worker, system};
use crate::fileset::{Claim, Files, Pick};
use crate::model::Flowop;

/// A system call on the path of a file and on its new one.
type Naming = fn(&[u8], &[u8]) -> system::Result<()>;

impl Worker<'_> {
    /// Give a file that nobody uses another name; the old one becomes absent.
    pub(super) fn rename_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let old = self.claim_unused(nth, fileset)?;
        let new = match new_name(files) {
            Ok(new) => new,
            Err(undone) => {
                files.settle_existing(old, 0);
                return Err(undone);
            }
        };
        let outcome = self.name(files, old.entry, &new, system::rename);
        if outcome.is_ok() {
            files.settle_existing(new, 0);
            files.settle_absent(old);
        } else {
            files.settle_absent(new);
            files.settle_existing(old, 0);
        }
        outcome
    }

    /// Give a file one more name.
    pub(super) fn link_file(&mut self, nth: usize, flowop: &Flowop, link: Naming) -> Outcome {
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let entry = self.acquire(nth, fileset)?;
        let outcome = new_name(files).and_then(|new| {
            let outcome = self.name(files, entry, &new, link);
            match outcome {
                Ok(_) => files.settle_existing(new, 0),
                Err(_) => files.settle_absent(new),
            }
            outcome
        });
        files.release(entry);
        outcome
    }

    fn name(&mut self, files: &Files, entry: usize, new: &Claim, call: Naming) -> Outcome {
        files.layout.path_into(entry, &mut self.path);
        files.layout.path_into(new.entry, &mut self.new_path);
        timed_call(|| call(&self.path, &self.new_path))
    }
}

fn new_name(files: &Files) -> Result<Claim, Undone> {
    files
        .claim_absent(Pick::Rotor)
        .ok_or_else(|| Undone::nothing(!files.is_full()))
}
