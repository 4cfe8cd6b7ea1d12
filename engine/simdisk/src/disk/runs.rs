//! A set of sectors, kept as runs of neighbours, each with the mark of when it came in.

use std::collections::{BTreeMap, BTreeSet};

use crate::device::Extent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    end: u64,
    mark: u64,
}

/// Disjoint runs.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// By the first sector.
    runs: BTreeMap<u64, Run>,
    /// The marks and first sectors of all.
    marks: BTreeSet<(u64, u64)>,
    sectors: u64,
}

impl Runs {
    /// How many sectors are in the set.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    pub fn is_empty(&self) -> bool {
        self.sectors == 0
    }

    pub fn clear(&mut self) {
        self.runs.clear();
        self.marks.clear();
        self.sectors = 0;
    }

    /// Add an extent. Sectors that are in the set already keep their mark.
    pub fn insert(&mut self, extent: Extent, mark: u64) {
        let mut sector = extent.sector;
        while sector < extent.end() {
            if let Some(end) = self.end_at(sector) {
                sector = end;
                continue;
            }
            let next = self.runs.range(sector..).next();
            let end = next.map_or(extent.end(), |(&start, _)| start.min(extent.end()));
            self.sectors += end - sector;
            self.add(sector, Run { end, mark });
            sector = end;
        }
    }

    /// Take away what an extent holds of the set.
    pub fn remove(&mut self, extent: Extent) {
        self.split(extent.sector);
        self.split(extent.end());
        while let Some((&start, &run)) = self.runs.range(extent.sector..extent.end()).next() {
            self.sectors -= run.end - start;
            self.runs.remove(&start);
            self.marks.remove(&(run.mark, start));
        }
    }

    fn add(&mut self, start: u64, run: Run) {
        self.runs.insert(start, run);
        self.marks.insert((run.mark, start));
    }

    /// See that no run goes over a boundary.
    fn split(&mut self, at: u64) {
        let before = self.runs.range_mut(..at).next_back();
        if let Some((_, run)) = before.filter(|(_, run)| run.end > at) {
            let behind = *run;
            run.end = at;
            self.add(at, behind);
        }
    }

    /// Where the run ends that holds a sector, if one does.
    pub fn end_at(&self, sector: u64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let (_, run) = self.runs.range(..=sector).next_back()?;
        (run.end > sector).then_some(run.end)
    }

    /// The first sector of an extent that is in the set.
    pub fn first_in(&self, extent: Extent) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        if extent.sectors > 0 && self.end_at(extent.sector).is_some() {
            return Some(extent.sector);
        }
        let (&start, _) = self.runs.range(extent.sector..extent.end()).next()?;
        Some(start)
    }

    /// The first sector of the run with the lowest mark, and the mark.
    pub fn oldest(&self) -> Option<(u64, u64)> {
        self.marks.first().map(|&(mark, start)| (start, mark))
    }

    /// All that follows a sector of the set without a gap, and it, but not beyond `most`.
    pub fn joined(&self, sector: u64, most: u64) -> Extent {
        let mut end = sector;
        while let Some(further) = self.end_at(end).filter(|_| end < most) {
            end = further.min(most);
        }
        Extent {
            sector,
            sectors: end - sector,
        }
    }

    /// The first sectors of the runs with their marks, in the order of addresses from a sector on
    /// and then from the start.
    pub fn around(&self, sector: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let behind = self.runs.range(sector..);
        let before = self.runs.range(..sector);
        behind.chain(before).map(|(&start, run)| (start, run.mark))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A sector that is lost here would be a write that a flush forgets.
        #[test]
        fn runs_are_the_set_that_single_sectors_would_be(
            steps in prop::collection::vec((any::<bool>(), 0..40_u64, 0..12_u64), 1..60),
        ) {
            let mut runs = Runs::default();
            let mut single: BTreeMap<u64, u64> = BTreeMap::new();
            for (mark, (add, sector, sectors)) in (0..).zip(steps) {
                let extent = Extent { sector, sectors };
                for sector in extent.sector..extent.end() {
                    if add {
                        single.entry(sector).or_insert(mark);
                    } else {
                        single.remove(&sector);
                    }
                }
                if add {
                    runs.insert(extent, mark);
                } else {
                    runs.remove(extent);
                }
                prop_assert_eq!(runs.sectors(), single.len() as u64);
                let first = single.range(sector..extent.end()).next().map(|(&first, _)| first);
                prop_assert_eq!(runs.first_in(extent), first);
                let oldest = runs.oldest().map(|(_, mark)| mark);
                prop_assert_eq!(oldest, single.values().min().copied());
                for (start, mark) in runs.around(sector) {
                    for sector in start..runs.end_at(start).unwrap() {
                        prop_assert_eq!(single.get(&sector), Some(&mark));
                    }
                    let joined = runs.joined(start, start + 10);
                    let gap = (start..start + 10).find(|sector| !single.contains_key(sector));
                    prop_assert_eq!(joined.end(), gap.unwrap_or(start + 10));
                }
            }
        }
    }
}
