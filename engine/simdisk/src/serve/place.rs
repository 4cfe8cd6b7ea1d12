//! The folder in which a disk appears: one server each, and no dead mount in the way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::profile::Fault;
use crate::serve::sys;

/// The name of the mounts, in the first column of /proc/mounts.
pub const MOUNT_NAME: &str = "fsgreen-simdisk";

/// The name of the device's file.
pub const FILE_NAME: &str = "disk";

/// A folder that this server alone mounts on.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    /// Holds the lock of the folder below the mount.
    _folder: File,
}

impl Place {
    /// Take a folder. A mount that a killed server left on it is detached.
    ///
    /// # Errors
    /// If there is no such folder, or something is mounted on it or uses it.
    pub fn claim(path: &Path) -> Result<Self, Fault> {
        let origin = path.display().to_string();
        let failed = |error: io::Error| {
            Fault::new(
                format!("the folder cannot be used: {error}"),
                origin.clone(),
                "make it with `mkdir -p`, or give another --at",
            )
        };
        let path = resolved(path).map_err(failed)?;
        while let Some(name) = mounted_on(&path).map_err(failed)? {
            let is_dead = fs::metadata(&path)
                .is_err_and(|error| error.raw_os_error() == Some(libc::ENOTCONN));
            if name != MOUNT_NAME || !is_dead {
                return Err(Fault::new(
                    format!("'{name}' is mounted there"),
                    origin,
                    "end the server that it belongs to, or give another --at",
                ));
            }
            sys::detach(&path).map_err(failed)?;
        }
        let folder = File::open(&path).map_err(failed)?;
        if !folder.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        sys::lock(&folder).map_err(|_| {
            Fault::new(
                "another server uses this folder",
                origin,
                "end that one, or give another --at",
            )
        })?;
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device's file, once it is mounted.
    pub fn disk(&self) -> PathBuf {
        self.path.join(FILE_NAME)
    }

    /// Take the mount out of the tree of files, even if it is in use.
    pub fn leave(&self) {
        // Without a mount there is nothing to do.
        let _ = sys::detach(&self.path);
    }
}

/// The path as the kernel names it; that of a dead mount cannot be asked for, but its parent's.
fn resolved(path: &Path) -> io::Result<PathBuf> {
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

/// The source of the topmost mount on a folder.
fn mounted_on(path: &Path) -> io::Result<Option<String>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let mut found = table
        .lines()
        .filter_map(mount)
        .filter(|(point, _)| Path::new(point) == path);
    Ok(found.next_back().map(|(_, source)| source))
}

/// Mount point and source of a line of mountinfo (proc(5)).
fn mount(line: &str) -> Option<(String, String)> {
    let point = line.split(' ').nth(4)?;
    let (_, after) = line.split_once(" - ")?;
    let source = after.split(' ').nth(1)?;
    Some((unescaped(point), unescaped(source)))
}

/// Blank, tab, newline and backslash are written in octal there.
fn unescaped(text: &str) -> String {
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
        let expected = ("/a place".to_owned(), MOUNT_NAME.to_owned());
        assert_eq!(mount(line), Some(expected));
        assert_eq!(mount("36 35 98:0"), None);
    }
}
