//! The events of `eventgen`, shared by all limiters of all processes.
//!
//! Virtual scheduling (the generic cell rate algorithm, ITU-T I.371): each taker reserves the next
//! free stretch of time with one compare-and-swap and sleeps until it comes. Stretches are handed
//! out in the order of asking, so that no thread starves, and late wake-ups do not add up.

use std::sync::atomic::{AtomicU64, Ordering::*};

use super::Shared;
use crate::clock::SECOND_NS;

/// How much unused budget is kept, as time: enough for late wake-ups, too little for a stall
/// before a measured interval to raise the rate within five seconds by 1 %.
const BURST_NS: u64 = SECOND_NS / 25;

/// The least that is taken at once, as time: at high rates a thread sleeps once for many events,
/// and all threads in turn take the same.
const LEASE_S: f64 = 200e-6;

#[derive(Default)]
pub struct Budget {
    next_ns: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Budget {}

impl Budget {
    /// Reserve `events` at `rate` events a second; returns when their time begins.
    fn take(&self, events: f64, rate: f64, now_ns: u64) -> u64 {
        let cost = duration_ns(events, rate);
        let begin = |next: u64| match next {
            // Nothing has been saved up before the first taker.
            0 => now_ns,
            _ => next.max(now_ns.saturating_sub(BURST_NS)),
        };
        let previous = self
            .next_ns
            .fetch_update(AcqRel, Acquire, |next| Some(begin(next) + cost))
            .unwrap_or_else(|unchanged| unchanged);
        begin(previous)
    }
}

fn duration_ns(events: f64, rate: f64) -> u64 {
    (events * SECOND_NS as f64 / rate).round() as u64
}

/// What one thread has taken from the budget and not used yet; a debt if it is negative.
#[derive(Default)]
pub struct Lease {
    events: f64,
}

impl Lease {
    /// Whether so many are left.
    pub fn has(&self, events: f64) -> bool {
        self.events >= events
    }

    /// Use events, whether or not as many are left.
    pub fn spend(&mut self, events: f64) {
        self.events -= events;
    }

    /// Take what is missing until there are `events` left. Returns when the debt is paid and the
    /// time of the others begins: they are not to be used before.
    pub fn refill(&mut self, budget: &Budget, events: f64, rate: f64, now_ns: u64) -> u64 {
        let debt = (-self.events).max(0.0);
        let taken = (events - self.events).max(rate * LEASE_S);
        self.events += taken;
        budget.take(taken, rate, now_ns) + duration_ns(debt, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURE_S: u64 = 5;
    /// How long after its time a thread wakes up.
    const WAKE_NS: u64 = 60_000;

    /// When threads ask for the events of their work.
    #[derive(Clone, Copy, PartialEq)]
    enum Asking {
        /// Before each.
        Before,
        /// After each, for the next that is like it; before the first, for that.
        After,
    }

    /// Threads on a simulated clock, each busy for its own time with work for so many events; what
    /// each one used from the start on.
    fn simulate(rate: f64, busy_ns: &[u64], events: f64, asking: Asking) -> Vec<f64> {
        let budget = Budget::default();
        let start = 5 * SECOND_NS;
        let end = start + MEASURE_S * SECOND_NS;
        let mut clocks = vec![start; busy_ns.len()];
        let mut leases: Vec<Lease> = busy_ns.iter().map(|_| Lease::default()).collect();
        let mut used = vec![0.0; busy_ns.len()];
        loop {
            let mut threads = 0..clocks.len();
            let thread = threads
                .clone()
                .min_by_key(|&thread| clocks[thread])
                .unwrap();
            let (clock, lease) = (&mut clocks[thread], &mut leases[thread]);
            if asking == Asking::After && used[thread] > 0.0 {
                lease.spend(events);
            }
            if !lease.has(events) {
                let until = lease.refill(&budget, events, rate, *clock);
                *clock = if until > *clock {
                    until + WAKE_NS
                } else {
                    *clock
                };
            }
            if *clock < end {
                used[thread] += events;
            } else if threads.all(|thread| clocks[thread] >= end) {
                return used;
            }
            if asking == Asking::Before {
                leases[thread].spend(events);
            }
            clocks[thread] += busy_ns[thread];
        }
    }

    #[test]
    fn any_rate_is_kept_to_one_percent_and_nobody_gets_less_than_half_of_a_share() {
        let busy = [1_000, 2_000, 3_000, 9_000];
        for rate in [1.0, 3.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0] {
            for asking in [Asking::Before, Asking::After] {
                let used = simulate(rate, &busy, 1.0, asking);
                let expected = rate * MEASURE_S as f64;
                let sum: f64 = used.iter().sum();
                assert!((sum / expected - 1.0).abs() <= 0.01, "{rate}: {sum}");
                let least = used.iter().copied().fold(f64::INFINITY, f64::min);
                let half = expected / busy.len() as f64 / 2.0;
                assert!(least >= half, "{rate}: {used:?}");
            }
        }
    }

    #[test]
    fn events_of_any_size_are_charged_exactly() {
        for events in [1.0 / 256.0, 0.3, 31.0] {
            let used = simulate(1000.0, &[500, 1_500], events, Asking::After);
            let sum: f64 = used.iter().sum();
            assert!((sum / 5000.0 - 1.0).abs() < 0.01, "{events}: {sum}");
            assert!((used[0] / used[1] - 1.0).abs() < 0.05, "{used:?}");
        }
    }

    #[test]
    fn threads_that_are_slower_than_the_rate_never_wait() {
        for asking in [Asking::Before, Asking::After] {
            let used = simulate(1000.0, &[SECOND_NS / 100], 1.0, asking);
            assert_eq!(used, [100.0 * MEASURE_S as f64]);
        }
    }

    #[test]
    fn more_than_was_taken_is_a_debt_that_is_paid_first() {
        let (budget, start) = (Budget::default(), 5 * SECOND_NS);
        let mut lease = Lease::default();
        assert_eq!(lease.refill(&budget, 1.0, 1000.0, start), start);
        lease.spend(11.0);
        // The first event, ten of the debt; the next one may be used then.
        let paid = start + 11_000_000;
        assert_eq!(lease.refill(&budget, 1.0, 1000.0, start), paid);
        assert!(lease.has(1.0) && !lease.has(1.1));
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
