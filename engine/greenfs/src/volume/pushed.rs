//! What a synchronisation of a branch did.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a push did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Bytes of files.
    pub copied_b: u64,
    /// What was found in the place of something else: now in `.greenfs/kept` of the branch.
    pub kept: Vec<PathBuf>,
    /// What is not of the volume, and may not be moved.
    pub left: BTreeSet<PathBuf>,
    /// What was not there although nobody had removed it here, or was of other mode or owner.
    pub mended: usize,
}

impl Pushed {
    /// What two pushes did, one after the other.
    pub(crate) fn and(mut self, then: Self) -> Self {
        self.kept.extend(then.kept);
        self.left.extend(then.left);
        self.copied_b += then.copied_b;
        self.mended += then.mended;
        self
    }
}
