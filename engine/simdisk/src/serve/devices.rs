//! The devices that can be served.

use crate::device::{Action, Device, Event, Extent};
use crate::disk::{self, Disk};
use crate::profile::disk::{QueuePolicy, QueueProfile};
use crate::profile::{DiskProfile, Interface, Profile, SsdProfile};
use crate::serve::floor::Pace;
use crate::serve::served::{Ailment, Served, Zone};
use crate::ssd::Ssd;
use crate::ssd::pages::Pages;
use crate::ssd::precondition::{SEED, State};
use crate::time::Ns;

/// Changes of power that are kept for who asks: an SSD of 250 MB/s may make 120,000 a second.
const CHANGES_KEPT: usize = 1 << 18;

/// The device of a profile, ready since long.
pub fn device(profile: &Profile, at: Ns) -> Box<dyn Served> {
    match profile {
        Profile::Disk(profile) => Box::new(Turning::new(profile, at)),
        Profile::Ssd(profile) => Box::new(Flash::new(profile, at)),
    }
}

/// The fastest that a device of this profile can answer: from its memory.
pub fn pace(profile: &Profile) -> Pace {
    const READ_B: f64 = 4096.0;
    let Interface {
        command_ms,
        bandwidth_mb_s,
    } = match profile {
        Profile::Disk(disk) => disk.interface,
        Profile::Ssd(ssd) => ssd.interface,
    };
    Pace {
        read_4k_ns: (command_ms * 1e6 + READ_B / bandwidth_mb_s * 1e3) as Ns,
        sequential_b_s: (bandwidth_mb_s * 1e6) as u64,
    }
}

/// A hard disk.
struct Turning {
    disk: Disk,
    queue: QueueProfile,
}

impl Turning {
    fn new(profile: &DiskProfile, at: Ns) -> Self {
        let mut disk = Disk::new(profile, at);
        disk.keep_trace(CHANGES_KEPT);
        Self {
            disk,
            queue: profile.queue,
        }
    }
}

impl Served for Turning {
    fn device(&self) -> &dyn Device {
        &self.disk
    }

    fn device_mut(&mut self) -> &mut dyn Device {
        &mut self.disk
    }

    fn policy(&self) -> &'static str {
        match self.queue.policy {
            QueuePolicy::Fifo => "fifo",
            QueuePolicy::Sptf => "sptf",
            QueuePolicy::Elevator => "elevator",
        }
    }

    fn set_policy(&mut self, policy: &str) -> Result<(), String> {
        self.queue.policy = match policy {
            "fifo" => QueuePolicy::Fifo,
            "sptf" => QueuePolicy::Sptf,
            "elevator" => QueuePolicy::Elevator,
            _ => {
                return Err(format!(
                    "a disk has the policies fifo, sptf and elevator, not '{policy}'"
                ));
            }
        };
        self.disk.set_policy(&self.queue);
        Ok(())
    }

    fn ail(
        &mut self,
        at: Ns,
        ailment: Ailment,
        events: &mut Vec<(Ns, Event)>,
    ) -> Result<(), String> {
        let fault = match ailment {
            Ailment::Unreadable { sector, sectors } => {
                disk::Fault::Unreadable(Extent { sector, sectors })
            }
            Ailment::Hang { seconds } => disk::Fault::Hang {
                until: at + (seconds * 1e9) as Ns,
            },
            Ailment::Vanish => disk::Fault::Vanish,
            Ailment::None => {
                self.disk.mend(at);
                return Ok(());
            }
        };
        self.disk.fault(at, fault, events);
        Ok(())
    }

    fn stand_by(&mut self, at: Ns) -> Result<(), String> {
        self.disk.standby(at);
        Ok(())
    }

    fn spin(&self) -> Result<&'static str, String> {
        Ok(self.disk.spin())
    }

    fn zones(&self) -> Vec<Zone> {
        let zones = self.disk.mechanics().geometry().zones().iter();
        zones
            .map(|zone| Zone {
                first_sector: zone.extent.sector,
                sectors: zone.extent.sectors,
                media_rate_b_s: zone.media_rate_b_s() as u64,
            })
            .collect()
    }

    fn be(&mut self, _: Ns, _: State) -> Result<(), String> {
        Err("a hard disk is the same in use as when it is new".into())
    }

    /// It remembers nothing of what is done.
    fn rest(&mut self, _: Ns) {}

    fn prepared(&mut self, _: Action, _: Extent) {}
}

/// An SSD.
struct Flash {
    ssd: Ssd,
    profile: SsdProfile,
    /// What lay where after the first preconditioning, which takes long; later ones put it back.
    used: Option<Vec<Pages>>,
}

impl Flash {
    fn new(profile: &SsdProfile, at: Ns) -> Self {
        let mut ssd = Ssd::new(profile, at);
        ssd.keep_trace(CHANGES_KEPT);
        Self {
            ssd,
            profile: profile.clone(),
            used: None,
        }
    }
}

impl Served for Flash {
    fn device(&self) -> &dyn Device {
        &self.ssd
    }

    fn device_mut(&mut self) -> &mut dyn Device {
        &mut self.ssd
    }

    /// Its dies work beside each other, each in the order in which commands came.
    fn policy(&self) -> &'static str {
        "fifo"
    }

    fn set_policy(&mut self, policy: &str) -> Result<(), String> {
        match policy {
            "fifo" => Ok(()),
            _ => Err(format!(
                "an SSD serves its commands as they come, not by '{policy}'"
            )),
        }
    }

    fn ail(&mut self, _: Ns, ailment: Ailment, _: &mut Vec<(Ns, Event)>) -> Result<(), String> {
        match ailment {
            Ailment::None => Ok(()),
            _ => Err("the model of an SSD has no faults but power cuts".into()),
        }
    }

    fn stand_by(&mut self, _: Ns) -> Result<(), String> {
        Err("an SSD does not turn".into())
    }

    fn spin(&self) -> Result<&'static str, String> {
        Err("an SSD does not turn".into())
    }

    fn zones(&self) -> Vec<Zone> {
        Vec::new()
    }

    fn be(&mut self, at: Ns, state: State) -> Result<(), String> {
        self.rest(at);
        match (state, &self.used) {
            (State::Initial, _) => self.ssd.erase(&self.profile),
            (State::Steady, Some(used)) => self.ssd.put_back(used),
            (State::Steady, None) => {
                self.ssd.erase(&self.profile);
                self.ssd.precondition(SEED);
                self.used = Some(self.ssd.copied_pages());
            }
        }
        Ok(())
    }

    fn rest(&mut self, at: Ns) {
        self.ssd.reset(at);
    }

    fn prepared(&mut self, action: Action, extent: Extent) {
        self.ssd.prepared(action, extent);
    }
}
