//! What of a file is in a server's memory, or on its way there.

use std::ops::Range;

use crate::device::{Extent, SECTOR_B};

/// The unit in which memory holds files.
pub(super) const PAGE_B: u64 = 4096;
const PAGE_SECTORS: u64 = PAGE_B / SECTOR_B;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Absent,
    /// Asked of the device by the command of this tag.
    Asked(u64),
    Here,
}

/// A file that lies in one piece, and what of it is in memory. What is there stays.
#[derive(Debug)]
pub(super) struct File {
    sector: u64,
    pages: Vec<Page>,
}

impl File {
    /// None of it is in memory.
    pub fn new(extent: Extent) -> Self {
        Self {
            sector: extent.sector,
            pages: vec![Page::Absent; (extent.sectors / PAGE_SECTORS) as usize],
        }
    }

    /// Sectors that a file of so many bytes takes.
    pub fn sectors(size_b: u64) -> u64 {
        size_b.div_ceil(PAGE_B) * PAGE_SECTORS
    }

    /// The pages of a part of the file, cut off at its end.
    pub fn pages(&self, begin_b: u64, end_b: u64) -> Range<usize> {
        let end = (end_b.div_ceil(PAGE_B) as usize).min(self.pages.len());
        ((begin_b / PAGE_B) as usize).min(end)..end
    }

    /// Pages from a place on that are neither in memory nor on their way there.
    pub fn absent(&self, within: Range<usize>) -> Range<usize> {
        let is_absent = |&nth: &usize| self.pages[nth] == Page::Absent;
        let begin = within.clone().find(is_absent).unwrap_or(within.end);
        let end = (begin..within.end).find(|nth| !is_absent(nth));
        begin..end.unwrap_or(within.end)
    }

    /// Ask for pages by the command of a tag; where they lie.
    pub fn ask(&mut self, pages: Range<usize>, tag: u64) -> Extent {
        let extent = Extent {
            sector: self.sector + pages.start as u64 * PAGE_SECTORS,
            sectors: pages.len() as u64 * PAGE_SECTORS,
        };
        self.pages[pages].fill(Page::Asked(tag));
        extent
    }

    pub fn arrived(&mut self, pages: Range<usize>) {
        self.pages[pages].fill(Page::Here);
    }

    /// The commands that pages are still waited for, each once.
    pub fn waits_for(&self, pages: Range<usize>) -> Vec<u64> {
        let mut tags: Vec<_> = self.pages[pages]
            .iter()
            .filter_map(|page| match page {
                Page::Asked(tag) => Some(*tag),
                Page::Absent | Page::Here => None,
            })
            .collect();
        tags.dedup();
        tags
    }
}
