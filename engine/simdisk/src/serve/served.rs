//! What the server needs of a device beside that it is one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device::{Command, Device, Event, Ns};
use crate::ledger::Ledger;

/// What can be made to go wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ailment {
    /// Sectors that cannot be read until they are written.
    Unreadable { sector: u64, sectors: u64 },
    /// Nothing is answered for a time; then all goes on.
    Hang { seconds: f64 },
    /// From now on every command fails.
    Vanish,
    /// Be well again.
    None,
}

/// Neighbouring sectors with the same media rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Zone {
    pub first_sector: u64,
    pub sectors: u64,
    pub media_rate_b_s: u64,
}

/// A device that can be told what only its own kind understands; it says why it does not.
pub trait Served: Device {
    fn set_depth(&mut self, at: Ns, depth: usize) -> Result<(), String>;

    fn policy(&self) -> &'static str;

    fn set_policy(&mut self, at: Ns, policy: &str) -> Result<(), String>;

    fn ail(&mut self, at: Ns, ailment: Ailment) -> Result<(), String>;

    /// Stop turning now rather than when a timer runs out.
    fn stand_by(&mut self, at: Ns) -> Result<(), String>;

    /// Outermost first; of a device without zones, none.
    fn zones(&self) -> Vec<Zone>;
}

/// A device that notes when it was given which command.
pub struct Noting {
    pub device: Box<dyn Served>,
    pub sent: Vec<(u64, Ns)>,
}

impl Device for Noting {
    fn sectors(&self) -> u64 {
        self.device.sectors()
    }

    fn depth(&self) -> usize {
        self.device.depth()
    }

    fn waiting(&self) -> usize {
        self.device.waiting()
    }

    fn submit(&mut self, at: Ns, command: Command) {
        self.sent.push((command.tag, at));
        self.device.submit(at, command);
    }

    fn next(&self) -> Option<Ns> {
        self.device.next()
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        self.device.advance(to, events);
    }

    fn cut_power(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        self.device.cut_power(at, events);
    }

    fn restore_power(&mut self, at: Ns) {
        self.device.restore_power(at);
    }

    fn reset(&mut self, at: Ns) {
        self.device.reset(at);
    }

    fn ledger(&self) -> &Ledger {
        self.device.ledger()
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        self.device.counters()
    }
}
