//! What only one device is: a disk by its serial number, a loop device by the file behind it.

use std::fmt;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use super::{kernel, loops};

pub enum Identity {
    Serial(String),
    File(Backing),
}

/// The file behind a loop device.
pub struct Backing {
    path: PathBuf,
    /// Its device and inode.
    file: (u64, u64),
}

impl Identity {
    /// Whether that is what somebody says it is.
    pub fn is(&self, said: &str) -> bool {
        match self {
            Identity::Serial(serial) => serial == said,
            Identity::File(backing) => {
                fs::metadata(said).is_ok_and(|found| (found.dev(), found.ino()) == backing.file)
            }
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Serial(serial) => f.write_str(serial),
            Identity::File(backing) => write!(f, "{}", backing.path.display()),
        }
    }
}

/// What only this device is, by the kernel's name of it. Refuses one that nothing can confirm.
pub fn of(name: &str) -> Result<Identity, Refusal> {
    let disk = kernel::disk(name);
    let folder = kernel::folder(&disk);
    if folder.join("loop").exists() || disk.starts_with("loop") {
        return backing(&disk).map(Identity::File);
    }
    let serial = serial(&folder);
    let lack = || Refusal {
        why: "it has no serial number that could confirm it".to_owned(),
        next: "lsblk -o NAME,SERIAL; take a device that has one".to_owned(),
    };
    serial.map(Identity::Serial).ok_or_else(lack)
}

fn backing(disk: &str) -> Result<Backing, Refusal> {
    let refused = |why: String, next: String| Refusal { why, next };
    let attached = || {
        let why = "no file is attached to it".to_owned();
        refused(why, format!("losetup /dev/{disk} FILE"))
    };
    let file = loops::behind(disk)?.ok_or_else(attached)?.file;
    let path = PathBuf::from(loops::backing_file(disk).ok_or_else(attached)?);
    if fs::metadata(&path).is_ok_and(|found| found.file_type().is_block_device()) {
        let path = path.display();
        let why = format!("what is behind it is the device {path}, not a file");
        return Err(refused(why, format!("name {path} itself")));
    }
    for other in loops::attached().filter(|other| other != disk) {
        if loops::behind(&other)?.is_some_and(|found| found.file == file) {
            let why = format!("its file is also behind /dev/{other}");
            return Err(refused(why, format!("losetup --detach /dev/{other}")));
        }
    }
    Ok(Backing { path, file })
}

/// A disk's serial number as the kernel or udev has it.
fn serial(folder: &Path) -> Option<String> {
    let attributes = ["serial", "device/serial", "dm/uuid"];
    let known = attributes
        .iter()
        .find_map(|name| kernel::line(&folder.join(name)));
    known.or_else(|| unit_serial(folder)).or_else(|| {
        let number = kernel::line(&folder.join("dev"))?;
        let text = fs::read(format!("/run/udev/data/b{number}")).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let serial = text
            .lines()
            .find_map(|line| line.strip_prefix("E:ID_SERIAL_SHORT="))?;
        let serial = serial.trim();
        (!serial.is_empty()).then(|| serial.to_owned())
    })
}

/// The page of vital product data that holds a unit's serial number, behind 4 bytes (SPC-4).
fn unit_serial(folder: &Path) -> Option<String> {
    let page = fs::read(folder.join("device/vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?).into_owned();
    let serial = text.trim_matches(['\0', ' ']);
    (!serial.is_empty()).then(|| serial.to_owned())
}
