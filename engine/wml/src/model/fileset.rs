//! The filesets that a model works on.

use serde::Serialize;

use crate::random::{Amount, Distribution};

/// Files and leaf directories of a fileset: their names are numbers of eight digits.
pub const MAX_ENTRIES: u64 = 99_999_999;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Fileset {
    pub name: String,
    pub path: String,
    pub size: Amount,
    pub entries: u64,
    /// Empty directories beside those that hold files.
    pub leafdirs: u64,
    pub dirwidth: Amount,
    /// Gamma shape of width and depth; 0 makes both fixed.
    pub dirgamma: f64,
    /// What the depth is drawn from, instead of `dirgamma`; its mean is the computed one.
    pub dirdepth: Option<Distribution>,
    /// Share of the files and of the empty directories that exist at the start.
    pub prealloc_percent: f64,
    /// Create files with several threads.
    pub paralloc: bool,
    /// Keep what an existing tree has, and mend the rest.
    pub reuse: bool,
    /// Keep an existing tree without a look at its sizes.
    pub trusttree: bool,
    /// How far the data of its files compress.
    pub compress_percent: f64,
    pub readonly: bool,
    pub writeonly: bool,
}

impl Fileset {
    /// Bytes of all its files in the mean, existing at the start or not.
    pub fn mean_size_b(&self) -> f64 {
        self.entries as f64 * self.size.mean()
    }
}
