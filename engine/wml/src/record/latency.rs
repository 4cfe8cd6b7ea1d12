//! Histograms of latencies: in shared memory while they grow, and their sums afterwards.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::counter::add;
use crate::histogram::{BUCKETS, bounds_ns, bucket_of};

/// Latencies that one thread records.
pub(super) struct LatencyRecord {
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl LatencyRecord {
    pub fn record(&self, latency_ns: u64) {
        add(&self.sum_ns, latency_ns);
        if latency_ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(latency_ns, Relaxed);
        }
        add(&self.buckets[bucket_of(latency_ns)], 1);
    }

    /// Touch every page, so that no page fault falls into a measured operation.
    pub fn touch(&self) {
        for bucket in self.buckets.iter().step_by(4096 / size_of::<AtomicU64>()) {
            bucket.store(0, Relaxed);
        }
        self.sum_ns.store(0, Relaxed);
    }
}

/// The sum of several records.
#[derive(Clone)]
pub struct LatencyTotal {
    pub sum_ns: u64,
    pub max_ns: u64,
    pub buckets: Vec<u64>,
}

impl Default for LatencyTotal {
    fn default() -> Self {
        Self {
            sum_ns: 0,
            max_ns: 0,
            buckets: vec![0; BUCKETS],
        }
    }
}

impl LatencyTotal {
    pub(super) fn merge(&mut self, record: &LatencyRecord) {
        self.sum_ns += record.sum_ns.load(Relaxed);
        self.max_ns = self.max_ns.max(record.max_ns.load(Relaxed));
        for (sum, bucket) in self.buckets.iter_mut().zip(&record.buckets) {
            *sum += bucket.load(Relaxed);
        }
    }

    /// What came after an earlier look at the same records. The maximum of that part alone is
    /// known to its bucket only.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let pairs = self.buckets.iter().zip(&earlier.buckets);
        let buckets: Vec<u64> = pairs.map(|(now, then)| now - then).collect();
        let last = buckets.iter().rposition(|&count| count > 0);
        Self {
            sum_ns: self.sum_ns - earlier.sum_ns,
            max_ns: last.map_or(0, |bucket| (bounds_ns(bucket).1 - 1).min(self.max_ns)),
            buckets,
        }
    }
}
