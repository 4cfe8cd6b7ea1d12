//! What the parent learns of a process of the workload.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::clock::SECOND_NS;
use crate::shared::Shared;

/// Written by one process. The errnos are 0 if all went well.
pub struct ProcessRecord {
    pub user_ns: AtomicU64,
    pub system_ns: AtomicU64,
    pub voluntary_switches: AtomicU64,
    pub involuntary_switches: AtomicU64,
    /// Of the first thread that could not be started.
    pub thread_errno: AtomicU32,
    pub nice_errno: AtomicU32,
    pub ioprio_errno: AtomicU32,
}

// SAFETY: made of atomics.
unsafe impl Shared for ProcessRecord {}

impl ProcessRecord {
    /// Note what was used within the measured interval.
    pub fn note_cost(&self, before: &Usage, after: &Usage) {
        let since = |part: fn(&Usage) -> u64| part(after) - part(before);
        self.user_ns.store(since(|usage| usage.user_ns), Relaxed);
        self.system_ns
            .store(since(|usage| usage.system_ns), Relaxed);
        self.voluntary_switches
            .store(since(|usage| usage.voluntary_switches), Relaxed);
        self.involuntary_switches
            .store(since(|usage| usage.involuntary_switches), Relaxed);
    }
}

/// What this process has used so far, all its threads together.
pub struct Usage {
    user_ns: u64,
    system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Usage {
    pub fn now() -> Option<Self> {
        // SAFETY: zeros are a valid rusage, which the call fills in.
        let (result, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
        };
        let ns = |time: libc::timeval| time.tv_sec as u64 * SECOND_NS + time.tv_usec as u64 * 1000;
        (result == 0).then(|| Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        })
    }
}
