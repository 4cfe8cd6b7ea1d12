//! What the process takes of the machine.

use wml::clock::SECOND_NS;

/// Processor time, and how often another process had its turn.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub user_ns: u64,
    pub system_ns: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Cost {
    /// So far.
    pub fn now() -> Self {
        // SAFETY: zeros are a valid rusage, which the call fills in.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let ns = |time: libc::timeval| time.tv_sec as u64 * SECOND_NS + time.tv_usec as u64 * 1000;
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns - before.user_ns,
            system_ns: self.system_ns - before.system_ns,
            voluntary_switches: self.voluntary_switches - before.voluntary_switches,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
        }
    }
}
