//! How long everything takes, in whole nanoseconds.

use crate::profile::SsdProfile;
use crate::time::Ns;

/// The times of an SSD.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub command_ns: Ns,
    pub read_ns: Ns,
    pub program_ns: Ns,
    pub erase_ns: Ns,
    link_mb_s: f64,
    channel_mb_s: f64,
}

impl Times {
    pub fn new(profile: &SsdProfile) -> Self {
        let flash = &profile.flash;
        Self {
            command_ns: ns(profile.interface.command_ms * 1e6),
            read_ns: ns(flash.read_us * 1e3),
            program_ns: ns(flash.program_us * 1e3),
            erase_ns: ns(flash.erase_ms * 1e6),
            link_mb_s: profile.interface.bandwidth_mb_s,
            channel_mb_s: flash.channel_mb_s,
        }
    }

    /// To or from the host.
    pub fn link_ns(&self, bytes: u64) -> Ns {
        ns(bytes as f64 * 1e3 / self.link_mb_s)
    }

    /// To or from a die.
    pub fn channel_ns(&self, bytes: u64) -> Ns {
        ns(bytes as f64 * 1e3 / self.channel_mb_s)
    }
}

fn ns(value: f64) -> Ns {
    value.round() as Ns
}

/// Something that does one thing at a time: from when it is free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(Ns);

impl Line {
    pub fn free_from(at: Ns) -> Self {
        Self(at)
    }

    /// Use it for a time, as soon after `at` as it is free. The end.
    pub fn occupy(&mut self, at: Ns, span_ns: Ns) -> Ns {
        self.0 = self.0.max(at) + span_ns;
        self.0
    }
}
