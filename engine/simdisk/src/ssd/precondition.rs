//! A drive as it is after use, made so without taking time.

use readahead::random::SplitMix;
use serde::{Deserialize, Serialize};

use crate::device::{Action, Extent};
use crate::ssd::device::Ssd;
use crate::ssd::pages::Pages;

/// Rounds of random overwrites in which write amplification must settle.
const MOST_ROUNDS: u32 = 32;
/// It has settled when two rounds differ by less than this share.
const SETTLED: f64 = 0.01;
/// Of the random places that made a drive what it is.
pub const SEED: u64 = 1;

/// What an SSD has been through (as in sun14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing: it is as it leaves the factory.
    #[default]
    Initial,
    /// It is full, and was overwritten at random until that was as slow as it gets
    /// ([`Ssd::precondition`]).
    Steady,
}

impl Ssd {
    /// Take note of what was done to the data in no time, as when files are laid out before a
    /// measurement: the pages of a write are mapped, those of a discard are not any more. It draws
    /// and counts nothing.
    ///
    /// # Panics
    /// If something is under way: call it before the first command, or after a reset.
    pub fn prepared(&mut self, action: Action, extent: Extent) {
        self.assert_at_rest();
        match action {
            Action::Read | Action::Flush => {}
            Action::Write => {
                for page in self.pages_of(extent) {
                    let (pages, local) = self.pages_with(page);
                    overwrite(pages, local);
                }
            }
            Action::Discard => {
                for page in self.whole_pages_of(extent) {
                    let (pages, local) = self.pages_with(page);
                    pages.unmap(local);
                }
            }
        }
    }

    /// Fill the drive in order, then overwrite random pages, as many as it has in each round, until
    /// write amplification settles: the steady state of random writes, as the Solid State Storage
    /// Performance Test Specification of SNIA prepares it. Takes no time, draws and counts nothing;
    /// the contents of the drive do not change.
    ///
    /// Returns the write amplification of the last round.
    ///
    /// # Panics
    /// If something is under way: call it before the first command, or after a reset.
    pub fn precondition(&mut self, seed: u64) -> f64 {
        self.assert_at_rest();
        let mut random = SplitMix(seed);
        let pages_in_all: u64 = self
            .all_pages()
            .map(|pages| u64::from(pages.user_pages()))
            .sum();
        for pages in self.all_pages() {
            for page in 0..pages.user_pages() {
                overwrite(pages, page);
            }
        }
        let mut before = f64::INFINITY;
        for _ in 0..MOST_ROUNDS {
            let copied: u64 = self
                .all_pages()
                .map(|pages| round(pages, &mut random))
                .sum();
            let amplification = 1.0 + copied as f64 / pages_in_all as f64;
            if (amplification / before - 1.0).abs() < SETTLED {
                return amplification;
            }
            before = amplification;
        }
        before
    }
}

/// Overwrite as many random pages of a die as it has; how many pages that copied.
fn round(pages: &mut Pages, random: &mut SplitMix) -> u64 {
    let count = pages.user_pages();
    (0..count)
        .map(|_| overwrite(pages, random.below(count)))
        .sum()
}

fn overwrite(pages: &mut Pages, page: u32) -> u64 {
    let mut copied = 0;
    while let Some(chore) = pages.chore() {
        copied += u64::from(chore.is_copy());
        pages.done(chore);
    }
    pages.program(page);
    copied
}
