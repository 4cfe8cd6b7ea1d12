//! openfile, createfile, closefile, deletefile, statfile.

use super::outcome::{Outcome, Undone, timed_call};
use super::slots::{OpenFile, Slot};
use super::{Worker, system};
use crate::model::Flowop;

impl Worker<'_> {
    /// The slot that a flowop opens a file into: its own, which must not be in use, or the next
    /// one, of which the last file is closed now.
    fn slot_to_fill(&mut self, flowop: &Flowop) -> Result<usize, Undone> {
        let mut slot = flowop.fd;
        if flowop.opennext {
            slot = self.slots.advance();
            if self.slots.is_open(slot) {
                self.finish_asynchronous();
                self.slots.clear(slot, self.env.files);
            }
        }
        if self.slots.is_open(slot) {
            return Err(Undone::Failed(libc::EBUSY));
        }
        self.slots.put(slot, Slot::Vacant);
        Ok(slot)
    }

    pub(super) fn open_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let slot = self.slot_to_fill(flowop)?;
        let fileset = self.fileset(flowop)?;
        let entry = self.acquire(nth, fileset)?;
        let opened = self.open_entry(flowop, slot, fileset, entry, 0);
        if opened.is_err() {
            self.files(fileset).release(entry);
        }
        opened
    }

    pub(super) fn create_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let slot = self.slot_to_fill(flowop)?;
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let claim = files
            .claim_absent(self.pick(nth, fileset))
            .ok_or_else(|| Undone::nothing(!files.is_full()))?;
        let opened = self.open_entry(flowop, slot, fileset, claim.entry, libc::O_CREAT);
        match opened {
            Ok(_) => files.settle_existing(claim, 1),
            Err(_) => files.settle_absent(claim),
        }
        opened
    }

    pub(super) fn close_file(&mut self, flowop: &Flowop) -> Outcome {
        self.finish_asynchronous();
        match self.slots.take(self.slots.of(flowop)) {
            Slot::Empty | Slot::Closed(_) => Err(Undone::Failed(libc::EBADF)),
            Slot::Vacant => Err(Undone::Skipped),
            Slot::Open(file) => {
                let outcome = timed_call(|| system::close(file.fd));
                if let Some(entry) = file.entry {
                    self.files(file.fileset).release(entry);
                }
                outcome
            }
        }
    }

    /// Delete the file of a slot, open or closed, or else an unused one of the fileset. An open one
    /// stays open.
    pub(super) fn delete_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let slot = self.slots.of(flowop);
        let mut users = 0;
        let (files, claim, left) = match self.slots.get(slot) {
            Slot::Open(
                file @ OpenFile {
                    entry: Some(entry), ..
                },
            ) if flowop.means_slot() => {
                let files = self.files(file.fileset);
                users = 1;
                let gone = Slot::Open(OpenFile {
                    entry: None,
                    ..file
                });
                (files, files.claim_own(entry).ok_or(Undone::Skipped)?, gone)
            }
            Slot::Closed(file) if flowop.means_slot() && flowop.fd > 0 => {
                let files = self.files(file.fileset);
                let claim = files.claim_closed(file.entry).ok_or(Undone::Skipped)?;
                (files, claim, Slot::Empty)
            }
            other => {
                let fileset = self.fileset(flowop)?;
                (self.files(fileset), self.claim_unused(nth, fileset)?, other)
            }
        };
        files.layout.path_into(claim.entry, &mut self.path);
        let outcome = timed_call(|| system::unlink(&self.path));
        if outcome.is_err() {
            files.settle_existing(claim, users);
            return outcome;
        }
        files.settle_absent(claim);
        self.slots.put(slot, left);
        outcome
    }

    /// Look at the file of a slot, or else at one of the fileset by its path.
    pub(super) fn stat_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        match self.own_file(flowop) {
            Some(file) => timed_call(|| system::size_of_file(file.fd).map(drop)),
            None => self.by_path(nth, flowop, |worker| system::stat(&worker.path)),
        }
    }

    /// Time a call on the path of an existing file.
    pub(super) fn by_path(
        &mut self,
        nth: usize,
        flowop: &Flowop,
        call: impl FnOnce(&mut Self) -> system::Result<()>,
    ) -> Outcome {
        let fileset = self.fileset(flowop)?;
        let entry = self.acquire(nth, fileset)?;
        let files = self.files(fileset);
        files.layout.path_into(entry, &mut self.path);
        let outcome = timed_call(|| call(self));
        files.release(entry);
        outcome
    }
}
