//! Block devices that a run overwrites: confirmed by what only they are, used by nobody else, and
//! held from before the checks until the run has ended.

mod identity;
mod kernel;
mod loops;
mod refusal;
mod usage;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use identity::Identity;
use refusal::Refusal;

/// That everything on a device may be destroyed (`--overwrite DEVICE=IDENTITY`).
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub device: PathBuf,
    /// Its serial number; of a loop device, the file behind it.
    pub identity: String,
}

/// Open a device that may be overwritten, so that nobody can mount or format it until the file is
/// closed. Refuses a device that is not confirmed, and one that is in use in any way.
pub fn hold(device: &Path, confirmations: &[Confirmation]) -> Result<File, Failure> {
    let refused = |Refusal { why, next }| {
        let message = format!("refused to overwrite {}: {why}", device.display());
        Failure::new(message, next)
    };
    let in_use = |why: &str| {
        let next = format!("lsblk {}, then stop what uses it", device.display());
        let why = why.to_owned();
        refused(Refusal { why, next })
    };
    let cannot =
        |error: &io::Error| Failure::io(format!("cannot open {}", device.display()), error);
    let number = device.metadata().map_err(|error| cannot(&error))?.rdev();
    let name = kernel::name(number)?;
    let alone = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(device);
    let held = match alone {
        Ok(held) if held.metadata().is_ok_and(|found| found.rdev() == number) => held,
        Ok(_) => return Err(in_use("another device has got its name")),
        Err(error) => {
            let is_busy = error.raw_os_error() == Some(libc::EBUSY);
            if !is_busy {
                return Err(cannot(&error));
            }
            let known = usage::of(&name).map_err(refused)?;
            let why = known.unwrap_or_else(|| "another program has it alone".to_owned());
            return Err(in_use(&why));
        }
    };
    let identity = identity::of(&name).map_err(refused)?;
    let confirmed = confirmations.iter().find(|confirmation| {
        let found = confirmation.device.metadata();
        found.is_ok_and(|found| found.rdev() == number)
    });
    match confirmed {
        None => {
            let (what, show) = match identity {
                Identity::Serial(_) => ("SERIAL", "lsblk -o NAME,SERIAL,SIZE,FSTYPE,LABEL"),
                Identity::File(_) => ("FILE", "losetup --list"),
            };
            let path = device.display();
            let why = match signatures(device) {
                Some(found) => format!("it holds {found}, and nothing confirms it"),
                None => "nothing confirms it".to_owned(),
            };
            let next = format!(
                "if everything on it may be destroyed, add --overwrite {path}={what} with what \
                 this shows: {show} {path}"
            );
            return Err(refused(Refusal { why, next }));
        }
        Some(confirmation) if !identity.is(&confirmation.identity) => {
            let why = format!("it is {identity}, and not {}", confirmation.identity);
            let next = "correct --overwrite".to_owned();
            return Err(refused(Refusal { why, next }));
        }
        Some(_) => {}
    }
    match usage::of(&name).map_err(refused)? {
        Some(how) => Err(in_use(&how)),
        None => Ok(held),
    }
}

/// The kinds of file systems, partition tables ... on a device, for people; None where nothing is
/// known of any.
fn signatures(device: &Path) -> Option<String> {
    let mut wipefs = Command::new("wipefs");
    wipefs.args(["--no-act", "--noheadings", "--output", "TYPE"]);
    let output = wipefs.arg(device).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut kinds: Vec<&str> = text.split_whitespace().collect();
    kinds.dedup();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}
