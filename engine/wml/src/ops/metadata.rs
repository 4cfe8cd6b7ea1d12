//! Flowops that move no data: open, create, close, delete, stat, fsync.

use super::slots::{OpenFile, Slot, open_flags};
use super::{Outcome, Worker, system, timed};
use crate::fileset::Pick;
use crate::model::Flowop;

impl Worker<'_> {
    fn fileset_of(flowop: &Flowop) -> usize {
        flowop.fileset.expect("the checks demand a fileset")
    }

    /// Open an entry into the slot of a flowop.
    pub(super) fn open_entry(
        &mut self,
        flowop: &Flowop,
        fileset: usize,
        entry: usize,
        flags: libc::c_int,
    ) -> Outcome {
        let files = &self.env.files[fileset];
        files.layout.path_into(entry, &mut self.path);
        let flags = flags | open_flags(flowop, files);
        let mut fd = -1;
        let outcome = timed(|| {
            fd = system::open(&self.path, flags)?;
            Ok(0)
        });
        if fd >= 0 {
            let size_b = files.layout.entries[entry].size_b;
            let file = OpenFile {
                fd,
                fileset,
                entry: Some(entry),
                size_b,
            };
            self.slots.put(flowop.fd, Slot::Open(file));
        }
        outcome
    }

    pub(super) fn open_file(&mut self, flowop: &Flowop) -> Outcome {
        if self.slots.is_open(flowop.fd) {
            return Outcome::Failed(libc::EBUSY);
        }
        self.slots.put(flowop.fd, Slot::Vacant);
        let fileset = Self::fileset_of(flowop);
        let files = &self.env.files[fileset];
        let Some(entry) = files.acquire(Pick::Rotor) else {
            return Outcome::Skipped;
        };
        let outcome = self.open_entry(flowop, fileset, entry, 0);
        if !self.slots.is_open(flowop.fd) {
            files.release(entry);
        }
        outcome
    }

    pub(super) fn create_file(&mut self, flowop: &Flowop) -> Outcome {
        if self.slots.is_open(flowop.fd) {
            return Outcome::Failed(libc::EBUSY);
        }
        self.slots.put(flowop.fd, Slot::Vacant);
        let fileset = Self::fileset_of(flowop);
        let files = &self.env.files[fileset];
        let Some(claim) = files.claim_absent(Pick::Rotor) else {
            return Outcome::Skipped;
        };
        let outcome = self.open_entry(flowop, fileset, claim.entry, libc::O_CREAT);
        if self.slots.is_open(flowop.fd) {
            files.settle_existing(claim, 1);
        } else {
            files.settle_absent(claim);
        }
        outcome
    }

    pub(super) fn close_file(&mut self, flowop: &Flowop) -> Outcome {
        self.finish_aio();
        match self.slots.take(flowop.fd) {
            Slot::Empty => Outcome::Failed(libc::EBADF),
            Slot::Vacant => Outcome::Skipped,
            Slot::Open(file) => {
                let outcome = timed(|| system::close(file.fd).map(|()| 0));
                if let Some(entry) = file.entry {
                    self.env.files[file.fileset].release(entry);
                }
                outcome
            }
        }
    }

    /// Delete the file of a slot other than 0 if it holds one, else the next unused file.
    pub(super) fn delete_file(&mut self, flowop: &Flowop) -> Outcome {
        let own = match self.slots.get(flowop.fd) {
            Slot::Open(file) if flowop.fd > 0 => file.entry.map(|entry| (file, entry)),
            _ => None,
        };
        let (fileset, claim) = match (own, flowop.fileset) {
            (Some((file, entry)), _) => {
                (file.fileset, self.env.files[file.fileset].claim_own(entry))
            }
            (None, Some(fileset)) => (fileset, self.env.files[fileset].claim_unused(Pick::Rotor)),
            (None, None) => return Outcome::Skipped,
        };
        let Some(claim) = claim else {
            return Outcome::Skipped;
        };
        let files = &self.env.files[fileset];
        files.layout.path_into(claim.entry, &mut self.path);
        let outcome = timed(|| system::unlink(&self.path).map(|()| 0));
        if matches!(outcome, Outcome::Failed(_)) {
            files.settle_existing(claim, u32::from(own.is_some()));
            return outcome;
        }
        files.settle_absent(claim);
        if let Some((file, _)) = own {
            self.slots.put(
                flowop.fd,
                Slot::Open(OpenFile {
                    entry: None,
                    ..file
                }),
            );
        }
        outcome
    }

    pub(super) fn stat_file(&mut self, flowop: &Flowop) -> Outcome {
        if let (Slot::Open(file), true) = (self.slots.get(flowop.fd), flowop.fd > 0) {
            return timed(|| system::fstat(file.fd).map(|()| 0));
        }
        let Some(fileset) = flowop.fileset else {
            return Outcome::Skipped;
        };
        let files = &self.env.files[fileset];
        let Some(entry) = files.acquire(Pick::Rotor) else {
            return Outcome::Skipped;
        };
        files.layout.path_into(entry, &mut self.path);
        let outcome = timed(|| system::stat(&self.path).map(|()| 0));
        files.release(entry);
        outcome
    }

    pub(super) fn fsync(&mut self, flowop: &Flowop) -> Outcome {
        match self.file(flowop) {
            Ok(file) => timed(|| system::fsync(file.fd).map(|()| 0)),
            Err(outcome) => outcome,
        }
    }
}
