//! How a run ends, and what ends a text before its end.

use crate::failure::Failure;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The measured interval was over, or the first thread had reached its goal.
    Complete,
    /// The caller had no more turns.
    Asked,
    /// Every thread had reached its goal before.
    Finished,
    /// Early, for this reason: results are partial.
    Cut(String),
}

/// What ends a text before its end.
#[derive(Debug)]
pub enum Halt {
    /// A signal, or a process that was lost: the reason of partial results.
    Cut(String),
    Failed(Failure),
}

impl Halt {
    pub fn by_signal(name: &str) -> Self {
        Halt::Cut(stopped_by(name))
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Failed(failure)
    }
}

/// The reason of partial results.
pub fn stopped_by(signal: &str) -> String {
    format!("stopped by {signal}")
}
