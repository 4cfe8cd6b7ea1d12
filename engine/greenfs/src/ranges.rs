//! Sets of bytes of a file.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bytes of a file, as ranges of offsets that neither overlap nor touch. Written as a list of
/// `[start, end]`, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u64, u64)>", try_from = "Vec<(u64, u64)>")]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// All bytes of a file of this size.
    pub fn whole(size_b: u64) -> Self {
        let mut ranges = Self::default();
        ranges.insert(0..size_b);
        ranges
    }

    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let mut joined = range.clone();
        let touching = self.0.range(..=range.end).rev();
        let touching = touching.take_while(|(_, end)| **end >= range.start);
        let touching: Vec<(u64, u64)> = touching.map(|(start, end)| (*start, *end)).collect();
        for (start, end) in touching {
            self.0.remove(&start);
            joined = joined.start.min(start)..joined.end.max(end);
        }
        self.0.insert(joined.start, joined.end);
    }

    pub fn remove(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let touched = self.0.range(..range.end).rev();
        let touched = touched.take_while(|(_, end)| **end > range.start);
        let touched: Vec<(u64, u64)> = touched.map(|(start, end)| (*start, *end)).collect();
        for (start, end) in touched {
            self.0.remove(&start);
            if start < range.start {
                self.0.insert(start, range.start);
            }
            if end > range.end {
                self.0.insert(range.end, end);
            }
        }
    }

    /// Whether all bytes of a range are in it.
    pub fn has_all(&self, range: Range<u64>) -> bool {
        self.gaps(range).is_empty()
    }

    /// What of a range is not in it, in the order of the offsets.
    pub fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut from = range.start;
        let before = self.0.range(..range.start).next_back();
        for (&start, &end) in before.into_iter().chain(self.0.range(range.clone())) {
            if start > from {
                gaps.push(from..start);
            }
            from = from.max(end);
        }
        if from < range.end {
            gaps.push(from..range.end);
        }
        gaps
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    pub fn count_b(&self) -> u64 {
        self.iter().map(|range| range.end - range.start).sum()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The same in whole blocks of so many bytes.
    pub fn rounded(&self, block_b: u64) -> Self {
        let mut rounded = Self::default();
        for range in self.iter() {
            let end = range.end.div_ceil(block_b).saturating_mul(block_b);
            rounded.insert(range.start / block_b * block_b..end);
        }
        rounded
    }
}

impl From<Ranges> for Vec<(u64, u64)> {
    fn from(ranges: Ranges) -> Self {
        ranges.0.into_iter().collect()
    }
}

impl TryFrom<Vec<(u64, u64)>> for Ranges {
    type Error = String;

    fn try_from(pairs: Vec<(u64, u64)>) -> Result<Self, String> {
        let mut last = None;
        for (start, end) in &pairs {
            if start >= end || last.is_some_and(|last| *start <= last) {
                return Err(format!("{start} to {end} is no further range"));
            }
            last = Some(*end);
        }
        Ok(Self(pairs.into_iter().collect()))
    }
}
