//! What the server needs of a device beside that it is one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device::{Action, Command, Device, Event, Extent};
use crate::ledger::Ledger;
use crate::ssd::precondition::State;
use crate::time::Ns;

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

/// A disk that hangs longer than this is one that has vanished. Seconds.
const HANG_MOST_S: f64 = 3600.0;

impl Ailment {
    /// # Errors
    /// If a device of this capacity cannot have it.
    pub fn check(self, sectors: u64) -> Result<(), String> {
        match self {
            Self::Unreadable {
                sector,
                sectors: count,
            } => {
                let is_on_it = sector.checked_add(count).is_some_and(|end| end <= sectors);
                if count == 0 || !is_on_it {
                    return Err(format!("the disk has the sectors 0 to {}", sectors - 1));
                }
            }
            Self::Hang { seconds } if !(0.0..=HANG_MOST_S).contains(&seconds) => {
                return Err(format!("a disk hangs for 0 to {HANG_MOST_S} seconds"));
            }
            Self::Hang { .. } | Self::Vanish | Self::None => {}
        }
        Ok(())
    }
}

/// Neighbouring sectors with the same media rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Zone {
    pub first_sector: u64,
    pub sectors: u64,
    pub media_rate_b_s: u64,
}

/// A device, and what only its own kind understands; it says why it does not.
pub trait Served: Send {
    fn device(&self) -> &dyn Device;

    fn device_mut(&mut self) -> &mut dyn Device;

    /// The order in which it serves its queue.
    fn policy(&self) -> &'static str;

    fn set_policy(&mut self, policy: &str) -> Result<(), String>;

    /// At a time to which `advance` has gone; append what it makes happen.
    fn ail(
        &mut self,
        at: Ns,
        ailment: Ailment,
        events: &mut Vec<(Ns, Event)>,
    ) -> Result<(), String>;

    /// Stop turning as soon as possible rather than when a timer runs out.
    fn stand_by(&mut self, at: Ns) -> Result<(), String>;

    /// What its platters do, in a word.
    fn spin(&self) -> Result<&'static str, String>;

    /// Outermost first; of a device without zones, none.
    fn zones(&self) -> Vec<Zone>;

    /// Be as after what a state stands for, in no time. Nothing may wait, and everything must be
    /// stored; the data stay.
    fn be(&mut self, at: Ns, state: State) -> Result<(), String>;

    /// Be ready for [`Served::prepared`]. Nothing may wait, and everything must be stored.
    fn rest(&mut self, at: Ns);

    /// Take note of what was done to the data past the model.
    fn prepared(&mut self, action: Action, extent: Extent);
}

/// A device that notes when it was given which command, and may be given fewer at once than it
/// could take.
pub struct Noting {
    pub served: Box<dyn Served>,
    /// Commands that it is given at once.
    pub depth: usize,
    pub sent: Vec<(u64, Ns)>,
    /// What an ailment has made happen, until somebody asks.
    happened: Vec<(Ns, Event)>,
}

impl Noting {
    pub fn new(served: Box<dyn Served>) -> Self {
        Self {
            depth: served.device().depth(),
            served,
            sent: Vec::new(),
            happened: Vec::new(),
        }
    }

    pub fn ail(&mut self, at: Ns, ailment: Ailment) -> Result<(), String> {
        self.served.ail(at, ailment, &mut self.happened)
    }
}

impl Device for Noting {
    fn sectors(&self) -> u64 {
        self.served.device().sectors()
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn waiting(&self) -> usize {
        self.served.device().waiting()
    }

    fn submit(&mut self, at: Ns, command: Command) {
        self.sent.push((command.tag, at));
        self.served.device_mut().submit(at, command);
    }

    fn next(&self) -> Option<Ns> {
        let happened = self.happened.first().map(|&(at, _)| at);
        happened.or_else(|| self.served.device().next())
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        events.append(&mut self.happened);
        self.served.device_mut().advance(to, events);
    }

    fn cut_power(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        self.served.device_mut().cut_power(at, events);
    }

    fn restore_power(&mut self, at: Ns) {
        self.served.device_mut().restore_power(at);
    }

    fn reset(&mut self, at: Ns) {
        self.served.device_mut().reset(at);
    }

    fn ledger(&self) -> &Ledger {
        self.served.device().ledger()
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        self.served.device().counters()
    }
}
