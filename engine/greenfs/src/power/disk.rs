//! The disk below one folder.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use crate::power::account::{Starts, State};
use crate::power::below::Number;
use crate::power::machine::Machine;
use crate::power::simulated;
use crate::sys;

/// A disk that may be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// As the kernel names it: `sdb`.
    name: String,
    /// Where a simulated one takes orders.
    control: Option<PathBuf>,
}

impl Disk {
    /// Its file.
    fn node(&self) -> PathBuf {
        // A slash in the name of a device is written so.
        Path::new("/dev").join(self.name.replace('!', "/"))
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node().display())
    }
}

/// The disk that a folder lies on, and how it is stopped.
pub struct Power {
    machine: Machine,
    folder: PathBuf,
    /// What must not lie on it, as a person calls that, and the devices on which that is.
    others: Vec<(String, Vec<Number>)>,
    /// A line for `sh` that stops it, in place of the known ways.
    command: Option<String>,
    found: Mutex<Option<Disk>>,
}

impl Power {
    /// The disk below a folder, on which these other folders must not lie. They are looked at now, and
    /// not again: one may be on a server that hangs.
    pub fn new(
        machine: Machine,
        folder: PathBuf,
        others: &[(&str, &Path)],
        command: Option<String>,
    ) -> Self {
        let devices = |(name, folder): &(&str, &Path)| {
            let devices = machine.devices_of(folder).unwrap_or_default();
            (format!("the {name}"), devices)
        };
        Self {
            others: others.iter().map(devices).collect(),
            machine,
            folder,
            command,
            found: Mutex::default(),
        }
    }

    fn found(&self) -> MutexGuard<'_, Option<Disk>> {
        self.found.lock().expect("a panic ends this process")
    }

    /// The disk that was last found: to ask for that does not touch the folder.
    pub fn known(&self) -> Option<Disk> {
        self.found().clone()
    }

    /// Find the disk. This looks at the folder, and may wake it.
    ///
    /// # Errors
    /// If there is none that can be stopped, or others would wake it at once; in words.
    pub fn find(&self) -> Result<Disk, String> {
        let found = self.look();
        *self.found() = found.clone().ok();
        found
    }

    fn look(&self) -> Result<Disk, String> {
        let machine = &self.machine;
        let unknown = |error: io::Error| format!("it is not known on which disk it lies: {error}");
        let own = machine.devices_of(&self.folder).map_err(unknown)?;
        let mut names = BTreeSet::new();
        for device in &own {
            names.extend(machine.disks_below(*device).map_err(unknown)?);
        }
        let names: Vec<String> = names.into_iter().collect();
        let [name] = &names[..] else {
            return Err(match names.is_empty() {
                true => "it lies on no disk of this machine".into(),
                false => format!("it lies on several disks: {}", names.join(", ")),
            });
        };
        let disk = Disk {
            name: name.clone(),
            control: machine.control_of(name),
        };
        let turns = machine.says(format!("block/{name}/queue/rotational"));
        if disk.control.is_none() && turns.as_deref() != Some("1") {
            return Err(format!("nothing turns in {disk}"));
        }
        let mut beside = machine.beside(name, &own)?;
        let others = self.others.iter();
        let others = others.filter(|(_, devices)| machine.lies_on(name, devices));
        beside.extend(others.map(|(other, _)| other.clone()));
        match beside.is_empty() {
            true => Ok(disk),
            false => {
                let all: Vec<String> = beside.into_iter().collect();
                Err(format!("on {disk} is also {}", all.join(", ")))
            }
        }
    }

    /// Whether a disk turns; to ask does not wake it.
    pub fn state(&self, disk: &Disk) -> State {
        match &disk.control {
            Some(control) => simulated::state(control).unwrap_or(State::Unknown),
            None => self.machine.state(&disk.name, &disk.node()),
        }
    }

    /// How often a disk was started; none if it does not say so, or is in standby.
    pub fn starts(&self, disk: &Disk) -> Option<Starts> {
        match &disk.control {
            Some(control) => simulated::starts(control).ok(),
            None => self.machine.starts(&disk.name, &disk.node()),
        }
    }

    /// What the kernel has counted of a disk: equal texts mean that nothing was read or written.
    pub fn activity(&self, disk: &Disk) -> Option<String> {
        self.machine.says(format!("block/{}/stat", disk.name))
    }

    /// Let the file system of the folder write what it would write later, and start the disk for.
    ///
    /// # Errors
    /// If that fails; in words.
    pub fn settle(&self) -> Result<(), String> {
        let written = File::open(&self.folder).and_then(|folder| sys::sync_file_system(&folder));
        written.map_err(|error| format!("what is written there is not durable: {error}"))
    }

    /// Stop a disk. Whatever is read or written then starts it again.
    ///
    /// # Errors
    /// If it cannot be stopped; in words.
    pub fn stop(&self, disk: &Disk) -> Result<(), String> {
        match (&self.command, &disk.control) {
            (Some(line), _) => self.machine.stop_by_command(line, &disk.node()),
            (None, Some(control)) => simulated::stop(control),
            (None, None) => self.machine.stop(&disk.name, &disk.node()),
        }
    }
}
