//! What became of one execution of a flowop.

use super::system;
use crate::clock::now_ns;

pub type Outcome = Result<Done, Undone>;

/// An op that was done. Its times enclose the system calls only, not the engine's own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub start_ns: u64,
    pub end_ns: u64,
    pub bytes: u64,
}

/// Why there is no op to record as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// There was no file that fits now.
    Skipped,
    /// Nothing at all was left: no file to open, no name to create.
    Exhausted,
    /// The errno.
    Failed(i32),
    /// Nothing is to be recorded, or not yet.
    Passed,
    /// This thread has reached its goal.
    Finished,
}

impl Undone {
    /// Of an op that found nothing to work on.
    pub fn nothing(is_left: bool) -> Self {
        if is_left {
            Undone::Skipped
        } else {
            Undone::Exhausted
        }
    }
}

/// Time a piece of work that yields a number of bytes or an errno.
pub fn timed(work: impl FnOnce() -> system::Result<u64>) -> Outcome {
    let start_ns = now_ns();
    let bytes = work().map_err(Undone::Failed)?;
    Ok(Done {
        start_ns,
        end_ns: now_ns(),
        bytes,
    })
}

/// The same for work that moves no bytes.
pub fn timed_call(work: impl FnOnce() -> system::Result<()>) -> Outcome {
    timed(|| work().map(|()| 0))
}
