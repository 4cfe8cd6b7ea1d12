//! How many entries of a set exist and how many are absent, in shared memory: for each block of
//! entries, so that a search passes over blocks that cannot hold what it looks for.
//!
//! The counters of a block share one word, and each change of it is one write.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::failure::Failure;
use crate::shared;

/// Entries of a block.
pub const BLOCK: usize = 128;

/// Which entries are looked for.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    Present,
    Absent,
}

/// What becomes of an entry. Claims are told before they are made, and taken back where they
/// fail, so that never more entries are counted as existing or as absent than are.
#[derive(Clone, Copy)]
pub enum Change {
    /// It is absent and is to be created.
    ClaimAbsent,
    NotClaimedAbsent,
    Created,
    /// It exists and is to be deleted.
    ClaimExisting,
    NotClaimedExisting,
    Deleted,
}

/// The fields of a block's word, from the lowest: how many exist, how many are present (not
/// absent, as a claimed one is neither), and how many changes there have been.
const EXISTING: u64 = 1;
const PRESENT: u64 = 1 << 22;
const CHANGED: u64 = 1 << 44;
const FIELD: u64 = PRESENT - 1;
/// Several that try to claim one entry may count it more than once for a moment; a field starts
/// from here so that it never runs into its neighbour.
const ZERO: u64 = 1 << 20;

impl Change {
    fn word(self) -> u64 {
        let fields = match self {
            Change::ClaimAbsent => PRESENT,
            Change::NotClaimedAbsent | Change::Deleted => PRESENT.wrapping_neg(),
            Change::Created | Change::NotClaimedExisting => EXISTING,
            Change::ClaimExisting => EXISTING.wrapping_neg(),
        };
        CHANGED.wrapping_add(fields)
    }
}

pub struct Census {
    length: usize,
    blocks: &'static [AtomicU64],
}

impl Census {
    /// A set of which all entries are absent.
    pub fn new(length: usize) -> Result<Self, Failure> {
        let blocks: &[AtomicU64] = shared::slice(length.div_ceil(BLOCK))?;
        for block in blocks {
            block.store(ZERO * (EXISTING + PRESENT), Relaxed);
        }
        Ok(Self { length, blocks })
    }

    pub fn tell(&self, entry: usize, change: Change) {
        self.blocks[entry / BLOCK].fetch_add(change.word(), AcqRel);
    }

    /// How many exist.
    pub fn existing(&self) -> u64 {
        self.sum().existing
    }

    /// How many are wanted.
    pub fn total(&self, wanted: Wanted) -> u64 {
        let present = self.sum().present;
        match wanted {
            Wanted::Present => present,
            Wanted::Absent => (self.length as u64).saturating_sub(present),
        }
    }

    /// Whether all exist. No, if any entry changes meanwhile.
    pub fn is_full(&self) -> bool {
        self.snapshot()
            .is_some_and(|sum| sum.existing == self.length as u64)
    }

    /// Whether all are absent. No, if any entry changes meanwhile.
    pub fn is_empty(&self) -> bool {
        self.snapshot().is_some_and(|sum| sum.present == 0)
    }

    /// The counts of one moment, None if any entry changes meanwhile: where two sums have equal
    /// counts of changes, nothing has changed between them.
    pub fn snapshot(&self) -> Option<Sum> {
        let sum = self.sum();
        (sum.changes == self.sum().changes).then_some(sum)
    }

    /// How many changes there have been: where two numbers are equal, nothing came, went or was claimed between
    /// them.
    pub fn changes(&self) -> u64 {
        self.sum().changes
    }

    fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for block in self.blocks {
            let word = block.load(Acquire);
            sum.existing += field(word / EXISTING);
            sum.present += field(word / PRESENT);
            sum.changes = sum.changes.wrapping_add(word / CHANGED);
        }
        sum
    }

    /// How many entries of a block are wanted.
    fn count(&self, block: usize, wanted: Wanted) -> u64 {
        let present = field(self.blocks[block].load(Relaxed) / PRESENT);
        match wanted {
            Wanted::Present => present,
            Wanted::Absent => {
                (BLOCK.min(self.length - block * BLOCK) as u64).saturating_sub(present)
            }
        }
    }

    /// The block of the entry that has `nth` wanted ones before it, and how many of these are in
    /// the block; None if there are not as many.
    pub fn nth(&self, mut nth: u64, wanted: Wanted) -> Option<(Range<usize>, usize)> {
        let block = (0..self.blocks.len()).find(|&block| {
            let count = self.count(block, wanted);
            let here = nth < count;
            nth -= if here { 0 } else { count };
            here
        })?;
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
            let block = entry / BLOCK;
            let end = ((block + 1) * BLOCK).min(range.end);
            if self.count(block, wanted) > 0 {
                if let Some(found) = (entry..end).find(|&entry| accept(entry)) {
                    return Some(found);
                }
            }
            entry = end;
        }
        None
    }
}

#[derive(Default)]
pub struct Sum {
    pub existing: u64,
    pub present: u64,
    changes: u64,
}

/// A field in the lowest bits, without what it started from.
fn field(word: u64) -> u64 {
    (word & FIELD).saturating_sub(ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn counts_are_those_of_a_plain_list() {
        let length = 256 * BLOCK + 5;
        let is_present = |entry: &usize| entry % 7 == 3 || (16_000..16_999).contains(entry);
        let census = Census::new(length).unwrap();
        (0..length)
            .filter(is_present)
            .for_each(|entry| census.tell(entry, Change::ClaimAbsent));
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
        for only in [0, BLOCK - 1, BLOCK, 333_333, length - 1] {
            let census = Census::new(length).unwrap();
            for wanted in [Wanted::Present, Wanted::Absent] {
                if wanted == Wanted::Absent {
                    (0..length).for_each(|entry| census.tell(entry, Change::ClaimAbsent));
                    census.tell(only, Change::Deleted);
                } else {
                    census.tell(only, Change::ClaimAbsent);
                }
                let looks = Cell::new(0);
                let found = census.find(0..length, wanted, |entry| {
                    looks.set(looks.get() + 1);
                    entry == only
                });
                assert_eq!(found, Some(only));
                assert!(looks.get() <= BLOCK, "{} looks", looks.get());
                if wanted == Wanted::Present {
                    census.tell(only, Change::Deleted);
                }
            }
        }
    }

    #[test]
    fn a_set_is_full_or_empty_only_when_nothing_is_claimed() {
        let census = Census::new(2).unwrap();
        let told = |changes: &[Change]| {
            changes.iter().for_each(|&change| census.tell(1, change));
            (census.is_empty(), census.is_full(), census.existing())
        };
        assert_eq!(told(&[]), (true, false, 0));
        assert_eq!(told(&[Change::ClaimAbsent]), (false, false, 0));
        assert_eq!(told(&[Change::NotClaimedAbsent]), (true, false, 0));
        census.tell(0, Change::ClaimAbsent);
        census.tell(0, Change::Created);
        assert_eq!(
            told(&[Change::ClaimAbsent, Change::Created]),
            (false, true, 2)
        );
        assert_eq!(told(&[Change::ClaimExisting]), (false, false, 1));
        assert_eq!(told(&[Change::NotClaimedExisting]), (false, true, 2));
        assert_eq!(
            told(&[Change::ClaimExisting, Change::Deleted]),
            (false, false, 1)
        );
    }

    #[test]
    fn attempts_at_one_entry_that_fail_leave_the_other_counts_alone() {
        let census = Census::new(1).unwrap();
        (0..1000).for_each(|_| census.tell(0, Change::ClaimExisting));
        assert_eq!((census.existing(), census.total(Wanted::Absent)), (0, 1));
        (0..1000).for_each(|_| census.tell(0, Change::NotClaimedExisting));
        assert!(census.is_empty());
    }
}
