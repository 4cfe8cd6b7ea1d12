//! Whether a file system has room for a tree.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::layout::Layout;
use crate::failure::Failure;
use crate::model::Fileset;

pub const SMALLER: &str = "choose a smaller scale or a larger file system";
pub const OTHER_DIR: &str = "choose another --set dir";

/// What a tree that is there already holds.
#[derive(Clone, Copy, Default)]
pub struct Held {
    pub bytes: u64,
    pub inodes: u64,
}

/// Refuse a file system that has not half the space for the files of a fileset in the mean, before
/// they are laid out: that takes memory for each.
pub fn refuse_hopeless(fileset: &Fileset) -> Result<(), Failure> {
    let parent = Path::new(&fileset.path);
    let root = parent.join(&fileset.name);
    if root.exists() || !parent.is_dir() {
        return Ok(());
    }
    let disk = free(parent)?;
    let bytes = fileset.mean_size_b() * fileset.prealloc_percent / 100.0;
    let free_b = disk.f_bavail as f64 * disk.f_frsize.max(1) as f64;
    if bytes / 2.0 > free_b {
        return Err(too_small(
            &root.display().to_string(),
            parent,
            bytes,
            free_b,
        ));
    }
    Ok(())
}

fn too_small(root: &str, parent: &Path, needed_b: f64, free_b: f64) -> Failure {
    let mib = f64::from(1 << 20);
    Failure::new(
        format!(
            "no space for {root}: it needs {:.1} MiB and {} has {:.1} MiB free",
            needed_b / mib,
            parent.display(),
            free_b / mib,
        ),
        SMALLER,
    )
}

/// What a file system has free.
fn free(parent: &Path) -> Result<libc::statvfs, Failure> {
    let path = CString::new(parent.as_os_str().as_bytes())
        .map_err(|_| Failure::new("a path must not contain a zero byte", OTHER_DIR))?;
    // SAFETY: zeros are a valid statvfs, which the call fills in.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) } != 0 {
        let what = format!("cannot ask {} for its free space", parent.display());
        return Err(Failure::io(what, &io::Error::last_os_error()));
    }
    Ok(disk)
}

/// Refuse a file system that is too small, before anything is written or removed.
pub fn check(parent: &Path, layout: &Layout, held: Held) -> Result<(), Failure> {
    let disk = free(parent)?;
    let block = disk.f_frsize.max(1);
    let directories = layout.directories.len() + layout.existing_leafdirs().count();
    let blocks: u64 = layout
        .preallocated()
        .map(|(_, entry)| entry.size_b.div_ceil(block))
        .sum();
    let needed = blocks
        .saturating_add(directories as u64)
        .saturating_mul(block);
    let free = (disk.f_bavail * block).saturating_add(held.bytes);
    if needed > free {
        return Err(too_small(layout.root(), parent, needed as f64, free as f64));
    }
    let inodes = (layout.preallocated().count() + directories) as u64;
    let free = disk.f_favail.saturating_add(held.inodes);
    // Some file systems have no fixed number of inodes.
    if disk.f_files > 0 && inodes > free {
        return Err(Failure::new(
            format!(
                "no inodes for {}: it needs {inodes} and {} has {free} free",
                layout.root(),
                parent.display(),
            ),
            SMALLER,
        ));
    }
    Ok(())
}
