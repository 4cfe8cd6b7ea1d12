//! The records of all threads of a run, in shared memory.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use super::thread::{End, FlowopRecord, Interval, RequestRecord, ThreadRecord};
use crate::clock::SECOND_NS;
use crate::failure::Failure;
use crate::shared::Mapping;

/// Intervals that each thread has room for, if nothing says how long a run will be.
const UNPLANNED_INTERVALS: u64 = 86_400;
const MAX_INTERVALS: u64 = 1 << 20;

/// The intervals of one thread begin on a cache line of their own: 16 of 24 bytes fill 6 lines.
const ALIGNED_INTERVALS: usize = 16;

/// The records of all threads of a run.
pub struct Records {
    flowops: Mapping<FlowopRecord>,
    requests: Mapping<RequestRecord>,
    intervals: Mapping<Interval>,
    ends: Mapping<End>,
    intervals_per_thread: usize,
    interval_ns: u64,
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
            flowops: Mapping::new(extent.flowops)?,
            requests: Mapping::new(extent.requests)?,
            intervals: Mapping::new(extent.threads * intervals_per_thread)?,
            ends: Mapping::new(extent.threads)?,
            intervals_per_thread,
            interval_ns,
        })
    }

    /// What a thread writes.
    pub fn thread(&self, part: Part) -> ThreadRecord<'_> {
        let from = part.thread * self.intervals_per_thread;
        ThreadRecord {
            flowops: &self.flowops[part.first_flowop..part.first_flowop + part.flowops],
            intervals: &self.intervals[from..from + self.intervals_per_thread],
            interval_ns: self.interval_ns,
            end: &self.ends[part.thread],
            requests: part.request.map(|nth| &self.requests[nth]),
            now: Cell::new((0, 0)),
            idle_ns: Cell::new(0),
        }
    }

    pub fn flowop(&self, nth: usize) -> &FlowopRecord {
        &self.flowops[nth]
    }

    pub fn request(&self, nth: usize) -> &RequestRecord {
        &self.requests[nth]
    }

    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// When the last op that is work ended, if there was any.
    pub fn last_ns(&self) -> Option<u64> {
        self.ends.iter().map(last).max().flatten()
    }

    /// The same of one thread.
    pub fn last_ns_of(&self, thread: usize) -> Option<u64> {
        last(&self.ends[thread])
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

fn last(end: &End) -> Option<u64> {
    Some(end.last_ns.load(Relaxed)).filter(|&ns| ns > 0)
}

#[cfg(test)]
mod tests;
