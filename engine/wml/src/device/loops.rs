//! Loop devices, asked by their numbers: their nodes in /dev may be missing, or be of others.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::kernel;
use super::refusal::Refusal;

/// From linux/loop.h: the request, and the length of struct loop_info64, which begins with the
/// device and the inode of the file, and the number of the device that the file is.
const LOOP_GET_STATUS64: u64 = 0x4C05;
const LOOP_INFO_B: usize = 232;

/// What is behind a loop device.
pub struct Behind {
    /// The device and the inode of the file.
    pub file: (u64, u64),
    /// The number of the device that the file is; of no use for any other file.
    pub number: u64,
}

/// The loop devices with something behind them, by the kernel's names.
pub fn attached() -> impl Iterator<Item = String> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices
        .map(|device| device.file_name().to_string_lossy().into_owned())
        .filter(|name| backing_file(name).is_some())
}

/// The path of the file behind a loop device, as the kernel has it.
pub fn backing_file(name: &str) -> Option<String> {
    kernel::line(&kernel::folder(name).join("loop/backing_file"))
}

/// What the kernel says is behind a loop device; None if nothing is. Refuses one that cannot be
/// asked: anything may be behind it.
pub fn behind(name: &str) -> Result<Option<Behind>, Refusal> {
    match ask(name) {
        Ok(found) => Ok(Some(found)),
        // Detached, perhaps since it was listed.
        Err(_) if backing_file(name).is_none() => Ok(None),
        Err(error) => Err(Refusal {
            why: format!("the loop device {name} cannot be asked what is behind it ({error})"),
            next: format!("run it as root where /dev/{name} is, or: losetup --detach /dev/{name}"),
        }),
    }
}

fn ask(name: &str) -> io::Result<Behind> {
    let number = kernel::number(name).ok_or(io::ErrorKind::NotFound)?;
    let device = open(&Path::new("/dev").join(name), number).or_else(|_| open_privately(number))?;
    let mut info = [0u64; LOOP_INFO_B / size_of::<u64>()];
    // SAFETY: the kernel fills in one loop_info64, which has room in the buffer.
    let done = unsafe {
        libc::ioctl(
            device.as_raw_fd(),
            LOOP_GET_STATUS64 as _,
            info.as_mut_ptr(),
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let [device, inode, number, ..] = info;
    let file = (device, inode);
    Ok(Behind { file, number })
}

/// Open a node, if it is of this device.
fn open(node: &Path, number: u64) -> io::Result<File> {
    let device = File::open(node)?;
    let found = device.metadata()?;
    if found.file_type().is_block_device() && found.rdev() == number {
        return Ok(device);
    }
    Err(io::Error::from_raw_os_error(libc::ENODEV))
}

/// Open a device by a node of our own, which is gone afterwards.
fn open_privately(number: u64) -> io::Result<File> {
    let folder = std::env::temp_dir().join("fsgreen-node-XXXXXX");
    let mut folder = c_string(folder.as_os_str())?.into_bytes_with_nul();
    // SAFETY: ends in a zero byte, and the call changes only the last six bytes before it.
    if unsafe { libc::mkdtemp(folder.as_mut_ptr().cast()) }.is_null() {
        return Err(io::Error::last_os_error());
    }
    folder.pop();
    let folder = PathBuf::from(OsString::from_vec(folder));
    let node = folder.join("node");
    let path = c_string(node.as_os_str())?;
    // SAFETY: the path is valid for the call.
    let made = unsafe { libc::mknod(path.as_ptr(), libc::S_IFBLK | 0o600, number) };
    let device = match made {
        0 => open(&node, number),
        _ => Err(io::Error::last_os_error()),
    };
    let _ = fs::remove_file(&node);
    let _ = fs::remove_dir(&folder);
    device
}

fn c_string(path: &OsStr) -> io::Result<CString> {
    Ok(CString::new(path.as_bytes())?)
}
