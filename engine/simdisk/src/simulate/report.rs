//! What comes of a simulation.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::device::{Action, Device, LOG_HEAD, Outcome, SECTOR_B};
use crate::host::Served;
use crate::simulate::experiment::Experiment;
use crate::simulate::readers::Reading;
use crate::simulate::server::NfsReport;
use crate::simulate::trace;
use crate::time::Ns;

/// Everything that a simulation gives: numbers of a model, as `basis` says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub basis: &'static str,
    /// The version of this library.
    pub engine: &'static str,
    /// What was asked for, with all defaults.
    pub experiment: Experiment,
    pub device: DeviceReport,
    /// When the first request was issued and the last answered or, of readers, copied.
    pub start_ns: Ns,
    pub end_ns: Ns,
    pub requests_count: u64,
    /// Requests with another outcome than done.
    pub failed_count: u64,
    pub read_b: u64,
    pub written_b: u64,
    /// All bytes over the time from start to end, 10^6 B/s.
    pub throughput_mb_s: f64,
    /// From issue to answer.
    pub response_ns: Percentiles,
    /// How far the scheduler sent requests in another order than they were issued in.
    pub host_order: Order,
    /// How far the device answered in another order than it got them.
    pub device_order: Order,
    /// From start to end.
    pub energy: Energy,
    /// Of the device.
    pub counters: BTreeMap<&'static str, u64>,
    /// By reader; empty for a trace.
    pub readers: Vec<Reading>,
    /// Of an NFS server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs: Option<NfsReport>,
    /// Times and the power in microwatts from each of them on, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_uw: Option<Vec<(Ns, u64)>>,
    /// All requests in the order of their answers as CSV, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// The device, with the settings that it had.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceReport {
    pub model: String,
    pub sectors: u64,
    pub depth: usize,
}

/// Of times in nanoseconds, by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    pub mean: Ns,
    pub p50: Ns,
    pub p90: Ns,
    pub p99: Ns,
    pub max: Ns,
}

impl Percentiles {
    fn of(mut times: Vec<Ns>) -> Self {
        times.sort_unstable();
        let Some(&max) = times.last() else {
            return Self::default();
        };
        let count = times.len() as u128;
        let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
        let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        Self {
            mean: (sum / count) as Ns,
            p50: rank(50),
            p90: rank(90),
            p99: rank(99),
            max,
        }
    }
}

/// One order against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Requests that were overtaken by a later one.
    pub overtaken_count: u64,
    /// The most places that one came too late: later ones that went first.
    pub latest_places: u64,
    #[serde(skip)]
    furthest: u64,
    #[serde(skip)]
    seen: u64,
}

impl Order {
    /// Note what comes next in the new order, by its number in the old one.
    fn note(&mut self, nth: u64) {
        self.overtaken_count += u64::from(nth < self.furthest);
        self.latest_places = self.latest_places.max(self.seen.saturating_sub(nth));
        self.furthest = self.furthest.max(nth);
        self.seen += 1;
    }
}

/// Energy by part of the device: in femtojoules, so that the sum of the parts is the total exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Energy {
    pub total_fj: u128,
    pub parts: Vec<PartEnergy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartEnergy {
    pub name: &'static str,
    pub energy_fj: u128,
    pub time_ns: Ns,
}

impl Energy {
    /// What a device has drawn since it was made.
    pub fn of(device: &(impl Device + ?Sized)) -> Self {
        let ledger = device.ledger();
        let parts = ledger.parts().map(|(name, energy_fj, time_ns)| PartEnergy {
            name,
            energy_fj,
            time_ns,
        });
        Self {
            total_fj: ledger.energy_fj(),
            parts: parts.collect(),
        }
    }
}

/// What is counted while a simulation goes on.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub requests: u64,
    pub failed: u64,
    pub read_b: u64,
    pub written_b: u64,
    pub device: Order,
    responses: Vec<Ns>,
    /// The tags, which say in which order they were issued, in the order of sending.
    sent: Vec<u64>,
    pub log: Option<String>,
}

impl Tally {
    pub fn new(keeps_log: bool) -> Self {
        Self {
            log: keeps_log.then(|| format!("{}\n", LOG_HEAD)),
            ..Self::default()
        }
    }

    pub fn note(&mut self, served: &Served) {
        let command = served.sent.request.command;
        let bytes = command.extent.sectors * SECTOR_B;
        match command.action {
            Action::Read => self.read_b += bytes,
            Action::Write => self.written_b += bytes,
            Action::Flush | Action::Discard => {}
        }
        self.requests += 1;
        self.failed += u64::from(served.outcome != Outcome::Done);
        self.responses
            .push(served.done - served.sent.request.issued);
        self.device.note(served.sent.nth);
        let nth = served.sent.nth as usize;
        if self.sent.len() <= nth {
            self.sent.resize(nth + 1, 0);
        }
        self.sent[nth] = command.tag;
        if let Some(log) = &mut self.log {
            trace::write(log, served);
        }
    }

    /// The order of sending against that of issuing, once all is answered.
    pub fn host(&self) -> Order {
        let mut order = Order::default();
        self.sent.iter().for_each(|&tag| order.note(tag));
        order
    }

    pub fn response_ns(&mut self) -> Percentiles {
        Percentiles::of(std::mem::take(&mut self.responses))
    }
}
