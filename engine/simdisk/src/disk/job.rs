//! One access of the media that goes on.

use crate::device::{Action, Extent};
use crate::disk::heads::Heads;
use crate::disk::mechanics::Access;
use crate::disk::stream::Pass;
use crate::time::Ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub work: Work,
    pub extent: Extent,
    /// When its first sector came under the head.
    pub transfer_from: Ns,
    pub end: Ns,
    /// Where the heads are then.
    pub heads: Heads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Read {
        nth: u64,
        pass: Pass,
        /// The segment that the pass is filling already.
        segment: Option<usize>,
    },
    /// A read up to the sector that cannot be read, and further tries of that.
    Fail {
        nth: u64,
        sector: u64,
    },
    Write,
}

impl Job {
    pub fn of(work: Work, extent: Extent, access: Access) -> Self {
        Self {
            work,
            extent,
            transfer_from: access.transfer_from,
            end: access.end,
            heads: access.heads,
        }
    }
}

impl Work {
    /// The segment that is being read into, if that is settled already.
    pub fn fills(self) -> Option<usize> {
        match self {
            Self::Read { segment, .. } => segment,
            Self::Fail { .. } | Self::Write => None,
        }
    }

    pub fn action(self) -> Action {
        match self {
            Self::Write => Action::Write,
            Self::Read { .. } | Self::Fail { .. } => Action::Read,
        }
    }
}
