//! What one thread writes while it works.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::counter::add;
use super::latency::Times;
use super::pending::Pending;
use crate::clock::now_ns;
use crate::histogram::{BUCKETS, bucket_of};
use crate::model::Class;
use crate::shared::{Control, Shared};

/// Different errnos that are told apart per flowop and thread; the rest counts as errno 0.
const ERRNOS: usize = 8;

/// Intervals whose memory is touched before the start; a longer series costs a page fault between
/// two operations now and then.
const TOUCHED: usize = 3600;

pub(super) struct ErrorCount {
    pub errno: AtomicU64,
    pub count: AtomicU64,
}

/// What every op of one flowop in one thread counts, in half a cache line.
#[repr(align(32))]
pub struct Counts {
    pub(super) work_ops: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) times: Times,
}

// SAFETY: made of atomics.
unsafe impl Shared for Counts {}

/// What few ops of one flowop in one thread count, on cache lines of its own.
#[repr(align(64))]
pub struct Rare {
    pub(super) skipped: AtomicU64,
    pub(super) errors: [ErrorCount; ERRNOS],
}

// SAFETY: made of atomics.
unsafe impl Shared for Rare {}

impl Rare {
    fn error(&self, errno: i32) {
        let errno = errno as u64;
        let last = &self.errors[ERRNOS - 1];
        for slot in &self.errors[..ERRNOS - 1] {
            if slot.count.load(Relaxed) == 0 {
                slot.errno.store(errno, Relaxed);
            }
            if slot.errno.load(Relaxed) == errno {
                return add(&slot.count, 1);
            }
        }
        add(&last.count, 1);
    }
}

/// Passes of one thread with an open loop.
#[repr(align(64))]
pub struct RequestRecord {
    pub(super) work_ops: AtomicU64,
    /// Those that were due before the thread had ended the one before.
    pub(super) late: AtomicU64,
    pub(super) times: Times,
    pub(super) buckets: [AtomicU64; BUCKETS],
}

// SAFETY: made of atomics.
unsafe impl Shared for RequestRecord {}

/// Work within one interval of the series, in one thread.
pub struct Interval {
    pub work_ops: AtomicU64,
    pub read_b: AtomicU64,
    pub write_b: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Interval {}

/// What every op of one thread writes, on cache lines of its own.
#[repr(align(64))]
pub struct Latest {
    /// When the last op that is work ended; 0 as long as there was none.
    pub(super) last_ns: AtomicU64,
    pub(super) pending: Pending,
}

// SAFETY: made of atomics.
unsafe impl Shared for Latest {}

/// The part of [`super::Records`] that one thread writes.
pub struct ThreadRecord<'a> {
    pub(super) counts: &'a [Counts],
    pub(super) rare: &'a [Rare],
    /// Of its flowops, one after the other.
    pub(super) histograms: &'a [AtomicU64],
    pub(super) latest: &'a Latest,
    pub(super) intervals: &'a [Interval],
    pub(super) interval_ns: u64,
    /// Of a thread with an open loop.
    pub(super) requests: Option<&'a RequestRecord>,
    /// The interval of the last op, which most often is that of the next.
    pub(super) now: Cell<(usize, u64)>,
    /// When the last request ended.
    pub(super) idle_ns: Cell<u64>,
}

impl ThreadRecord<'_> {
    /// Touch every page, so that no page fault falls into a measured operation.
    pub fn touch(&self) {
        for (counts, rare) in self.counts.iter().zip(self.rare) {
            counts.work_ops.store(0, Relaxed);
            rare.skipped.store(0, Relaxed);
        }
        touch(self.histograms);
        if let Some(requests) = self.requests {
            requests.work_ops.store(0, Relaxed);
            touch(&requests.buckets);
        }
        self.latest.last_ns.store(0, Relaxed);
        for interval in self.intervals.iter().take(TOUCHED) {
            interval.work_ops.store(0, Relaxed);
        }
    }

    fn measured(control: &Control) -> Range<u64> {
        control.measure_ns()..control.end_ns()
    }

    /// Whether an op that ended then counts: those that end between two turns do not.
    fn counts(control: &Control, end_ns: u64) -> bool {
        Self::measured(control).contains(&end_ns) && !(control.paused() && end_ns >= now_ns())
    }

    /// An op that succeeded; it counts where it ended.
    pub fn done(
        &self,
        control: &Control,
        flowop: usize,
        class: Class,
        start_ns: u64,
        end_ns: u64,
        bytes: u64,
    ) {
        if !Self::counts(control, end_ns) {
            return;
        }
        let counts = &self.counts[flowop];
        add(&counts.work_ops, 1);
        add(&counts.bytes, bytes);
        let latency_ns = end_ns - start_ns;
        counts.times.record(latency_ns);
        let pending = &self.latest.pending;
        pending.push(flowop, bucket_of(latency_ns), self.histograms);
        if class == Class::Other {
            return;
        }
        // Asynchronous ops are recorded after their end, in any order.
        if end_ns > self.latest.last_ns.load(Relaxed) {
            self.latest.last_ns.store(end_ns, Relaxed);
        }
        let Some(interval) = self
            .intervals
            .get(self.interval_of(end_ns - control.measure_ns()))
        else {
            return;
        };
        add(&interval.work_ops, 1);
        match class {
            Class::Reads => add(&interval.read_b, bytes),
            Class::Writes => add(&interval.write_b, bytes),
            Class::Metadata | Class::Other => {}
        }
    }

    /// The number of the interval of a time since the begin of the first.
    fn interval_of(&self, since_ns: u64) -> usize {
        let (nth, begin_ns) = self.now.get();
        if since_ns.wrapping_sub(begin_ns) < self.interval_ns {
            return nth;
        }
        let nth = since_ns / self.interval_ns;
        self.now.set((nth as usize, nth * self.interval_ns));
        nth as usize
    }

    pub fn failed(&self, control: &Control, flowop: usize, end_ns: u64, errno: i32) {
        if Self::counts(control, end_ns) {
            self.rare[flowop].error(errno);
        }
    }

    pub fn skipped(&self, control: &Control, flowop: usize, end_ns: u64) {
        if Self::counts(control, end_ns) {
            add(&self.rare[flowop].skipped, 1);
        }
    }

    /// A pass of an open loop that was due at `intended_ns`; it counts where it ended.
    pub fn request(&self, control: &Control, intended_ns: u64, end_ns: u64) {
        let late = intended_ns < self.idle_ns.replace(end_ns);
        let Some(record) = self.requests else { return };
        if !Self::counts(control, end_ns) {
            return;
        }
        add(&record.work_ops, 1);
        add(&record.late, u64::from(late));
        let latency_ns = end_ns - intended_ns;
        record.times.record(latency_ns);
        add(&record.buckets[bucket_of(latency_ns)], 1);
    }
}

fn touch(buckets: &[AtomicU64]) {
    let pages = buckets.chunks(4096 / size_of::<AtomicU64>());
    for bucket in pages.flat_map(|page| page.first().into_iter().chain(page.last())) {
        bucket.store(0, Relaxed);
    }
}
