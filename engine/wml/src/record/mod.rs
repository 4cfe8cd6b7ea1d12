//! What threads record: counters, errors, latencies and the series. Each block has one writer, so
//! that recording needs no lock and no atomic read-modify-write, and reading pauses nobody.

mod counter;
mod latency;
mod pending;
mod records;
mod thread;
mod total;

pub use latency::LatencyTotal;
pub use records::{Extent, FlowopRecord, Part, Records};
pub use thread::{RequestRecord, ThreadRecord};
pub use total::{RequestTotal, Total, Totals};
