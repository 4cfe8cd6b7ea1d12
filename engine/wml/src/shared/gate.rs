//! What `semblock` and `block` wait at: a counting semaphore between processes.

use std::sync::atomic::{AtomicU32, Ordering::*};

use super::{Shared, futex};
use crate::model::MAX_EVENTS;

/// Set on release: every later `take` succeeds at once, and no wake-up can be lost.
const RELEASED: u32 = MAX_EVENTS + 1;

#[derive(Default)]
pub struct Gate {
    count: AtomicU32,
    waiters: AtomicU32,
    /// The complement of the least that anyone has ever waited for; posts below it wake nobody.
    unwanted: AtomicU32,
}

// SAFETY: made of atomics.
unsafe impl Shared for Gate {}

impl Gate {
    /// Add `n` and wake the waiters if that may be enough for one.
    pub fn post(&self, n: u32) {
        let add = |count: u32| (count < RELEASED).then(|| count.saturating_add(n).min(MAX_EVENTS));
        let Ok(before) = self.count.fetch_update(AcqRel, Acquire, add) else {
            return;
        };
        let count = before.saturating_add(n);
        if self.waiters.load(Acquire) > 0 && count >= !self.unwanted.load(Acquire) {
            futex::wake_all(&self.count);
        }
    }

    /// Take `n`, waiting until there are as many.
    pub fn take(&self, n: u32) {
        loop {
            let count = self.count.load(Acquire);
            if count >= RELEASED {
                return;
            }
            if count >= n {
                if self
                    .count
                    .compare_exchange_weak(count, count - n, AcqRel, Relaxed)
                    .is_ok()
                {
                    return;
                }
                continue;
            }
            self.unwanted.fetch_max(!n, AcqRel);
            self.waiters.fetch_add(1, AcqRel);
            // A post between the load and this wait changes the word, so that it returns at once.
            futex::wait(&self.count, count, None);
            self.waiters.fetch_sub(1, AcqRel);
        }
    }

    /// Wait for the next `pulse`; those before are forgotten.
    pub fn wait_pulse(&self) {
        let seen = self.count.load(Acquire);
        while self.count.load(Acquire) == seen && seen < RELEASED {
            futex::wait(&self.count, seen, None);
        }
    }

    /// Wake everyone who waits for a pulse now.
    pub fn pulse(&self) {
        let next = |count: u32| (count < RELEASED).then_some((count + 1) & MAX_EVENTS);
        let _ = self.count.fetch_update(AcqRel, Acquire, next);
        futex::wake_all(&self.count);
    }

    /// Let everyone through from now on.
    pub fn release(&self) {
        self.count.fetch_or(RELEASED, AcqRel);
        futex::wake_all(&self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn what_is_posted_is_taken_once_by_whoever_waits() {
        let gate = Gate::default();
        let taken = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        gate.take(3);
                        taken.fetch_add(3, Relaxed);
                    }
                });
            }
            for _ in 0..6000 {
                gate.post(1);
            }
        });
        assert_eq!(taken.load(Relaxed), 6000);
        assert_eq!(gate.count.load(Relaxed), 0);
    }

    #[test]
    fn no_number_of_events_is_taken_for_the_release() {
        let gate = Gate::default();
        gate.post(MAX_EVENTS);
        gate.post(MAX_EVENTS);
        gate.post(1);
        assert_eq!(gate.count.load(Relaxed), MAX_EVENTS);
        gate.take(MAX_EVENTS);
        assert_eq!(gate.count.load(Relaxed), 0);
        let block = Gate {
            count: AtomicU32::new(MAX_EVENTS),
            ..Gate::default()
        };
        block.pulse();
        assert_eq!(block.count.load(Relaxed), 0);
    }

    #[test]
    fn release_frees_waiters_and_all_who_come_later() {
        let gate = Gate::default();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| gate.take(1000));
                scope.spawn(|| gate.wait_pulse());
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            gate.release();
        });
        gate.take(1);
        gate.wait_pulse();
    }
}
