//! The ways to stop a disk, in the order in which they are tried. Each of them lets the next access
//! start it again.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::power::account::{self, State};
use crate::power::below::entries;
use crate::power::machine::Machine;

/// The kernel stops a disk by itself after that, while it is told to do so at once; and then not for
/// 24 days, the longest that it takes. Milliseconds.
const AT_ONCE_MS: &str = "0";
const NEVER_MS: &str = "2147483647";

/// A disk stops within that.
const LIMIT: Duration = Duration::from_secs(20);

const TICK: Duration = Duration::from_millis(100);

impl Machine {
    /// Whether a disk turns; asking does not wake it.
    pub fn state(&self, name: &str, disk: &Path) -> State {
        if self.is_suspended(name) {
            return State::Standby;
        }
        let said = self.succeed("hdparm", &[OsStr::new("-C"), disk.as_os_str()]);
        said.map_or(State::Unknown, |said| account::state(&said))
    }

    /// How often a disk was started; none if it does not say so, or is in standby.
    pub fn starts(&self, name: &str, disk: &Path) -> Option<account::Starts> {
        if self.is_suspended(name) {
            return None;
        }
        let words = ["-n", "standby", "-j", "-i", "-A"].map(OsStr::new);
        let words = [&words[..], &[disk.as_os_str()]].concat();
        // Its status also says how healthy the disk is.
        account::starts(&self.run("smartctl", &words).ok()?.text)
    }

    /// Stop a disk by a line for `sh`, in which `$1` is the disk.
    ///
    /// # Errors
    /// If that fails; in words.
    pub fn stop_by_command(&self, line: &str, disk: &Path) -> Result<(), String> {
        let words = ["-c", line, "sh"].map(OsStr::new);
        let words = [&words[..], &[disk.as_os_str()]].concat();
        self.succeed("sh", &words).map(drop)
    }

    /// Stop a disk by the first way that works.
    ///
    /// # Errors
    /// If none does: why not, in words.
    pub fn stop(&self, name: &str, disk: &Path) -> Result<(), String> {
        if self.is_suspended(name) {
            return Ok(());
        }
        let mut why = Vec::new();
        for stop in [Self::stop_ata, Self::stop_scsi, Self::suspend] {
            match stop(self, name, disk) {
                Ok(()) if self.state(name, disk) == State::Active => {
                    why.push("it goes on turning".into())
                }
                Ok(()) => return Ok(()),
                Err(error) => why.push(error),
            }
        }
        Err(why.join("; "))
    }

    fn stop_ata(&self, _: &str, disk: &Path) -> Result<(), String> {
        let words = [OsStr::new("-y"), disk.as_os_str()];
        self.succeed("hdparm", &words).map(drop)
    }

    /// A disk that was stopped so has to be told to start: the kernel must do that.
    fn stop_scsi(&self, name: &str, disk: &Path) -> Result<(), String> {
        match self.of_scsi(name, "allow_restart").as_deref() {
            Some("1") => {
                let words = [OsStr::new("--stop"), disk.as_os_str()];
                self.succeed("sg_start", &words).map(drop)
            }
            _ => Err("the kernel would not start it again (allow_restart)".into()),
        }
    }

    /// Whether the kernel has suspended a disk. Who asks the disk itself starts it then.
    fn is_suspended(&self, name: &str) -> bool {
        self.says(power(name, "runtime_status")).as_deref() == Some("suspended")
    }

    /// Let the kernel suspend the disk, once.
    fn suspend(&self, name: &str, _: &Path) -> Result<(), String> {
        let is_managed = ["manage_runtime_start_stop", "manage_start_stop"]
            .iter()
            .any(|file| self.of_scsi(name, file).as_deref() == Some("1"));
        let says = |file| self.says(power(name, file));
        let may_be = match says("control").as_deref() {
            Some("on") => true,
            // It is left so below; another delay is somebody else's.
            Some("auto") => says("autosuspend_delay_ms").as_deref() == Some(NEVER_MS),
            _ => false,
        };
        if !is_managed || !may_be {
            return Err("the kernel is not set to stop it (manage_runtime_start_stop)".into());
        }
        let set = |file: &str, to: &str| {
            let path = self.sys.join(power(name, file));
            fs::write(&path, to).map_err(|error| format!("{}: {error}", path.display()))
        };
        set("autosuspend_delay_ms", AT_ONCE_MS)?;
        set("control", "auto")?;
        let status = power(name, "runtime_status");
        let is_begun = self.wait_for(&status, |said| said != "active");
        // At once: with the delay of before, the kernel stops the disk after each use, also when this
        // process is gone.
        set("autosuspend_delay_ms", NEVER_MS)?;
        if !is_begun || !self.wait_for(&status, |said| said == "suspended") {
            set("control", "on")?;
            return Err("the kernel does not suspend it".into());
        }
        Ok(())
    }

    fn wait_for(&self, file: &Path, is_it: impl Fn(&str) -> bool) -> bool {
        let begun = Instant::now();
        while self.says(file).is_none_or(|said| !is_it(&said)) {
            if begun.elapsed() > LIMIT {
                return false;
            }
            thread::sleep(TICK);
        }
        true
    }

    /// What the kernel says of a SCSI disk.
    fn of_scsi(&self, name: &str, file: &str) -> Option<String> {
        let all = self.sys.join(format!("block/{name}/device/scsi_disk"));
        let disk = entries(&all).into_iter().next()?;
        self.says(disk.join(file))
    }
}

/// A file of the kernel's power management of a disk.
fn power(name: &str, file: &str) -> PathBuf {
    Path::new("block")
        .join(name)
        .join("device/power")
        .join(file)
}
