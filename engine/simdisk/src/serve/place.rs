//! The folder in which a disk appears: one server each, and no dead mount in the way.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mounting::place::{detach, is_dead, lock, mounted_on, resolved};

use crate::profile::Fault;

/// The name of the mounts, in the first column of /proc/mounts.
pub const MOUNT_NAME: &str = "fsgreen-simdisk";

/// The name of the device's file.
pub const FILE_NAME: &str = "disk";

/// The name of the link to the socket that takes orders.
pub const CONTROL_NAME: &str = "control";

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
            if name != MOUNT_NAME || !is_dead(&path) {
                return Err(Fault::new(
                    format!("'{name}' is mounted there"),
                    origin,
                    "end the server that it belongs to, or give another --at",
                ));
            }
            detach(&path).map_err(failed)?;
        }
        let folder = File::open(&path).map_err(failed)?;
        if !folder.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        lock(&folder).map_err(|_| {
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
        let _ = detach(&self.path);
    }
}
