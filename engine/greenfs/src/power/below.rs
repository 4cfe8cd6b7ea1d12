//! Which disks a folder lies on: through partitions, through what maps devices, and through files
//! that are devices.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use mounting::place::{Mounted, mounts};

use crate::power::machine::Machine;
use crate::power::simulated;

/// The major and minor number of a device.
pub type Number = (u32, u32);

/// Files that are devices on devices that are files, at most.
const DEEPEST: usize = 16;

fn number(device: u64) -> Number {
    (libc::major(device), libc::minor(device))
}

impl Machine {
    /// Everything that is mounted.
    ///
    /// # Errors
    /// If the kernel's table cannot be read.
    pub fn mounts(&self) -> io::Result<Vec<Mounted>> {
        let table = fs::read(self.proc.join("self/mountinfo"))?;
        Ok(mounts(&String::from_utf8_lossy(&table)))
    }

    /// The devices of the file system that a path is on; none if it is on no device.
    ///
    /// # Errors
    /// If there is nothing, or the kernel's table cannot be read.
    pub fn devices_of(&self, path: &Path) -> io::Result<Vec<Number>> {
        let found = number(path.metadata()?.dev());
        if found.0 != 0 {
            return Ok(vec![found]);
        }
        let path = fs::canonicalize(path)?;
        let mounts = self.mounts()?.into_iter();
        let holding = mounts
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count());
        Ok(holding.map_or_else(Vec::new, |mount| self.devices_of_mount(&mount)))
    }

    /// The devices of a mount; none if it is of no device.
    pub fn devices_of_mount(&self, mount: &Mounted) -> Vec<Number> {
        if mount.device.0 != 0 {
            return vec![mount.device];
        }
        // A file system of several devices names one of them, and has a number of its own.
        let source = Path::new(&mount.source);
        let device = source.starts_with("/dev").then(|| device_file(source));
        device
            .flatten()
            .map_or_else(Vec::new, |device| self.with_siblings(device))
    }

    fn with_siblings(&self, device: Number) -> Vec<Number> {
        let volumes = entries(&self.sys.join("fs/btrfs"));
        let of_volume = volumes.into_iter().map(|volume| {
            let devices = entries(&volume.join("devices")).into_iter();
            let numbers = devices.filter_map(|device| parsed(&self.says(device.join("dev"))?));
            numbers.collect::<Vec<_>>()
        });
        let found = of_volume.into_iter().find(|all| all.contains(&device));
        found.unwrap_or_else(|| vec![device])
    }

    /// The names of the whole disks that a device lies on; a simulated disk is the loop device on it.
    ///
    /// # Errors
    /// If the kernel does not know the device.
    pub fn disks_below(&self, device: Number) -> io::Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        self.descend(device, DEEPEST, &mut found)?;
        Ok(found)
    }

    fn descend(
        &self,
        (major, minor): Number,
        left: usize,
        found: &mut BTreeSet<String>,
    ) -> io::Result<()> {
        let Some(left) = left.checked_sub(1) else {
            return Err(io::Error::other("devices lie on each other without an end"));
        };
        let link = self.sys.join(format!("dev/block/{major}:{minor}"));
        let mut device = fs::canonicalize(link)?;
        if device.join("partition").exists() {
            device.pop();
        }
        let below = entries(&device.join("slaves"));
        if !below.is_empty() {
            for device in below {
                let lower = self.says(device.join("dev")).and_then(|dev| parsed(&dev));
                let lower = lower.ok_or_else(|| io::Error::other("a device has no number"))?;
                self.descend(lower, left, found)?;
            }
            return Ok(());
        }
        let name = device.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        match self.backing_file(&name) {
            Some(file) if self.control_beside(&file).is_none() => {
                let devices = match device_file(&file) {
                    Some(device) => vec![device],
                    None => self.devices_of(&file)?,
                };
                for device in devices {
                    self.descend(device, left, found)?;
                }
            }
            _ => drop(found.insert(name)),
        }
        Ok(())
    }

    fn backing_file(&self, name: &str) -> Option<PathBuf> {
        let file = self.says(format!("block/{name}/loop/backing_file"))?;
        Some(file.into())
    }

    /// The socket of the simulated disk that a loop device is on; none if it is on none.
    pub fn control_of(&self, name: &str) -> Option<PathBuf> {
        self.control_beside(&self.backing_file(name)?)
    }

    fn control_beside(&self, file: &Path) -> Option<PathBuf> {
        let folder = file.parent()?;
        let mounts = self.mounts().ok()?;
        let top = mounts.into_iter().rfind(|mount| mount.point == folder)?;
        simulated::control(&top)
    }
}

/// The number of the device that a file is.
pub fn device_file(path: &Path) -> Option<Number> {
    let is_device = |found: &Metadata| found.file_type().is_block_device();
    let found = path.metadata().ok().filter(is_device)?;
    Some(number(found.rdev()))
}

fn parsed(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// What is in a folder; nothing if there is none.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}
