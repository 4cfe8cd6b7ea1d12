//! What an answer costs, learnt from those before: by how much one may be begun before its time.

use crate::time::Ns;

/// Answers of a size class that are remembered.
const REMEMBERED: usize = 256;

/// With fewer, nothing is begun early.
const ENOUGH: usize = 16;

/// One for each power of two of bytes.
const CLASSES: usize = 32;

/// What it takes at most to find out what is due and to bring its data near. Nanoseconds, and bytes
/// a nanosecond.
const PREPARE_NS: Ns = 10_000;
const PREPARE_B_NS: usize = 4;

/// The cost of the latest answers, by size.
#[derive(Debug)]
pub struct Costs {
    latest: [[Ns; REMEMBERED]; CLASSES],
    counts: [usize; CLASSES],
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            latest: [[0; REMEMBERED]; CLASSES],
            counts: [0; CLASSES],
        }
    }
}

impl Costs {
    pub fn learn(&mut self, size_b: usize, cost: Ns) {
        let class = class(size_b);
        self.latest[class][self.counts[class] % REMEMBERED] = cost;
        self.counts[class] += 1;
    }

    /// How long before its time to begin an answer: a little less than the fastest of the latest
    /// took, so that it does not end before its time. 0 until enough is known.
    pub fn lead(&self, size_b: usize) -> Ns {
        let class = class(size_b);
        let known = self.counts[class].min(REMEMBERED);
        let least = self.latest[class][..known].iter().min();
        least
            .filter(|_| known >= ENOUGH)
            .map_or(0, |least| least - least / 8)
    }

    /// How long before its time to look at an answer of at most this size.
    pub fn notice(&self, size_b: usize) -> Ns {
        self.lead(size_b) + PREPARE_NS + (size_b / PREPARE_B_NS) as Ns
    }
}

fn class(size_b: usize) -> usize {
    (usize::BITS - size_b.leading_zeros()).min(CLASSES as u32 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer that is begun too early would be one of a disk that is too fast.
    #[test]
    fn no_answer_is_begun_earlier_than_the_fastest_took() {
        let mut costs = Costs::default();
        assert_eq!(costs.lead(4096), 0);
        for cost in 0..ENOUGH as u64 {
            costs.learn(4096, 1000 + cost);
        }
        assert_eq!(costs.lead(4096), 875);
        assert_eq!(costs.lead(131_072), 0);
        costs.learn(4096, 100);
        assert!(costs.lead(4096) < 100);
    }
}
