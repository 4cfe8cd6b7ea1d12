//! Which bytes of files may be other than those that a branch has.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::protocol::node::NodeId;
use crate::ranges::Ranges;

/// Where nobody knows which.
pub const EVERYTHING: Range<u64> = 0..u64::MAX;

/// Of one file so many ranges are told apart at most; then near ones count as one.
const RANGES_MOST: usize = 1 << 10;

/// Ranges that are near begin and end at multiples of this, or of twice as much, and so on. Bytes.
const NEAR_B: u64 = 1 << 12;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dirty(BTreeMap<NodeId, Ranges>);

impl Dirty {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// None if nothing was said of this file.
    pub fn get(&self, id: NodeId) -> Option<&Ranges> {
        self.0.get(&id)
    }

    /// What was said of this file, which is then forgotten.
    pub fn take(&mut self, id: NodeId) -> Ranges {
        self.0.remove(&id).unwrap_or_default()
    }

    pub fn insert(&mut self, id: NodeId, range: Range<u64>) {
        let ranges = self.0.entry(id).or_default();
        ranges.insert(range);
        let mut near_b = NEAR_B;
        if ranges.count() > RANGES_MOST {
            while ranges.count() > RANGES_MOST / 2 {
                *ranges = ranges.rounded(near_b);
                near_b *= 2;
            }
        }
    }
}
