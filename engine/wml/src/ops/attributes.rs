//! truncatefile, fallocate, chmodfile, setxattr, getxattr: what a file is, beside its data.

use super::outcome::{Outcome, Undone, timed_call};
use super::{Worker, system};
use crate::model::Flowop;

/// Bytes of an extended attribute without an iosize.
const XATTR_B: u64 = 16;

/// The modes that chmodfile sets.
const MODES: [libc::mode_t; 2] = [0o644, 0o600];

impl Worker<'_> {
    /// Make a file `iosize` bytes long: that of a slot, or else one of the fileset by its path.
    pub(super) fn truncate_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = flowop.iosize.draw(&mut self.env.stream);
        match self.own_file(flowop) {
            Some(file) => timed_call(|| system::resize(file.fd, length)),
            None => self.by_path(nth, flowop, |worker| system::truncate(&worker.path, length)),
        }
    }

    /// Allocate `iosize` bytes behind the end of the file of a slot, which grows by them.
    pub(super) fn fallocate(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let length = flowop.iosize.draw(&mut self.env.stream);
        let end = system::size_of_file(file.fd).map_err(Undone::Failed)?;
        timed_call(|| system::allocate(file.fd, end, length))
    }

    /// Set one of two modes, drawn anew each time.
    pub(super) fn chmod_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let mode = MODES[self.env.stream.below(2) as usize];
        self.by_path(nth, flowop, |worker| system::chmod(&worker.path, mode))
    }

    pub(super) fn set_xattr(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = self.xattr_length(flowop);
        let fileset = self.fileset(flowop)?;
        let data = self.env.data;
        let value = data.bytes(data.piece(fileset, length, &mut self.env.stream));
        self.by_path(nth, flowop, |worker| {
            system::set_xattr(&worker.path, value)
        })
    }

    pub(super) fn get_xattr(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = self.xattr_length(flowop) as usize;
        self.by_path(nth, flowop, |worker| {
            let buffer = worker.buffer.bytes_mut();
            let length = length.min(buffer.len());
            system::get_xattr(&worker.path, &mut buffer[..length]).map(drop)
        })
    }

    fn xattr_length(&mut self, flowop: &Flowop) -> u64 {
        match flowop.iosize.draw(&mut self.env.stream) {
            0 => XATTR_B,
            iosize => iosize,
        }
    }
}
