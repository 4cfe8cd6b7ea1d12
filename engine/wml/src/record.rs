//! What a thread records: counters, errors, latencies and the series. Each block has one writer,
//! so that recording needs no lock and no atomic read-modify-write.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::SECOND_NS;
use crate::failure::Failure;
use crate::histogram::{BUCKETS, bucket_of};
use crate::model::Class;
use crate::shared::{self, Control, Shared};

/// Different errnos that are told apart per flowop and thread; the rest counts as errno 0.
const ERRNOS: usize = 8;

/// One writer: a plain load and store suffice.
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}

struct ErrorCount {
    errno: AtomicU64,
    count: AtomicU64,
}

/// Counters of one flowop in one thread.
pub struct FlowopRecord {
    work_ops: AtomicU64,
    bytes: AtomicU64,
    skipped: AtomicU64,
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
    errors: [ErrorCount; ERRNOS],
    buckets: [AtomicU64; BUCKETS],
}

// SAFETY: made of atomics.
unsafe impl Shared for FlowopRecord {}

impl FlowopRecord {
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

    /// Touch every page, so that no page fault falls into a measured operation.
    fn touch(&self) {
        for bucket in self.buckets.iter().step_by(4096 / size_of::<AtomicU64>()) {
            bucket.store(0, Relaxed);
        }
        self.work_ops.store(0, Relaxed);
    }
}

/// Work within one second of the measured interval, in one thread.
#[derive(Default)]
pub struct Interval {
    work_ops: AtomicU64,
    read_b: AtomicU64,
    write_b: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Interval {}

/// The records of all threads.
pub struct Records {
    flowops: &'static [FlowopRecord],
    intervals: &'static [Interval],
    intervals_per_thread: usize,
}

/// The part of [`Records`] that one thread writes.
#[derive(Clone, Copy)]
pub struct ThreadRecord {
    pub flowops: &'static [FlowopRecord],
    pub intervals: &'static [Interval],
}

impl Records {
    pub fn new(flowops: usize, threads: usize, duration_ns: u64) -> Result<Self, Failure> {
        let intervals_per_thread = duration_ns.div_ceil(SECOND_NS).max(1) as usize;
        Ok(Self {
            flowops: shared::slice(flowops)?,
            intervals: shared::slice(threads * intervals_per_thread)?,
            intervals_per_thread,
        })
    }

    /// The part of a thread whose flowops begin at `first_flowop`.
    pub fn thread(&self, thread: usize, first_flowop: usize, flowops: usize) -> ThreadRecord {
        let from = thread * self.intervals_per_thread;
        ThreadRecord {
            flowops: &self.flowops[first_flowop..first_flowop + flowops],
            intervals: &self.intervals[from..from + self.intervals_per_thread],
        }
    }

    /// The sum of all threads for each second that lies before `duration_ns`.
    pub fn series(&self, duration_ns: u64) -> Vec<[u64; 3]> {
        let seconds = duration_ns.div_ceil(SECOND_NS) as usize;
        let mut sums = vec![[0; 3]; seconds.min(self.intervals_per_thread)];
        for thread in self.intervals.chunks(self.intervals_per_thread) {
            for (sum, interval) in sums.iter_mut().zip(thread) {
                sum[0] += interval.work_ops.load(Relaxed);
                sum[1] += interval.read_b.load(Relaxed);
                sum[2] += interval.write_b.load(Relaxed);
            }
        }
        sums
    }
}

impl ThreadRecord {
    pub fn touch(&self) {
        self.flowops.iter().for_each(FlowopRecord::touch);
        self.intervals
            .iter()
            .for_each(|interval| interval.work_ops.store(0, Relaxed));
    }

    /// Whether `end_ns` lies in the measured interval.
    fn measures(control: &Control, end_ns: u64) -> bool {
        (control.measure_ns()..control.end_ns()).contains(&end_ns)
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
        if !Self::measures(control, end_ns) {
            return;
        }
        let record = &self.flowops[flowop];
        let latency = end_ns - start_ns;
        add(&record.work_ops, 1);
        add(&record.bytes, bytes);
        add(&record.sum_ns, latency);
        if latency > record.max_ns.load(Relaxed) {
            record.max_ns.store(latency, Relaxed);
        }
        add(&record.buckets[bucket_of(latency)], 1);
        let nth = ((end_ns - control.measure_ns()) / SECOND_NS) as usize;
        let (Some(interval), false) = (self.intervals.get(nth), class == Class::Other) else {
            return;
        };
        add(&interval.work_ops, 1);
        match class {
            Class::Reads => add(&interval.read_b, bytes),
            Class::Writes => add(&interval.write_b, bytes),
            Class::Metadata | Class::Other => {}
        }
    }

    pub fn failed(&self, control: &Control, flowop: usize, end_ns: u64, errno: i32) {
        if Self::measures(control, end_ns) {
            self.flowops[flowop].error(errno);
        }
    }

    pub fn skipped(&self, control: &Control, flowop: usize, end_ns: u64) {
        if Self::measures(control, end_ns) {
            add(&self.flowops[flowop].skipped, 1);
        }
    }
}

/// The sum of a flowop's records over threads.
pub struct Total {
    pub work_ops: u64,
    pub bytes: u64,
    pub skipped: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
    pub errors: BTreeMap<i32, u64>,
    pub buckets: Vec<u64>,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            work_ops: 0,
            bytes: 0,
            skipped: 0,
            sum_ns: 0,
            max_ns: 0,
            errors: BTreeMap::new(),
            buckets: vec![0; BUCKETS],
        }
    }
}

impl Total {
    pub fn merge(&mut self, record: &FlowopRecord) {
        self.work_ops += record.work_ops.load(Relaxed);
        self.bytes += record.bytes.load(Relaxed);
        self.skipped += record.skipped.load(Relaxed);
        self.sum_ns += record.sum_ns.load(Relaxed);
        self.max_ns = self.max_ns.max(record.max_ns.load(Relaxed));
        for error in &record.errors {
            let count = error.count.load(Relaxed);
            if count > 0 {
                *self
                    .errors
                    .entry(error.errno.load(Relaxed) as i32)
                    .or_default() += count;
            }
        }
        for (sum, bucket) in self.buckets.iter_mut().zip(&record.buckets) {
            *sum += bucket.load(Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measuring() -> Control {
        let control = Control::default();
        control.start(SECOND_NS, 2 * SECOND_NS);
        control
    }

    #[test]
    fn only_what_ends_in_the_measured_interval_counts() {
        let control = measuring();
        let records = Records::new(1, 1, 2 * SECOND_NS).unwrap();
        let thread = records.thread(0, 0, 1);
        let (from, to) = (control.measure_ns(), control.end_ns());
        for end in [from - 1, from, from + SECOND_NS, to - 1, to] {
            thread.done(&control, 0, Class::Reads, end - 100, end, 10);
            thread.skipped(&control, 0, end);
            thread.failed(&control, 0, end, libc::ENOSPC);
        }
        let mut total = Total::default();
        total.merge(&thread.flowops[0]);
        assert_eq!((total.work_ops, total.bytes, total.skipped), (3, 30, 3));
        assert_eq!(total.errors, BTreeMap::from([(libc::ENOSPC, 3)]));
        assert_eq!(total.buckets.iter().sum::<u64>(), 3);
        assert_eq!((total.sum_ns, total.max_ns), (300, 100));
        assert_eq!(records.series(2 * SECOND_NS), [[1, 10, 0], [2, 20, 0]]);
    }

    #[test]
    fn merging_is_adding_and_no_error_is_lost() {
        let control = measuring();
        let records = Records::new(2, 2, 2 * SECOND_NS).unwrap();
        let now = control.measure_ns();
        let mut total = Total::default();
        for thread in 0..2 {
            let record = records.thread(thread, thread, 1);
            for errno in 1..=20 {
                record.failed(&control, 0, now, errno);
            }
            record.done(&control, 0, Class::Metadata, now - 7, now, 0);
            total.merge(&record.flowops[0]);
        }
        assert_eq!(total.errors.values().sum::<u64>(), 40);
        assert_eq!(total.errors[&0], 26);
        assert_eq!(total.buckets[7], 2);
    }
}
