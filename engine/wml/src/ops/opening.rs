//! Finding and opening the file that a flowop works on.

use super::outcome::{Outcome, Undone, timed_call};
use super::slots::{OpenFile, Slot};
use super::{Worker, system};
use crate::fileset::{Claim, Files, Pick};
use crate::model::{Flowop, Select};

impl<'a> Worker<'a> {
    pub(super) fn files(&self, fileset: usize) -> &'a Files {
        &self.env.files[fileset]
    }

    /// Where a flowop looks for its next entry.
    pub(super) fn pick(&mut self, nth: usize, fileset: usize) -> Pick<'_> {
        let selector = self.env.selectors[nth].as_ref();
        let selector = selector.expect("every flowop with a fileset has one");
        selector.pick(&mut self.env.stream, &mut self.rotors[fileset])
    }

    /// Use an existing file; to be released.
    pub(super) fn acquire(&mut self, nth: usize, fileset: usize) -> Result<usize, Undone> {
        let files = self.files(fileset);
        files
            .acquire(self.pick(nth, fileset))
            .ok_or_else(|| Undone::nothing(!files.is_empty()))
    }

    /// Claim an existing file that nobody uses.
    pub(super) fn claim_unused(&mut self, nth: usize, fileset: usize) -> Result<Claim, Undone> {
        let files = self.files(fileset);
        files
            .claim_unused(self.pick(nth, fileset))
            .ok_or_else(|| Undone::nothing(!files.is_empty()))
    }

    /// The open file that a flowop means rather than one that it picks: that of a slot other
    /// than 0, or of any slot if there is no fileset to pick from.
    pub(super) fn own_file(&self, flowop: &Flowop) -> Option<OpenFile> {
        match self.slots.get(self.slots.of(flowop)) {
            Slot::Open(file) if flowop.means_slot() => Some(file),
            _ => None,
        }
    }

    /// The fileset to pick from, where the slot has no file to work on.
    pub(super) fn fileset(&self, flowop: &Flowop) -> Result<usize, Undone> {
        flowop
            .fileset
            .ok_or_else(|| match self.slots.get(self.slots.of(flowop)) {
                Slot::Empty | Slot::Closed(_) => Undone::Failed(libc::EBADF),
                Slot::Vacant | Slot::Open(_) => Undone::Skipped,
            })
    }

    /// The file of a flowop's slot. An empty slot is filled, before the op begins, with a file of
    /// the fileset: one that depends on the thread's number only, unless the flowop selects.
    pub(super) fn file(&mut self, nth: usize, flowop: &Flowop) -> Result<OpenFile, Undone> {
        let slot = match flowop.advances {
            true => self.slots.advance(),
            false => self.slots.of(flowop),
        };
        if let Some(file) = self.slots.use_open(slot) {
            return Ok(file);
        }
        let fileset = self.fileset(flowop)?;
        let files = self.files(fileset);
        let entry = if flowop.select == Select::Rotor && flowop.indexed.is_none() {
            let entry = files.acquire(Pick::At(self.env.number));
            entry.ok_or_else(|| Undone::nothing(!files.is_empty()))?
        } else {
            self.acquire(nth, fileset)?
        };
        if let Err(undone) = self.open_entry(flowop, slot, fileset, entry, 0) {
            files.release(entry);
            return Err(undone);
        }
        let opened = self.slots.use_open(slot);
        Ok(opened.expect("it has just been opened"))
    }

    /// Open an entry, which the caller holds, into a slot.
    pub(super) fn open_entry(
        &mut self,
        flowop: &Flowop,
        slot: usize,
        fileset: usize,
        entry: usize,
        flags: libc::c_int,
    ) -> Outcome {
        let files = self.files(fileset);
        files.layout.path_into(entry, &mut self.path);
        let flags = flags | open_flags(flowop, files);
        let mut fd = -1;
        let done = timed_call(|| {
            fd = system::open(&self.path, flags)?;
            Ok(())
        })?;
        if flowop.noreadahead {
            system::advise_random(fd);
        }
        let file = OpenFile {
            fd,
            fileset,
            entry: Some(entry),
            size_b: files.layout.entries[entry].size_b,
            is_fresh: true,
        };
        self.slots.put(slot, Slot::Open(file));
        Ok(done)
    }
}

fn open_flags(flowop: &Flowop, files: &Files) -> libc::c_int {
    let access = match (files.fileset.readonly, files.fileset.writeonly) {
        (true, _) => libc::O_RDONLY,
        (false, true) => libc::O_WRONLY,
        (false, false) => libc::O_RDWR,
    };
    // The original opens with O_SYNC, not O_DSYNC, and numbers are compared with its.
    let sync = if flowop.dsync { libc::O_SYNC } else { 0 };
    let direct = if flowop.directio { libc::O_DIRECT } else { 0 };
    access | sync | direct
}
