//! Blocks by their number of valid pages: which one costs least to collect.

const NONE: u32 = u32::MAX;

/// Lists of blocks, one for each number of valid pages; every operation takes constant time, but
/// for the search of the lowest list that is not empty.
#[derive(Clone, Debug)]
pub struct Victims {
    /// The first block of each list.
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// No list below is occupied.
    lowest: usize,
}

impl Victims {
    pub fn new(blocks: u32, pages_per_block: u32) -> Self {
        Self {
            first: vec![NONE; pages_per_block as usize + 1],
            next: vec![NONE; blocks as usize],
            previous: vec![NONE; blocks as usize],
            lowest: 0,
        }
    }

    pub fn insert(&mut self, block: u32, valid: u32) {
        let list = valid as usize;
        let after = std::mem::replace(&mut self.first[list], block);
        self.next[block as usize] = after;
        self.previous[block as usize] = NONE;
        if after != NONE {
            self.previous[after as usize] = block;
        }
        self.lowest = self.lowest.min(list);
    }

    /// Take out a block that was inserted with this number.
    pub fn remove(&mut self, block: u32, valid: u32) {
        let (previous, next) = (self.previous[block as usize], self.next[block as usize]);
        if previous == NONE {
            self.first[valid as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    /// The block with the fewest valid pages, of several the one that came last.
    pub fn best(&mut self) -> Option<u32> {
        while *self.first.get(self.lowest)? == NONE {
            self.lowest += 1;
        }
        Some(self.first[self.lowest])
    }
}
