//! truncatefile, fallocate, chmodfile, setxattr, getxattr: what a file is, beside its data.

use super::outcome::{Outcome, Undone, timed_call};
use super::{Worker, system};
use crate::model::Flowop;

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

    /// Set the attribute of the file of a slot, or else of one of the fileset by its path.
    pub(super) fn set_xattr(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = flowop.iosize.draw(&mut self.env.stream);
        let own = self.own_file(flowop);
        let fileset = own.map_or_else(|| self.fileset(flowop), |file| Ok(file.fileset))?;
        let value = self.some_data(fileset, length);
        match own {
            Some(file) => timed_call(|| system::set_xattr_of(file.fd, value)),
            None => self.by_path(nth, flowop, |worker| system::set_xattr(&worker.path, value)),
        }
    }

    /// Get the attribute, as `set_xattr` sets it.
    pub(super) fn get_xattr(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = flowop.iosize.draw(&mut self.env.stream) as usize;
        if let Some(file) = self.own_file(flowop) {
            let value = first(self.buffer.bytes_mut(), length);
            return timed_call(|| system::get_xattr_of(file.fd, value).map(drop));
        }
        self.by_path(nth, flowop, |worker| {
            let value = first(worker.buffer.bytes_mut(), length);
            system::get_xattr(&worker.path, value).map(drop)
        })
    }
}

/// So many bytes of a buffer, or all.
fn first(buffer: &mut [u8], length: usize) -> &mut [u8] {
    let length = length.min(buffer.len());
    &mut buffer[..length]
}
