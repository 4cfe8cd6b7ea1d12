//! Files and folders of a client that their owner may not read: a server that is not root may not,
//! either. They are open while they are read.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::branch::folder::Folder;
use crate::branch::store::Store;
use crate::sys;

/// The bit without which the owner cannot read a file.
const READING: u32 = 0o400;

/// The bits without which the owner cannot look at what is in a folder.
const LOOKING: u32 = 0o500;

/// What is open until this is dropped.
pub struct Opened {
    node: File,
    closed: Permissions,
}

impl Opened {
    fn new(node: File, bits: u32) -> io::Result<Self> {
        let closed = node.metadata()?.permissions();
        let open = Permissions::from_mode(closed.mode() | bits);
        fs::set_permissions(place(&node), open)?;
        Ok(Self { node, closed })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // What stays open the client closes, when it compares all.
        let _ = fs::set_permissions(place(&self.node), self.closed.clone());
    }
}

fn place(node: &File) -> String {
    format!("/proc/self/fd/{}", node.as_raw_fd())
}

/// The first bytes of a file.
pub fn read(folder: &Folder, path: &Path, most_b: usize) -> io::Result<Vec<u8>> {
    match folder.read(path, 0, most_b) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let _opened = Opened::new(folder.reach(path)?, READING).map_err(|_| error)?;
            folder.read(path, 0, most_b)
        }
        read => read,
    }
}

/// The names in a folder, and what keeps it open for who goes on to what they stand for.
pub fn list(folder: &Folder, path: &Path) -> io::Result<(Vec<OsString>, Option<Opened>)> {
    let node = folder.reach(path)?;
    let is_closed = node.metadata()?.permissions().mode() & LOOKING != LOOKING;
    let opened = match is_closed && !sys::is_root() {
        true => Opened::new(node, LOOKING).ok(),
        false => None,
    };
    Ok((folder.list(path)?, opened))
}
