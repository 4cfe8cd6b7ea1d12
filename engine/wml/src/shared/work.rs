//! What the threads of one process have done together, where a goal of theirs asks for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Shared;

#[derive(Default)]
#[repr(align(64))]
pub struct Work {
    work_ops: AtomicU64,
    bytes: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for Work {}

impl Work {
    pub fn add(&self, work_ops: u64, bytes: u64) {
        self.work_ops.fetch_add(work_ops, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub fn work_ops(&self) -> u64 {
        self.work_ops.load(Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}
