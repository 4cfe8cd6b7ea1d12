//! The numbered descriptors of a thread.

use super::system::{self, Fd};
use super::{Outcome, Worker};
use crate::fileset::{Files, Pick};
use crate::model::{Flowop, SLOTS};

#[derive(Clone, Copy, Default)]
pub enum Slot {
    #[default]
    Empty,
    /// A file should be here, but there was none to open or create.
    Vacant,
    Open(OpenFile),
}

#[derive(Clone, Copy)]
pub struct OpenFile {
    pub fd: Fd,
    pub fileset: usize,
    /// None once this thread has deleted it.
    pub entry: Option<usize>,
    /// The size that the layout gives it.
    pub size_b: u64,
}

pub struct Slots([Slot; SLOTS]);

impl Default for Slots {
    fn default() -> Self {
        Self([Slot::Empty; SLOTS])
    }
}

impl Slots {
    pub fn get(&self, slot: usize) -> Slot {
        self.0[slot]
    }

    pub fn is_open(&self, slot: usize) -> bool {
        matches!(self.0[slot], Slot::Open(_))
    }

    pub fn put(&mut self, slot: usize, content: Slot) {
        self.0[slot] = content;
    }

    pub fn take(&mut self, slot: usize) -> Slot {
        std::mem::take(&mut self.0[slot])
    }

    pub fn close_all(&mut self, files: &[Files]) {
        for slot in &mut self.0 {
            if let Slot::Open(file) = std::mem::take(slot) {
                let _ = system::close(file.fd);
                if let Some(entry) = file.entry {
                    files[file.fileset].release(entry);
                }
            }
        }
    }
}

impl Worker<'_> {
    /// The file of a flowop's slot; opens the thread's own file of the fileset if the slot is
    /// empty. Which one depends on the thread's number only.
    pub(super) fn file(&mut self, flowop: &Flowop) -> Result<OpenFile, Outcome> {
        match (self.slots.get(flowop.fd), flowop.fileset) {
            (Slot::Open(file), _) => Ok(file),
            (Slot::Vacant, None) => Err(Outcome::Skipped),
            (Slot::Empty, None) => Err(Outcome::Failed(libc::EBADF)),
            (_, Some(fileset)) => {
                let files = &self.env.files[fileset];
                let entry = files
                    .acquire(Pick::At(self.env.number))
                    .ok_or(Outcome::Skipped)?;
                let outcome = self.open_entry(flowop, fileset, entry, 0);
                if let Slot::Open(file) = self.slots.get(flowop.fd) {
                    return Ok(file);
                }
                files.release(entry);
                Err(outcome)
            }
        }
    }
}

pub fn open_flags(flowop: &Flowop, files: &Files) -> libc::c_int {
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
