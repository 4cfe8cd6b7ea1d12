//! A drive as it is after long use, made without taking time.

use crate::ssd::device::Ssd;
use crate::ssd::pages::Pages;

/// Rounds of random overwrites in which write amplification must settle.
const MOST_ROUNDS: u32 = 32;
/// It has settled when two rounds differ by less than this share.
const SETTLED: f64 = 0.01;

impl Ssd {
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
        assert!(
            self.is_at_rest(),
            "a drive is aged while nothing is under way"
        );
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

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
struct SplitMix(u64);

impl SplitMix {
    /// A number below a bound.
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (((z >> 32) * u64::from(bound)) >> 32) as u32
    }
}
