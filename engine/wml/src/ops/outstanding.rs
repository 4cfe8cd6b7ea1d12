//! Operations that go on while the thread does others.

use super::worker::Worker;

impl Worker<'_> {
    /// Wait for everything that is under way.
    pub(super) fn finish_asynchronous(&mut self) {
        self.finish_aio();
        self.finish_uring();
    }
}
