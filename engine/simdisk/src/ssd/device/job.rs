//! A command that is not complete.

use crate::device::Command;

/// How far a command is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub command: Command,
    pub has_begun: bool,
    /// Of a write: the page that comes next.
    pub next_page: u64,
    /// Pages that are not delivered, or not stored.
    pub left: u64,
}
