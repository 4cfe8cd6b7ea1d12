//! What else lies on a disk, and would wake it at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mounting::place::unescaped;

use crate::power::below::{Number, device_file};
use crate::power::machine::Machine;

impl Machine {
    /// What is mounted or swapped to on a disk beside the file system on the devices `own`, in words.
    ///
    /// # Errors
    /// If the kernel's table cannot be read; in words.
    pub fn beside(&self, disk: &str, own: &[Number]) -> Result<BTreeSet<String>, String> {
        let mounts = self.mounts();
        let mounts = mounts.map_err(|error| format!("what is mounted is not known: {error}"))?;
        let mut found = BTreeSet::new();
        for mount in mounts {
            let devices = self.devices_of_mount(&mount);
            let is_root = mount.point == Path::new("/");
            let is_own = devices.iter().any(|device| own.contains(device));
            if (is_root || !is_own) && self.lies_on(disk, &devices) {
                found.insert(match is_root {
                    true => "the root file system".into(),
                    false => format!("what is mounted on {}", mount.point.display()),
                });
            }
        }
        for place in self.swaps() {
            let devices = match device_file(&place) {
                Some(device) => vec![device],
                None => self.devices_of(&place).unwrap_or_default(),
            };
            if self.lies_on(disk, &devices) {
                found.insert(format!("swap ({})", place.display()));
            }
        }
        Ok(found)
    }

    /// Whether any of these devices lies on a disk. What the kernel does not know lies on none.
    pub fn lies_on(&self, disk: &str, devices: &[Number]) -> bool {
        let mut below = devices.iter().flat_map(|device| self.disks_below(*device));
        below.any(|disks| disks.contains(disk))
    }

    /// Where memory is swapped to; nothing where nothing is.
    fn swaps(&self) -> Vec<PathBuf> {
        let table = fs::read_to_string(self.proc.join("swaps")).unwrap_or_default();
        let places = table.lines().skip(1);
        let places = places.filter_map(|line| line.split_whitespace().next());
        places.map(|place| unescaped(place).into()).collect()
    }
}
