//! The events of `eventgen`, shared by all limiters of all processes.
//!
//! Virtual scheduling (the generic cell rate algorithm, ITU-T I.371): each taker reserves the next
//! free slot of time with one compare-and-swap and sleeps until it comes. Slots are handed out in
//! the order of asking, so that no thread starves, and late wake-ups do not add up.

use std::sync::atomic::{AtomicU64, Ordering::*};

use super::Shared;
use crate::clock::SECOND_NS;

/// How much unused budget is kept, as time.
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
        let slot = |next: u64| next.max(now_ns.saturating_sub(BURST_NS));
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
    use crate::clock::now_ns;

    #[test]
    fn the_rate_is_kept_and_shared_fairly() {
        let budget = Budget::default();
        let (rate, threads, start) = (4000.0, 8, now_ns());
        let end = start + SECOND_NS;
        budget.take(BURST_NS as f64 / SECOND_NS as f64 * rate, rate, start);
        let counts: Vec<u64> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut count = 0;
                        loop {
                            let slot = budget.take(1.0, rate, now_ns());
                            if slot >= end {
                                return count;
                            }
                            let wait = slot.saturating_sub(now_ns());
                            std::thread::sleep(std::time::Duration::from_nanos(wait));
                            count += 1;
                        }
                    })
                })
                .collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap())
                .collect()
        });
        let total: u64 = counts.iter().sum();
        assert!((3960..=4040).contains(&total), "{total}");
        let fair = total / threads;
        assert!(
            counts
                .iter()
                .all(|&c| c > fair * 8 / 10 && c < fair * 12 / 10),
            "{counts:?}"
        );
    }

    #[test]
    fn slots_follow_one_another_whoever_asks() {
        let budget = Budget::default();
        let now = 10 * SECOND_NS;
        let first = budget.take(31.0, 1000.0, now);
        assert_eq!(first, now - BURST_NS);
        assert_eq!(budget.take(1.0, 1000.0, now), first + 31_000_000);
        assert_eq!(budget.take(1.0, 1000.0, now), first + 32_000_000);
    }
}
