//! Settings that may differ from a profile's file when a device starts.

use serde::{Deserialize, Serialize};

use super::disk::{DiskProfile, QueuePolicy, WriteCache};
use super::fault::Fault;
use super::file::Profile;
use super::ssd::SsdProfile;

/// What is set replaces what the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    pub depth: Option<usize>,
    /// Of a disk's queue.
    pub policy: Option<QueuePolicy>,
    pub write: Option<WriteCache>,
    /// Of a disk.
    pub read_ahead_kib: Option<u64>,
    /// A disk loses its inner end; an SSD has fewer blocks, and as large a share of spare ones.
    pub sectors: Option<u64>,
}

impl Profile {
    /// The same device with other settings; `origin` names the profile in messages.
    ///
    /// # Errors
    /// If the device has no such setting, or a number is out of its bounds.
    pub fn with(mut self, overrides: &Overrides, origin: &str) -> Result<Self, Fault> {
        if let Some(sectors) = overrides
            .sectors
            .filter(|&sectors| sectors > self.sectors())
        {
            return Err(Fault::new(
                format!("it has {} sectors, fewer than {sectors}", self.sectors()),
                origin,
                "ask for no more than it has",
            ));
        }
        match &mut self {
            Self::Disk(disk) => overrides.apply_to_disk(disk),
            Self::Ssd(ssd) => overrides.apply_to_ssd(ssd, origin)?,
        }
        self.checked(origin)
    }
}

impl Overrides {
    fn apply_to_disk(&self, disk: &mut DiskProfile) {
        disk.queue.depth = self.depth.unwrap_or(disk.queue.depth);
        disk.queue.policy = self.policy.unwrap_or(disk.queue.policy);
        disk.cache.write = self.write.unwrap_or(disk.cache.write);
        disk.cache.read_ahead_kib = self.read_ahead_kib.unwrap_or(disk.cache.read_ahead_kib);
        disk.geometry.sectors = self.sectors.or(disk.geometry.sectors);
    }

    fn apply_to_ssd(&self, ssd: &mut SsdProfile, origin: &str) -> Result<(), Fault> {
        if self.policy.is_some() || self.read_ahead_kib.is_some() {
            return Err(Fault::new(
                "an SSD has neither a queue policy nor read-ahead",
                origin,
                "leave policy and read_ahead_kib away, or choose a disk",
            ));
        }
        ssd.queue.depth = self.depth.unwrap_or(ssd.queue.depth);
        match self.write {
            Some(WriteCache::Through) => ssd.cache.write_kib = 0,
            Some(WriteCache::Back) if ssd.cache.write_kib == 0 => {
                return Err(Fault::new(
                    "it has no write cache",
                    origin,
                    "give cache.write_kib in a file of its own",
                ));
            }
            _ => {}
        }
        if let Some(sectors) = self.sectors {
            let least = ssd.least_sectors().unwrap_or(ssd.sectors());
            if sectors < least {
                return Err(Fault::new(
                    format!(
                        "{sectors} sectors with their share of spare blocks are too few to collect"
                    ),
                    origin,
                    format!("ask for {least} sectors or more"),
                ));
            }
            ssd.flash.set_sectors(sectors);
        }
        Ok(())
    }
}
