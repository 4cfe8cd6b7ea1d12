//! Random writes, by which an SSD that is used differs from a new one.

use serde::{Deserialize, Serialize};

use crate::device::{Action, Command, Extent, Ns};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::random::SplitMix;
use crate::simulate::readers::SECTORS_PER_KIB;
use crate::simulate::run::Source;

/// Writes of equal size at random places of the whole device, so many of them under way at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Writes {
    /// Of all writes together.
    pub total_mib: u32,
    pub write_kib: u32,
    pub under_way: u32,
    /// Of the places.
    pub seed: u64,
}

impl Default for Writes {
    fn default() -> Self {
        Self {
            total_mib: 256,
            write_kib: 4,
            under_way: 32,
            seed: 0,
        }
    }
}

/// Who issues them.
pub struct Writer {
    random: SplitMix,
    /// Places that there are, and sectors of each.
    places: u64,
    sectors: u64,
    idle: u32,
    issued: u64,
    answered: u64,
    count: u64,
    now: Ns,
}

impl Writes {
    /// A writer for a device of so many sectors.
    ///
    /// # Errors
    /// If a number is out of its bounds.
    pub fn writer(&self, device_sectors: u64) -> Result<Writer, Fault> {
        let device_kib = device_sectors / SECTORS_PER_KIB;
        let write_kib_most = device_kib.min(1 << 20) as u32;
        for (name, value, most) in [
            ("total_mib", self.total_mib, 1 << 24),
            ("write_kib", self.write_kib, write_kib_most),
            ("under_way", self.under_way, 65_536),
        ] {
            if !(1..=most).contains(&value) {
                return Err(Fault::new(
                    format!("{name} is {value}"),
                    format!("writes.{name}"),
                    format!("give a whole number from 1 to {most}"),
                ));
            }
        }
        let write_kib = u64::from(self.write_kib);
        Ok(Writer {
            random: SplitMix(self.seed),
            places: device_kib / write_kib,
            sectors: write_kib * SECTORS_PER_KIB,
            idle: self.under_way,
            issued: 0,
            answered: 0,
            count: (u64::from(self.total_mib) * 1024).div_ceil(write_kib),
            now: 0,
        })
    }
}

impl Source for Writer {
    fn next(&self) -> Option<Ns> {
        (self.idle > 0 && self.issued < self.count).then_some(self.now)
    }

    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>) {
        while self.idle > 0 && self.issued < self.count {
            let extent = Extent {
                sector: self.random.number() % self.places * self.sectors,
                sectors: self.sectors,
            };
            let command = Command {
                tag: self.issued,
                action: Action::Write,
                extent,
                through: false,
            };
            requests.push(Request {
                command,
                stream: 0,
                issued: at,
            });
            self.issued += 1;
            self.idle -= 1;
        }
    }

    fn answered(&mut self, served: &Served) {
        self.idle += 1;
        self.answered += 1;
        self.now = served.done;
    }

    fn is_finished(&self) -> bool {
        self.answered == self.count
    }
}
