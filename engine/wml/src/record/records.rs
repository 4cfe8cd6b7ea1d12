//! The records of all threads of a run, in shared memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::pending::Pending;
use super::thread::{Counts, Interval, Latest, Rare, RequestRecord, ThreadRecord};
use crate::clock::SECOND_NS;
use crate::failure::Failure;
use crate::histogram::BUCKETS;
use crate::shared::Mapping;

/// Intervals that each thread has room for, if nothing says how long a run will be.
const UNPLANNED_INTERVALS: u64 = 86_400;
const MAX_INTERVALS: u64 = 1 << 20;

/// The intervals of one thread begin on a cache line of their own: 16 of 24 bytes fill 6 lines.
const ALIGNED_INTERVALS: usize = 16;

/// [`Counts`] in a cache line.
const COUNTS_PER_LINE: usize = 64 / size_of::<Counts>();

/// The records of all threads of a run.
pub struct Records {
    counts: Mapping<Counts>,
    rare: Mapping<Rare>,
    histograms: Mapping<AtomicU64>,
    latest: Mapping<Latest>,
    requests: Mapping<RequestRecord>,
    intervals: Mapping<Interval>,
    intervals_per_thread: usize,
    interval_ns: u64,
}

/// What one thread has written of one of its flowops, to be read.
pub struct FlowopRecord<'a> {
    pub(super) flowop: usize,
    pub(super) counts: &'a Counts,
    pub(super) rare: &'a Rare,
    pub(super) histogram: &'a [AtomicU64],
    pub(super) pending: &'a Pending,
}

/// How many blocks a run needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    pub flowops: usize,
    pub threads: usize,
    /// Threads with an open loop.
    pub requests: usize,
}

/// Where the blocks of one thread stand.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub thread: usize,
    pub first_flowop: usize,
    pub flowops: usize,
    pub request: Option<usize>,
}

impl Extent {
    /// Make room for the flowops of a thread, whose counts share no cache line with those of the
    /// next; returns where they begin.
    pub fn add_flowops(&mut self, count: usize) -> usize {
        let first = self.flowops;
        self.flowops += count.next_multiple_of(COUNTS_PER_LINE);
        first
    }
}

impl Records {
    /// Records for a run; without a duration the series has room for a day of seconds.
    pub fn new(
        extent: Extent,
        duration_ns: Option<u64>,
        interval_ns: u64,
    ) -> Result<Self, Failure> {
        let mut intervals = duration_ns.map_or(UNPLANNED_INTERVALS, |ns| ns.div_ceil(interval_ns));
        if intervals > MAX_INTERVALS && interval_ns >= SECOND_NS {
            // Nobody means to let it run that long.
            intervals = UNPLANNED_INTERVALS;
        }
        if intervals > MAX_INTERVALS {
            let message = format!("a series of {intervals} intervals is too long");
            return Err(Failure::new(message, "choose a longer --interval"));
        }
        let intervals_per_thread = (intervals as usize).next_multiple_of(ALIGNED_INTERVALS);
        Ok(Self {
            counts: Mapping::new(extent.flowops)?,
            rare: Mapping::new(extent.flowops)?,
            histograms: Mapping::new(extent.flowops * BUCKETS)?,
            latest: Mapping::new(extent.threads)?,
            requests: Mapping::new(extent.requests)?,
            intervals: Mapping::new(extent.threads * intervals_per_thread)?,
            intervals_per_thread,
            interval_ns,
        })
    }

    /// What a thread writes.
    pub fn thread(&self, part: Part) -> ThreadRecord<'_> {
        let from = part.thread * self.intervals_per_thread;
        let flowops = part.first_flowop..part.first_flowop + part.flowops;
        ThreadRecord {
            counts: &self.counts[flowops.clone()],
            rare: &self.rare[flowops.clone()],
            histograms: &self.histograms[flowops.start * BUCKETS..flowops.end * BUCKETS],
            latest: &self.latest[part.thread],
            intervals: &self.intervals[from..from + self.intervals_per_thread],
            interval_ns: self.interval_ns,
            requests: part.request.map(|nth| &self.requests[nth]),
            now: Cell::new((0, 0)),
            idle_ns: Cell::new(0),
        }
    }

    /// What one thread has written of one of its flowops.
    pub fn flowop(&self, part: Part, flowop: usize) -> FlowopRecord<'_> {
        let nth = part.first_flowop + flowop;
        FlowopRecord {
            flowop,
            counts: &self.counts[nth],
            rare: &self.rare[nth],
            histogram: &self.histograms[nth * BUCKETS..][..BUCKETS],
            pending: &self.latest[part.thread].pending,
        }
    }

    pub fn request(&self, nth: usize) -> &RequestRecord {
        &self.requests[nth]
    }

    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// When the last op that is work ended, if there was any.
    pub fn last_ns(&self) -> Option<u64> {
        self.latest.iter().map(last).max().flatten()
    }

    /// The same of one thread.
    pub fn last_ns_of(&self, thread: usize) -> Option<u64> {
        last(&self.latest[thread])
    }

    /// The sums of all threads for each interval that begins before `duration_ns`: ops, bytes
    /// read, bytes written. It ends early if there is no room for more.
    pub fn series(&self, duration_ns: u64) -> Vec<[u64; 3]> {
        let wanted = duration_ns.div_ceil(self.interval_ns);
        let possible = wanted.min(self.intervals_per_thread as u64) as usize;
        let mut sums = vec![[0; 3]; possible];
        for thread in self.intervals.chunks(self.intervals_per_thread) {
            for (sum, interval) in sums.iter_mut().zip(thread) {
                sum[0] += interval.work_ops.load(Relaxed);
                sum[1] += interval.read_b.load(Relaxed);
                sum[2] += interval.write_b.load(Relaxed);
            }
        }
        sums
    }

    /// Ops that are work in one interval, of all threads.
    pub fn work_ops_in(&self, interval: usize) -> u64 {
        let threads = self.intervals.chunks(self.intervals_per_thread);
        threads
            .filter_map(|thread| thread.get(interval))
            .map(|interval| interval.work_ops.load(Relaxed))
            .sum()
    }
}

fn last(latest: &Latest) -> Option<u64> {
    Some(latest.last_ns.load(Relaxed)).filter(|&ns| ns > 0)
}

#[cfg(test)]
mod tests;
