//! The folder that is mounted on, and what a killed server left there.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Take the lock of an open file or folder for this process, or fail if another one has it.
///
/// # Errors
/// If another process has it, or the file system has no locks.
pub fn lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Take a mount out of the tree of files at once; it ends when its last user does.
///
/// # Errors
/// If nothing is mounted there, or it is another user's.
pub fn detach(mount: &Path) -> io::Result<()> {
    unmount(mount, true)
}

/// Take a mount out of the tree of files; also as its plain user, by `fusermount3`.
///
/// # Errors
/// If it is in use and not lazy, nothing is mounted there, or it is another user's.
pub fn unmount(mount: &Path, is_lazy: bool) -> io::Result<()> {
    let path = CString::new(mount.as_os_str().as_bytes())?;
    let flags = if is_lazy { libc::MNT_DETACH } else { 0 };
    // SAFETY: the path is a valid string.
    if unsafe { libc::umount2(path.as_ptr(), flags) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() != Some(libc::EPERM) {
        return Err(error);
    }
    let mut helper = Command::new("fusermount3");
    helper.args(if is_lazy { &["-u", "-z"][..] } else { &["-u"] });
    let output = helper.arg("--").arg(mount).stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

/// Whether the server of a mount is gone.
pub fn is_dead(mount: &Path) -> bool {
    let Ok(path) = CString::new(mount.as_os_str().as_bytes()) else {
        return false;
    };
    // What stat(2) asks for, the kernel may still know.
    // SAFETY: zeros are a valid structure, which the call fills in; the path is a valid string.
    let asked = unsafe {
        let mut space: libc::statfs = std::mem::zeroed();
        libc::statfs(path.as_ptr(), &raw mut space)
    };
    asked != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOTCONN)
}

/// The path as the kernel names it; that of a dead mount cannot be asked for, but its parent's.
///
/// # Errors
/// If there is nothing.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    let error = match fs::canonicalize(path) {
        Ok(resolved) => return Ok(resolved),
        Err(error) => error,
    };
    match (error.raw_os_error(), path.file_name()) {
        (Some(libc::ENOTCONN), Some(name)) => {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            Ok(fs::canonicalize(parent.unwrap_or(Path::new(".")))?.join(name))
        }
        _ => Err(error),
    }
}

/// A mount, as the kernel's table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// Major and minor number of its device; major 0 is none of a disk.
    pub device: (u32, u32),
    pub point: PathBuf,
    /// The type of the file system.
    pub kind: String,
    pub source: String,
}

/// The source of the topmost mount on a folder.
///
/// # Errors
/// If the kernel's table cannot be read.
pub fn mounted_on(path: &Path) -> io::Result<Option<String>> {
    let found = mounted()?.into_iter().rfind(|mount| mount.point == path);
    Ok(found.map(|mount| mount.source))
}

/// Everything that is mounted, as this process sees it.
///
/// # Errors
/// If the kernel's table cannot be read.
pub fn mounted() -> io::Result<Vec<Mounted>> {
    let table = fs::read("/proc/self/mountinfo")?;
    Ok(mounts(&String::from_utf8_lossy(&table)))
}

/// The mounts of the text of /proc/self/mountinfo (proc(5)), in its order.
pub fn mounts(table: &str) -> Vec<Mounted> {
    table.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mounted> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(2);
    let (major, minor) = before.next()?.split_once(':')?;
    let mut after = after.split(' ');
    Some(Mounted {
        device: (major.parse().ok()?, minor.parse().ok()?),
        point: unescaped(before.nth(1)?).into(),
        kind: unescaped(after.next()?),
        source: unescaped(after.next()?),
    })
}

/// A path as tables of the kernel have it: blank, tab, newline and backslash are octal there.
pub fn unescaped(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (code, plain)| {
        text.replace(code, plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a blank in its name would never be found mounted, and be mounted twice.
    #[test]
    fn mounts_are_read_from_the_kernels_table() {
        let line = "36 35 98:0 /mnt1 /a\\040place rw,noatime master:1 - fuse fsgreen-simdisk rw";
        let expected = Mounted {
            device: (98, 0),
            point: "/a place".into(),
            kind: "fuse".into(),
            source: "fsgreen-simdisk".into(),
        };
        assert_eq!(mount(line), Some(expected));
        assert_eq!(mount("36 35 98:0"), None);
    }
}
