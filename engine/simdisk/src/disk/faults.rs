//! What can go wrong.

use crate::device::Extent;
use crate::disk::runs::Runs;
use crate::time::Ns;

/// A fault to be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Reads of these sectors from the media fail, until they are written (latent sector errors).
    Unreadable(Extent),
    /// Until this time the disk begins nothing, ends nothing and answers nothing.
    Hang { until: Ns },
    /// It loses power and is gone: whatever is asked of it, it does not answer.
    Vanish,
}

/// The faults that there are.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub unreadable: Runs,
    pub hung_until: Ns,
    pub gone: bool,
}
