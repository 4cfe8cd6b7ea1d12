//! What lies where on a die: a map of pages, and the collection of blocks.
//!
//! Pages are counted within the die. Data and collected pages fill the same open block.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::profile::SsdProfile;
use crate::ssd::victims::Victims;

/// A page number that may be missing; zeros are nothing, so that a new drive costs no memory.
type Slot = Option<NonZeroU32>;

fn slot(page: u32) -> Slot {
    NonZeroU32::new(page + 1)
}

fn page(slot: NonZeroU32) -> u32 {
    slot.get() - 1
}

/// What a die does to win space back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Move what is valid on this physical page.
    Copy {
        from: u32,
    },
    Erase {
        block: u32,
    },
}

impl Chore {
    pub fn is_copy(self) -> bool {
        matches!(self, Self::Copy { .. })
    }
}

/// A block that is being collected.
#[derive(Clone, Copy, Debug)]
struct Collection {
    block: u32,
    /// The next of its pages to look at.
    next: u32,
    /// Pages to be copied when it began, copied, and programmed with data since.
    valid: u32,
    copied: u32,
    taken: u32,
}

/// The pages of a die.
#[derive(Clone, Debug)]
pub struct Pages {
    pages_per_block: u32,
    free_blocks_low: usize,
    /// Of each page of the user's, the physical one.
    places: Vec<Slot>,
    /// Of each physical page, the user's page that is valid there.
    owners: Vec<Slot>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    /// Whether a block may be collected: it is full, and is not being collected.
    closed: Vec<bool>,
    victims: Victims,
    erased: VecDeque<u32>,
    open: u32,
    /// Pages of the open block that are used.
    filled: u32,
    collection: Option<Collection>,
}

impl Pages {
    /// A die on which everything is erased.
    pub fn new(profile: &SsdProfile) -> Self {
        let flash = &profile.flash;
        let (blocks, pages_per_block) = (flash.blocks_per_die(), flash.pages_per_block);
        let user_pages = flash.user_pages().div_ceil(u64::from(flash.dies()));
        Self {
            pages_per_block,
            free_blocks_low: profile.collect.free_blocks_low as usize,
            places: vec![None; user_pages as usize],
            owners: vec![None; blocks as usize * pages_per_block as usize],
            valid: vec![0; blocks as usize],
            closed: vec![false; blocks as usize],
            victims: Victims::new(blocks, pages_per_block),
            erased: (1..blocks).collect(),
            open: 0,
            filled: 0,
            collection: None,
        }
    }

    /// Pages of the user's on this die.
    pub fn user_pages(&self) -> u32 {
        self.places.len() as u32
    }

    pub fn is_mapped(&self, page: u32) -> bool {
        self.places[page as usize].is_some()
    }

    /// Program the next erased page with a page of the user's. [`Pages::is_ready`] must hold.
    pub fn program(&mut self, page: u32) {
        self.unmap(page);
        self.take(Some(page));
    }

    /// A page that was being programmed holds nothing of use.
    pub fn spoil(&mut self) {
        self.take(None);
    }

    /// Nothing is valid here any more.
    pub fn unmap(&mut self, user: u32) {
        let Some(place) = self.places[user as usize].take() else {
            return;
        };
        let place = page(place);
        self.owners[place as usize] = None;
        let block = place / self.pages_per_block;
        let valid = &mut self.valid[block as usize];
        *valid -= 1;
        if self.closed[block as usize] {
            self.victims.remove(block, *valid + 1);
            self.victims.insert(block, *valid);
        }
    }

    /// Whether the die may take a page now. While a block is collected it takes pages in step
    /// with the copies, as many in all as the block gives back: so collecting delays each write a
    /// little instead of some for long, and never runs out of erased pages.
    pub fn is_ready(&self) -> bool {
        match self.collection {
            None => self.erased.len() >= self.free_blocks_low,
            Some(Collection {
                valid,
                copied,
                taken,
                ..
            }) => valid > 0 && (taken + 1) * valid <= copied * (self.pages_per_block - valid),
        }
    }

    /// What is to be done next to win space back, if any is to be.
    pub fn chore(&mut self) -> Option<Chore> {
        if self.collection.is_none() && self.erased.len() < self.free_blocks_low {
            let block = self.victims.best().expect("a spare block leaves a victim");
            self.victims.remove(block, self.valid[block as usize]);
            self.closed[block as usize] = false;
            self.collection = Some(Collection {
                block,
                next: block * self.pages_per_block,
                valid: self.valid[block as usize],
                copied: 0,
                taken: 0,
            });
        }
        let collection = self.collection.as_mut()?;
        let block = collection.block;
        let mut rest = collection.next..(block + 1) * self.pages_per_block;
        Some(
            match rest.find(|&from| self.owners[from as usize].is_some()) {
                Some(from) => {
                    collection.next = from;
                    Chore::Copy { from }
                }
                None => Chore::Erase { block },
            },
        )
    }

    /// A chore has been done. What was discarded in the meantime is not moved, but uses a page.
    pub fn done(&mut self, chore: Chore) {
        match chore {
            Chore::Copy { from } => {
                let user = self.owners[from as usize].map(page);
                if let Some(user) = user {
                    self.unmap(user);
                }
                self.append(user);
                if let Some(collection) = &mut self.collection {
                    collection.copied += 1;
                }
            }
            Chore::Erase { block } => {
                self.collection = None;
                self.erased.push_back(block);
            }
        }
    }

    fn take(&mut self, user: Option<u32>) {
        self.append(user);
        if let Some(collection) = &mut self.collection {
            collection.taken += 1;
        }
    }

    fn append(&mut self, user: Option<u32>) {
        if self.filled == self.pages_per_block {
            self.closed[self.open as usize] = true;
            self.victims
                .insert(self.open, self.valid[self.open as usize]);
            self.open = self.erased.pop_front().expect("collected before");
            self.filled = 0;
        }
        let place = self.open * self.pages_per_block + self.filled;
        self.filled += 1;
        if let Some(user) = user {
            self.owners[place as usize] = slot(user);
            self.places[user as usize] = slot(place);
            self.valid[self.open as usize] += 1;
        }
    }
}
