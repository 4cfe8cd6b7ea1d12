//! How many entries of a set are present, in shared memory: for each block of entries and each
//! region of blocks, so that a search passes over whatever cannot hold what it looks for.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::failure::Failure;
use crate::shared;

/// Entries of a block.
pub const BLOCK: usize = 128;
/// Entries of a region.
pub const REGION: usize = 128 * BLOCK;

/// Which entries are looked for.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    Present,
    Absent,
}

pub struct Census {
    length: usize,
    blocks: Counters<BLOCK>,
    regions: Counters<REGION>,
}

/// How many of each so many entries are present.
struct Counters<const SIZE: usize>(&'static [AtomicU32]);

impl<const SIZE: usize> Counters<SIZE> {
    fn new(length: usize) -> Result<Self, Failure> {
        Ok(Self(shared::slice(length.div_ceil(SIZE))?))
    }

    fn of(&self, entry: usize) -> &AtomicU32 {
        &self.0[entry / SIZE]
    }

    /// How many of these entries are wanted.
    fn count(&self, place: usize, length: usize, wanted: Wanted) -> u64 {
        let present = u64::from(self.0[place].load(Relaxed));
        match wanted {
            Wanted::Present => present,
            Wanted::Absent => (SIZE.min(length - place * SIZE) as u64).saturating_sub(present),
        }
    }

    /// The place among some where the entry stands that has `nth` wanted ones before it; what is
    /// left of `nth` there.
    fn nth(
        &self,
        mut nth: u64,
        mut places: Range<usize>,
        length: usize,
        wanted: Wanted,
    ) -> Option<(usize, u64)> {
        let place = places.find(|&place| {
            let count = self.count(place, length, wanted);
            let here = nth < count;
            nth -= if here { 0 } else { count };
            here
        })?;
        Some((place, nth))
    }
}

impl Census {
    /// A set of which nothing is present.
    pub fn new(length: usize) -> Result<Self, Failure> {
        Ok(Self {
            length,
            blocks: Counters::new(length)?,
            regions: Counters::new(length)?,
        })
    }

    /// The entry is present from now on.
    pub fn add(&self, entry: usize) {
        self.blocks.of(entry).fetch_add(1, Relaxed);
        self.regions.of(entry).fetch_add(1, Relaxed);
    }

    /// The entry is absent from now on.
    pub fn remove(&self, entry: usize) {
        self.blocks.of(entry).fetch_sub(1, Relaxed);
        self.regions.of(entry).fetch_sub(1, Relaxed);
    }

    pub fn total(&self, wanted: Wanted) -> u64 {
        let regions = 0..self.regions.0.len();
        regions
            .map(|place| self.regions.count(place, self.length, wanted))
            .sum()
    }

    /// The block of the entry that has `nth` wanted ones before it, and how many of these are in
    /// the block; None if there are not as many.
    pub fn nth(&self, nth: u64, wanted: Wanted) -> Option<(Range<usize>, usize)> {
        const BLOCKS: usize = REGION / BLOCK;
        let regions = 0..self.regions.0.len();
        let (region, nth) = self.regions.nth(nth, regions, self.length, wanted)?;
        let blocks = region * BLOCKS..((region + 1) * BLOCKS).min(self.blocks.0.len());
        let (block, nth) = self.blocks.nth(nth, blocks, self.length, wanted)?;
        let end = ((block + 1) * BLOCK).min(self.length);
        Some((block * BLOCK..end, nth as usize))
    }

    /// The first entry of a range that `accept` accepts, of which only wanted ones may be.
    pub fn find(
        &self,
        range: Range<usize>,
        wanted: Wanted,
        accept: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut entry = range.start;
        while entry < range.end {
            let (region, block) = (entry / REGION, entry / BLOCK);
            if self.regions.count(region, self.length, wanted) == 0 {
                entry = (region + 1) * REGION;
                continue;
            }
            let end = ((block + 1) * BLOCK).min(range.end);
            if self.blocks.count(block, self.length, wanted) > 0 {
                if let Some(found) = (entry..end).find(|&entry| accept(entry)) {
                    return Some(found);
                }
            }
            entry = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn counts_are_those_of_a_plain_list() {
        let length = 2 * REGION + 3 * BLOCK + 5;
        let is_present = |entry: &usize| entry % 7 == 3 || (REGION..REGION + 999).contains(entry);
        let census = Census::new(length).unwrap();
        (0..length)
            .filter(is_present)
            .for_each(|entry| census.add(entry));
        for wanted in [Wanted::Present, Wanted::Absent] {
            let wants = |entry: &usize| is_present(entry) == (wanted == Wanted::Present);
            let list: Vec<usize> = (0..length).filter(wants).collect();
            assert_eq!(census.total(wanted), list.len() as u64);
            for (nth, &entry) in list.iter().enumerate().step_by(101) {
                let (block, rest) = census.nth(nth as u64, wanted).unwrap();
                assert_eq!(block.into_iter().filter(wants).nth(rest), Some(entry));
                let next = census.find(entry + 1..length, wanted, |entry| wants(&entry));
                assert_eq!(next, list.get(nth + 1).copied());
            }
            assert_eq!(census.nth(list.len() as u64, wanted), None);
        }
    }

    #[test]
    fn the_only_one_of_a_million_is_found_without_a_look_at_many() {
        let length = 1_000_000;
        for only in [0, BLOCK - 1, BLOCK, REGION, 333_333, length - 1] {
            let census = Census::new(length).unwrap();
            for wanted in [Wanted::Present, Wanted::Absent] {
                if wanted == Wanted::Absent {
                    (0..length).for_each(|entry| census.add(entry));
                    census.remove(only);
                } else {
                    census.add(only);
                }
                let looks = Cell::new(0);
                let found = census.find(0..length, wanted, |entry| {
                    looks.set(looks.get() + 1);
                    entry == only
                });
                assert_eq!(found, Some(only));
                assert!(looks.get() <= BLOCK, "{} looks", looks.get());
                if wanted == Wanted::Present {
                    census.remove(only);
                }
            }
        }
    }
}
