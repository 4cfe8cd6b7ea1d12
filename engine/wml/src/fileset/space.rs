//! Whether a file system has room for a tree.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::layout::{Layout, is_device};
use super::tree::{Held, Tree};
use crate::failure::Failure;
use crate::model::Fileset;
use crate::random::{Amount, Stream};

pub const SMALLER: &str = "choose a smaller scale or a larger file system";
pub const OTHER_DIR: &str = "choose another --set dir";

/// What a tree takes of a file system.
struct Needed {
    blocks: u64,
    inodes: u64,
}

/// Refuse a file system that cannot hold a fileset of many files, before they are laid out: that
/// takes memory for each.
pub fn refuse_hopeless(fileset: &Fileset) -> Result<(), Failure> {
    const MANY: u64 = 100_000;
    let parent = Path::new(&fileset.path);
    let root = parent.join(&fileset.name);
    let is_taken_as_it_is = is_device(&root) || fileset.trusttree && root.is_dir();
    let is_small = fileset.entries + fileset.leafdirs < MANY;
    if is_small || is_taken_as_it_is || !parent.is_dir() {
        return Ok(());
    }
    let disk = free(parent)?;
    let needed = least(fileset, block_b(&disk));
    let name = root.display().to_string();
    refuse(&name, parent, &disk, &needed, Held::default()).or_else(|failure| {
        let old = Tree::find(&root)?.ok_or(failure)?;
        refuse(&name, parent, &disk, &needed, old.held()?)
    })
}

/// Refuse a file system that is too small, before anything is written or removed.
pub fn check(parent: &Path, layout: &Layout, held: Held) -> Result<(), Failure> {
    let disk = free(parent)?;
    let directories = (layout.directories.len() + layout.existing_leafdirs().count()) as u64;
    let files = layout.preallocated();
    let blocks = files.map(|(_, entry)| entry.size_b.div_ceil(block_b(&disk)));
    let needed = Needed {
        blocks: blocks.sum::<u64>().saturating_add(directories),
        inodes: layout.preallocated().count() as u64 + directories,
    };
    refuse(layout.root(), parent, &disk, &needed, held)
}

/// Less than a layout of many files takes, by far more than chance may take off it.
fn least(fileset: &Fileset, block_b: u64) -> Needed {
    const DEVIATIONS: f64 = 6.0;
    let share = fileset.prealloc_percent / 100.0;
    let existing = |count: u64| {
        let mean = count as f64 * share;
        (mean - DEVIATIONS * (mean * (1.0 - share)).sqrt()).max(0.0) as u64
    };
    let blocks_each = match &fileset.size {
        Amount::Fixed(size_b) => (size_b.round() / block_b as f64).ceil(),
        // Half of the mean, of which each file that is not empty takes a block.
        size => {
            const DRAWS: u32 = 1000;
            let mut stream = Stream::new(0, &["space"]);
            let filled = (0..DRAWS).filter(|_| size.draw(&mut stream) > 0).count();
            let filled = filled as f64 / f64::from(DRAWS);
            filled.max(size.mean() / block_b as f64) / 2.0
        }
    };
    let (files, leafdirs) = (existing(fileset.entries), existing(fileset.leafdirs));
    Needed {
        blocks: (files as f64 * blocks_each) as u64 + leafdirs,
        inodes: files + leafdirs,
    }
}

fn refuse(
    root: &str,
    parent: &Path,
    disk: &libc::statvfs,
    needed: &Needed,
    held: Held,
) -> Result<(), Failure> {
    let too_small = |what: &str, needed: String, free: String| {
        let parent = parent.display();
        let message =
            format!("no {what} for {root}: it needs {needed} and {parent} has {free} free");
        Err(Failure::new(message, SMALLER))
    };
    let needed_b = needed.blocks.saturating_mul(block_b(disk));
    let free_b = (disk.f_bavail * block_b(disk)).saturating_add(held.bytes);
    if needed_b > free_b {
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        return too_small("space", mib(needed_b), mib(free_b));
    }
    let free = disk.f_favail.saturating_add(held.inodes);
    // Some file systems have no fixed number of inodes.
    if disk.f_files > 0 && needed.inodes > free {
        return too_small("inodes", needed.inodes.to_string(), free.to_string());
    }
    Ok(())
}

fn block_b(disk: &libc::statvfs) -> u64 {
    disk.f_frsize.max(1)
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
