//! Sums of records over threads.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use super::latency::LatencyTotal;
use super::records::FlowopRecord;
use super::thread::RequestRecord;

/// The sum of a flowop's records.
#[derive(Clone, Default)]
pub struct Total {
    pub work_ops: u64,
    pub work_ops_by_instance: Vec<u64>,
    pub bytes: u64,
    pub skipped: u64,
    pub errors: BTreeMap<i32, u64>,
    pub latency: LatencyTotal,
}

impl Total {
    pub fn merge(&mut self, record: FlowopRecord) {
        let work_ops = record.counts.work_ops.load(Relaxed);
        self.work_ops += work_ops;
        self.work_ops_by_instance.push(work_ops);
        self.bytes += record.counts.bytes.load(Relaxed);
        self.skipped += record.rare.skipped.load(Relaxed);
        for error in &record.rare.errors {
            let count = error.count.load(Relaxed);
            if count > 0 {
                let errno = error.errno.load(Relaxed) as i32;
                *self.errors.entry(errno).or_default() += count;
            }
        }
        self.latency.merge(&record.counts.times, record.histogram);
        for bucket in record.pending.of(record.flowop) {
            self.latency.buckets[bucket] += 1;
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        let then = |errno| earlier.errors.get(errno).copied().unwrap_or(0);
        let errors = self.errors.iter();
        let by_instance = self.work_ops_by_instance.iter();
        Self {
            work_ops: self.work_ops - earlier.work_ops,
            work_ops_by_instance: by_instance
                .zip(&earlier.work_ops_by_instance)
                .map(|(now, then)| now - then)
                .collect(),
            bytes: self.bytes - earlier.bytes,
            skipped: self.skipped - earlier.skipped,
            errors: errors
                .map(|(errno, count)| (*errno, count - then(errno)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            latency: self.latency.since(&earlier.latency),
        }
    }
}

/// The sum of the requests of a thread with an open loop.
#[derive(Clone, Default)]
pub struct RequestTotal {
    pub work_ops: u64,
    pub late: u64,
    pub latency: LatencyTotal,
}

impl RequestTotal {
    pub fn merge(&mut self, record: &RequestRecord) {
        self.work_ops += record.work_ops.load(Relaxed);
        self.late += record.late.load(Relaxed);
        self.latency.merge(&record.times, &record.buckets);
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            work_ops: self.work_ops - earlier.work_ops,
            late: self.late - earlier.late,
            latency: self.latency.since(&earlier.latency),
        }
    }
}

/// Everything that the threads of a run have done so far.
#[derive(Clone, Default)]
pub struct Totals {
    /// Of every flowop, in the order of the model.
    pub flowops: Vec<Total>,
    /// Of every thread of the model with an open loop, in its order.
    pub requests: Vec<RequestTotal>,
}

impl Totals {
    /// What came after an earlier look.
    pub fn since(&self, earlier: &Self) -> Self {
        let flowops = self.flowops.iter().zip(&earlier.flowops);
        let requests = self.requests.iter().zip(&earlier.requests);
        Self {
            flowops: flowops.map(|(now, then)| now.since(then)).collect(),
            requests: requests.map(|(now, then)| now.since(then)).collect(),
        }
    }
}
