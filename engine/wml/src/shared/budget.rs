//! The events of `eventgen`, shared by all limiters of all processes.
//!
//! Virtual scheduling (the generic cell rate algorithm, ITU-T I.371): each taker reserves the next
//! free slot of time with one compare-and-swap and sleeps until it comes. Slots are handed out in
//! the order of asking, so that no thread starves, and late wake-ups do not add up.

use std::sync::atomic::{AtomicU64, Ordering::*};

use super::Shared;
use crate::clock::SECOND_NS;

/// How much unused budget is kept, as time: enough for late wake-ups, too little for a stall
/// before a measured interval to raise the rate within it.
const BURST_NS: u64 = SECOND_NS / 10;

#[derive(Default)]
pub struct Budget {
    next_ns: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Budget {}

impl Budget {
    /// Take `events` at `rate` events a second; returns the time to wait for.
    pub fn take(&self, events: f64, rate: f64, now_ns: u64) -> u64 {
        let cost = (events * SECOND_NS as f64 / rate).round() as u64;
        let slot = |next: u64| match next {
            // Nothing has been saved up before the first taker.
            0 => now_ns,
            _ => next.max(now_ns.saturating_sub(BURST_NS)),
        };
        let previous = self
            .next_ns
            .fetch_update(AcqRel, Acquire, |next| Some(slot(next) + cost))
            .unwrap_or_else(|unchanged| unchanged);
        slot(previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takers on a simulated clock, each busy for its own time between takes; how often each one
    /// took within `seconds`.
    fn simulate(rate: f64, busy_ns: &[u64], events: f64, seconds: u64) -> Vec<u64> {
        let budget = Budget::default();
        let start = 5 * SECOND_NS;
        let mut clocks = vec![start; busy_ns.len()];
        let mut counts = vec![0; busy_ns.len()];
        loop {
            let taker = (0..clocks.len())
                .min_by_key(|&taker| clocks[taker])
                .unwrap();
            if clocks[taker] >= start + seconds * SECOND_NS {
                return counts;
            }
            let slot = budget.take(events, rate, clocks[taker]);
            clocks[taker] = clocks[taker].max(slot) + busy_ns[taker];
            counts[taker] += 1;
        }
    }

    #[test]
    fn the_rate_is_kept_and_shared_fairly() {
        for events in [1.0, 31.0] {
            let counts = simulate(1000.0, &[10_000, 20_000, 30_000, 40_000], events, 100);
            let rate = counts.iter().sum::<u64>() as f64 * events / 100.0;
            assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
            let fair = counts.iter().sum::<u64>() / 4;
            assert!(
                counts
                    .iter()
                    .all(|&count| count.abs_diff(fair) <= 1 + fair / 100),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn takers_that_are_slower_than_the_rate_never_wait() {
        let counts = simulate(1000.0, &[SECOND_NS / 100], 1.0, 10);
        assert_eq!(counts, [1000]);
    }

    #[test]
    fn a_stall_is_made_up_for_but_not_without_end() {
        let budget = Budget::default();
        let start = 5 * SECOND_NS;
        assert_eq!(budget.take(31.0, 1000.0, start), start);
        assert_eq!(budget.take(1.0, 1000.0, start), start + 31_000_000);
        let late = start + 10 * SECOND_NS;
        assert_eq!(budget.take(1.0, 1000.0, late), late - BURST_NS);
    }
}
