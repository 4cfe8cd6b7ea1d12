//! Histograms of latencies: in shared memory while they grow, and their sums afterwards.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::counter::add;
use crate::histogram::{BUCKETS, bounds_ns};

/// Sum and maximum of the latencies that one thread records.
pub(super) struct Times {
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Times {
    pub fn record(&self, latency_ns: u64) {
        add(&self.sum_ns, latency_ns);
        if latency_ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(latency_ns, Relaxed);
        }
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
    pub(super) fn merge(&mut self, times: &Times, buckets: &[AtomicU64]) {
        self.sum_ns += times.sum_ns.load(Relaxed);
        self.max_ns = self.max_ns.max(times.max_ns.load(Relaxed));
        for (sum, bucket) in self.buckets.iter_mut().zip(buckets) {
            *sum += bucket.load(Relaxed);
        }
    }

    /// What came after an earlier look at the same records. The maximum of that part alone is
    /// known to its bucket only.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let pairs = self.buckets.iter().zip(&earlier.buckets);
        // A look in the midst of the work may miss what goes to its bucket at that moment.
        let buckets: Vec<u64> = pairs.map(|(now, then)| now.saturating_sub(*then)).collect();
        let last = buckets.iter().rposition(|&count| count > 0);
        Self {
            sum_ns: self.sum_ns - earlier.sum_ns,
            max_ns: last.map_or(0, |bucket| (bounds_ns(bucket).1 - 1).min(self.max_ns)),
            buckets,
        }
    }
}
