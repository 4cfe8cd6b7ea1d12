//! Where reading ahead is.

use crate::disk::stream::Pass;
use crate::time::Ns;

/// A pass that goes on ahead of what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    pub pass: Pass,
    /// The segment that it fills.
    pub segment: usize,
    /// The sector before which it stops.
    pub limit: u64,
    /// When it stops, unless the limit has been moved on since.
    pub until: Ns,
    /// When it was last noted how far it has come.
    pub noted: Ns,
}
