//! A file of which flash has a part.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ranges::Ranges;

/// Files are given up and brought back in pieces of so many bytes; the last one is what is left.
pub const PIECE_B: u64 = 1 << 20;

/// What a status file says: one line, named by the number of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// On flash.
    pub inode: u64,
    pub size_b: u64,
    /// What of it is durable on flash.
    pub here: Ranges,
}

/// A file of which flash has a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What is written down: never more than is durable.
    pub status: Status,
    /// What can be read on flash now.
    pub here: Ranges,
    /// What was given up and takes room until it is written down that it is.
    pub leaving: Ranges,
    /// How often something was given up: what was being read meanwhile may be gone.
    pub losses: u64,
}

impl Part {
    /// A file of which everything is here.
    pub fn whole(inode: u64, size_b: u64) -> Self {
        Self::of(Status {
            inode,
            size_b,
            here: Ranges::whole(size_b),
        })
    }

    /// A file of which what is written down is here.
    pub fn of(status: Status) -> Self {
        Self {
            here: status.here.clone(),
            status,
            leaving: Ranges::default(),
            losses: 0,
        }
    }

    pub fn is_whole(&self) -> bool {
        self.here.has_all(0..self.status.size_b)
    }

    pub fn absent_b(&self) -> u64 {
        self.status.size_b - self.here.count_b()
    }

    /// What of a range a program can get: the file ends somewhere.
    pub fn within(&self, range: Range<u64>) -> Range<u64> {
        let end = range.end.min(self.status.size_b);
        range.start.min(end)..end
    }

    /// The same, as far as whole pieces are.
    pub fn pieces(&self, range: Range<u64>) -> Range<u64> {
        let range = self.within(range);
        let start = range.start / PIECE_B * PIECE_B;
        self.within(start..range.end.div_ceil(PIECE_B) * PIECE_B)
    }

    /// A range is given up; it is not read any more.
    pub fn give_up(&mut self, range: Range<u64>) {
        self.losses += 1;
        self.here.remove(range.clone());
        self.status.here.remove(range.clone());
        self.leaving.insert(range);
    }

    /// A range was brought back.
    pub fn claim(&mut self, range: Range<u64>) {
        self.leaving.remove(range.clone());
        self.here.insert(range);
    }
}
