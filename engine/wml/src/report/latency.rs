//! A distribution of latencies.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::{Bucket, filled, quantile_ns};
use crate::record::LatencyTotal;

const PERCENTILES: [(&str, f64); 5] = [
    ("50", 0.5),
    ("90", 0.9),
    ("99", 0.99),
    ("99.9", 0.999),
    ("99.99", 0.9999),
];

#[derive(Debug, Serialize)]
pub struct Latency {
    pub sum_ns: u64,
    pub max_ns: u64,
    /// Upper bounds, by the percentage of the values that are not above.
    pub percentiles_ns: BTreeMap<&'static str, u64>,
    /// The non-empty ones.
    pub buckets: Vec<Bucket>,
}

impl From<&LatencyTotal> for Latency {
    fn from(total: &LatencyTotal) -> Self {
        let buckets = filled(&total.buckets);
        let percentile = |&(name, quantile): &(&'static str, f64)| {
            let bound_ns = quantile_ns(&buckets, quantile)?;
            Some((name, bound_ns.min(total.max_ns)))
        };
        Self {
            sum_ns: total.sum_ns,
            max_ns: total.max_ns,
            percentiles_ns: PERCENTILES.iter().filter_map(percentile).collect(),
            buckets,
        }
    }
}
