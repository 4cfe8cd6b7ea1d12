//! What only one device is: a disk by its serial number, a loop device by the file behind it.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::kernel;

/// From linux/loop.h: the request, and the length of struct loop_info64, which begins with the
/// device and the inode of the file.
const LOOP_GET_STATUS64: u64 = 0x4C05;
const LOOP_INFO_B: usize = 232;

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

/// What only this device is, by the kernel's name of it; or why nothing can confirm it.
pub fn of(name: &str) -> Result<Identity, String> {
    let disk = kernel::disk(name);
    let folder = kernel::folder(&disk);
    if folder.join("loop").exists() || disk.starts_with("loop") {
        return backing(&disk).map(Identity::File);
    }
    let serial = serial(&folder);
    let lack = || "it has no serial number that could confirm it".to_owned();
    serial.map(Identity::Serial).ok_or_else(lack)
}

fn backing(disk: &str) -> Result<Backing, String> {
    let attached = || "no file is attached to it".to_owned();
    let file = file_of_loop(disk).ok_or_else(attached)?;
    let path = kernel::folder(disk).join("loop/backing_file");
    let path = PathBuf::from(kernel::line(&path).ok_or_else(attached)?);
    if fs::metadata(&path).is_ok_and(|found| found.file_type().is_block_device()) {
        let path = path.display();
        return Err(format!(
            "what is behind it is the device {path}, not a file"
        ));
    }
    let loops = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    for other in loops {
        let other = other.file_name().to_string_lossy().into_owned();
        let is_loop = kernel::folder(&other).join("loop/backing_file").exists();
        if is_loop && other != disk && file_of_loop(&other) == Some(file) {
            return Err(format!("its file is also behind /dev/{other}"));
        }
    }
    Ok(Backing { path, file })
}

/// Device and inode of the file behind a loop device.
fn file_of_loop(disk: &str) -> Option<(u64, u64)> {
    let device = File::open(Path::new("/dev").join(disk)).ok()?;
    let mut info = [0u64; LOOP_INFO_B / size_of::<u64>()];
    // SAFETY: the kernel fills in one loop_info64, which has room in the buffer.
    let done = unsafe {
        libc::ioctl(
            device.as_raw_fd(),
            LOOP_GET_STATUS64 as _,
            info.as_mut_ptr(),
        )
    };
    (done == 0).then_some((info[0], info[1]))
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
