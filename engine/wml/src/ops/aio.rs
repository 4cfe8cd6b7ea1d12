//! Asynchronous writes: a few helper threads per thread that has an `aiowrite`.
//!
//! Helpers rather than Linux AIO or io_uring: the first is synchronous on buffered files, the
//! second is switched off in many containers. An op begins at its submission, ends when its write
//! is complete, and is recorded when the thread next reaps.

use super::helpers::{Completion, Job};
use super::outcome::{Outcome, Undone, timed};
use super::worker::Worker;
use crate::clock::now_ns;
use crate::model::{Class, Flowop};

/// Submissions that wait for a helper; a thread that never reaps waits here.
const MAX_OUTSTANDING: usize = 128;

impl Worker<'_> {
    pub(super) fn aio_write(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = self.random_offset(flowop, iosize, file.size_b);
        let data = self.some_piece(file.fileset, iosize);
        self.now_ns = now_ns();
        let aio = self.aio.as_mut().expect("made with the worker");
        aio.submit(Job {
            flowop: nth,
            fd: file.fd,
            data,
            offset,
            length: iosize,
            start_ns: self.now_ns,
        });
        if aio.outstanding >= MAX_OUTSTANDING {
            self.settle_aio(1);
        }
        Err(Undone::Passed)
    }

    /// Have what was submitted done while this thread does something else.
    pub(super) fn wake_helpers(&mut self) {
        if let Some(aio) = &mut self.aio {
            aio.wake();
        }
    }

    /// Wait for half of the outstanding writes.
    pub(super) fn aio_wait(&mut self) -> Outcome {
        let outstanding = self.aio.as_ref().map_or(0, |aio| aio.outstanding);
        timed(|| {
            self.settle_aio(outstanding.div_ceil(2));
            Ok(0)
        })
    }

    /// Wait for all outstanding writes.
    pub(super) fn finish_aio(&mut self) {
        let outstanding = self.aio.as_ref().map_or(0, |aio| aio.outstanding);
        if outstanding > 0 {
            self.settle_aio(outstanding);
        }
    }

    fn settle_aio(&mut self, n: usize) {
        let Some(aio) = self.aio.as_mut() else { return };
        aio.reap(n);
        let mut reaped = std::mem::take(&mut aio.reaped);
        self.now_ns = now_ns();
        for Completion { flowop, outcome } in reaped.drain(..) {
            self.record(flowop, Class::Writes, outcome);
        }
        if let Some(aio) = self.aio.as_mut() {
            aio.reaped = reaped;
        }
    }
}
