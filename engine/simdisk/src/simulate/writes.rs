//! Random writes, by which an SSD that is used differs from a new one.

use std::iter;

use readahead::random::SplitMix;
use serde::{Deserialize, Serialize};

use crate::device::{Action, Extent};
use crate::profile::Fault;
use crate::simulate::backlog::Backlog;
use crate::simulate::readers::SECTORS_PER_KIB;

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

impl Writes {
    /// What issues them on a device of so many sectors.
    ///
    /// # Errors
    /// If a number is out of its bounds.
    pub fn backlog(
        &self,
        device_sectors: u64,
    ) -> Result<Backlog<impl Iterator<Item = Extent> + use<>>, Fault> {
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
        let places = device_kib / write_kib;
        let sectors = write_kib * SECTORS_PER_KIB;
        let mut random = SplitMix(self.seed);
        let places = iter::repeat_with(move || Extent {
            sector: random.number() % places * sectors,
            sectors,
        });
        let count = (u64::from(self.total_mib) * 1024).div_ceil(write_kib);
        let under_way = u64::from(self.under_way);
        Ok(Backlog::new(places, count, Action::Write, under_way, 1))
    }
}
