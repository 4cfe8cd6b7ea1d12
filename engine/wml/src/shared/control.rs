//! When the run starts, when its measured interval begins and ends, and whether it has to stop.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use super::{Shared, futex};
use crate::clock::{self, now_ns};

#[derive(Default)]
pub struct Control {
    ready: AtomicU32,
    go: AtomicU32,
    stop: AtomicU32,
    /// Between two turns.
    paused: AtomicU32,
    start_ns: AtomicU64,
    measure_ns: AtomicU64,
    end_ns: AtomicU64,
    last_ns: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Control {}

impl Control {
    /// Say that this thread has touched its memory, and wait for the common start.
    /// False means that there will be none.
    pub fn wait_for_start(&self) -> bool {
        self.ready.fetch_add(1, AcqRel);
        self.await_start()
    }

    fn await_start(&self) -> bool {
        while self.go.load(Acquire) == 0 && !self.stopped() {
            futex::wait(&self.go, 0, None);
        }
        !self.stopped()
    }

    /// Wait until the measured interval begins; false means that it will not.
    pub fn wait_for_measure(&self) -> bool {
        let started = self.await_start();
        self.sleep_until(self.measure_ns());
        started && !self.stopped()
    }

    pub fn ready(&self) -> u32 {
        self.ready.load(Acquire)
    }

    /// Release all threads now; measure from then + warm-up. A duration of `u64::MAX` has no end.
    pub fn start(&self, warmup_ns: u64, duration_ns: u64) {
        let start = now_ns();
        self.start_ns.store(start, Relaxed);
        let measure = start.saturating_add(warmup_ns);
        self.measure_ns.store(measure, Relaxed);
        self.end_ns
            .store(measure.saturating_add(duration_ns), Relaxed);
        self.go.store(1, Release);
        futex::wake_all(&self.go);
    }

    pub fn start_ns(&self) -> u64 {
        self.start_ns.load(Relaxed)
    }

    /// Begin of the measured interval.
    pub fn measure_ns(&self) -> u64 {
        self.measure_ns.load(Relaxed)
    }

    /// End of the measured interval, itself outside.
    pub fn end_ns(&self) -> u64 {
        self.end_ns.load(Relaxed)
    }

    /// End the measured interval earlier than planned.
    pub fn cut_to(&self, end_ns: u64) {
        self.end_ns.fetch_min(end_ns, Relaxed);
    }

    /// Tell every thread to stop, wherever it waits on this.
    pub fn stop(&self) {
        self.stop.store(1, Release);
        futex::wake_all(&self.stop);
        // Whoever is about to wait for the start finds the word changed.
        self.go.store(1, Release);
        futex::wake_all(&self.go);
        futex::wake_all(&self.paused);
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Acquire) != 0
    }

    /// Let no thread begin another op, and the clock stand still, until [`Self::resume`].
    pub fn pause(&self) {
        self.paused.store(1, Release);
        clock::halt();
    }

    pub fn resume(&self) {
        clock::go_on();
        self.paused.store(0, Release);
        futex::wake_all(&self.paused);
    }

    pub fn paused(&self) -> bool {
        self.paused.load(Acquire) != 0
    }

    /// Wait for the next turn, or for the stop.
    pub fn await_turn(&self) {
        while self.paused() && !self.stopped() {
            futex::wait(&self.paused, 1, None);
        }
    }

    /// Sleep until a time of the run's clock, or until the stop.
    pub fn sleep_until(&self, deadline_ns: u64) {
        while !self.stopped() && now_ns() < deadline_ns {
            if self.paused() {
                self.await_turn();
            } else {
                futex::wait(&self.stop, 0, Some(deadline_ns));
            }
        }
    }

    /// Note that a thread has ended its work.
    pub fn note_end(&self, now_ns: u64) {
        self.last_ns.fetch_max(now_ns, Relaxed);
    }

    /// When the last thread ended its work.
    pub fn last_ns(&self) -> u64 {
        self.last_ns.load(Relaxed)
    }
}
