//! What an SSD draws and counts.

use std::collections::BTreeMap;

use crate::ledger::{Ledger, Part};
use crate::profile::SsdProfile;
use crate::time::Ns;

/// The parts of the ledger: the drive as such, and each die that is at something.
pub const IDLE: usize = 0;
pub const READ: usize = 1;
pub const PROGRAM: usize = 2;
pub const ERASE: usize = 3;

/// An account in which the drive is on.
pub fn ledger(profile: &SsdProfile, at: Ns) -> Ledger {
    let power = &profile.power;
    let part = |name, power_w: f64| Part {
        name,
        power_uw: (power_w * 1e6).round() as u64,
    };
    let mut ledger = Ledger::new(
        vec![
            part("idle", power.idle_w),
            part("read", power.read_w),
            part("program", power.program_w),
            part("erase", power.erase_w),
        ],
        at,
    );
    ledger.plan(at, IDLE, 1);
    ledger
}

/// End everything that goes on in these parts, and what is planned, at a time.
pub fn stop(ledger: &mut Ledger, at: Ns, parts: impl IntoIterator<Item = usize>) {
    ledger.settle(at);
    ledger.cut(at);
    for part in parts {
        ledger.plan(at, part, -(ledger.level(part) as i32));
    }
    ledger.settle(at);
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub host_read_b: u64,
    pub host_written_b: u64,
    pub host_discarded_b: u64,
    pub flash_read_b: u64,
    /// Copies included; over `host_written_b`, the write amplification.
    pub flash_programmed_b: u64,
    pub flash_copied_b: u64,
    pub erases_count: u64,
    pub flushes_count: u64,
}

impl Counts {
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("host_read_b", self.host_read_b),
            ("host_written_b", self.host_written_b),
            ("host_discarded_b", self.host_discarded_b),
            ("flash_read_b", self.flash_read_b),
            ("flash_programmed_b", self.flash_programmed_b),
            ("flash_copied_b", self.flash_copied_b),
            ("erases_count", self.erases_count),
            ("flushes_count", self.flushes_count),
        ])
    }
}
