//! Counters in shared memory that one thread writes and everyone reads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One writer: a plain load and store suffice.
pub fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}
