//! What the media did, for those who want to see their order.

use crate::device::{Action, Extent};
use crate::time::Ns;

/// One access of the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The command; none if cached data are written.
    pub tag: Option<u64>,
    pub action: Action,
    pub extent: Extent,
    /// When the media turned to it.
    pub from: Ns,
    /// When its first sector came under the head, or, of one that was being read ahead, `from`.
    pub transfer_from: Ns,
    pub end: Ns,
}
