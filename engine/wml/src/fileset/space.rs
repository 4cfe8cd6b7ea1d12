//! Whether a file system has room for a tree.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::layout::{Layout, is_device};
use super::tree::{Held, Tree};
use crate::failure::Failure;
use crate::model::Fileset;
use crate::mounts::{self, Mount};
use crate::random::{Amount, Stream};

pub const SMALLER: &str = "choose a smaller scale or a larger file system";
pub const OTHER_DIR: &str = "choose another --set dir";

/// What a tree takes of a file system.
struct Needed {
    bytes: u128,
    inodes: u64,
}

/// Refuse a file system that cannot hold a fileset of many files, before they are laid out: that
/// takes memory for each.
pub fn refuse_hopeless(fileset: &Fileset) -> Result<(), Failure> {
    const MANY: u64 = 100_000;
    let is_small = fileset.entries + fileset.leafdirs < MANY;
    if is_small || !Path::new(&fileset.path).is_dir() {
        return Ok(());
    }
    refuse_too_large(fileset)
}

/// Refuse a fileset that has no room where it is to stand, or on no local file system as long as
/// that place is not there. It is not laid out; what it takes is estimated, and rather too little.
pub fn refuse_too_large(fileset: &Fileset) -> Result<(), Failure> {
    let parent = Path::new(&fileset.path);
    let root = parent.join(&fileset.name);
    if is_device(&root) || fileset.trusttree && root.is_dir() {
        return Ok(());
    }
    let name = root.display().to_string();
    if !parent.is_dir() {
        return refuse_everywhere(&name, fileset);
    }
    let disk = free(parent)?;
    let needed = least(fileset, block_b(&disk));
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
    let blocks = files.map(|(_, entry)| u128::from(entry.size_b.div_ceil(block_b(&disk))));
    let needed = Needed {
        bytes: (blocks.sum::<u128>() + u128::from(directories)) * u128::from(block_b(&disk)),
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
    let blocks = (files as f64 * blocks_each) as u128 + u128::from(leafdirs);
    Needed {
        bytes: blocks * u128::from(block_b),
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
    let free_b = u128::from(disk.f_bavail) * u128::from(block_b(disk)) + u128::from(held.bytes);
    if needed.bytes > free_b {
        return too_small("space", size(needed.bytes), size(free_b));
    }
    let free = disk.f_favail.saturating_add(held.inodes);
    // Some file systems have no fixed number of inodes.
    if disk.f_files > 0 && needed.inodes > free {
        return too_small("inodes", needed.inodes.to_string(), free.to_string());
    }
    Ok(())
}

/// Refuse what is larger than the largest local file system.
fn refuse_everywhere(root: &str, fileset: &Fileset) -> Result<(), Failure> {
    let local = mounts::all().into_iter().filter(is_local);
    let sized = local.filter_map(|mount| {
        let disk = free(&mount.point).ok()?;
        let whole_b = u128::from(disk.f_blocks) * u128::from(block_b(&disk));
        Some((whole_b, block_b(&disk), mount.point))
    });
    let Some((largest_b, block_b, point)) = sized.max() else {
        return Ok(());
    };
    let needed = least(fileset, block_b);
    if needed.bytes <= largest_b {
        return Ok(());
    }
    let message = format!(
        "no space for {root}: it needs {}, and the largest local file system, {}, has {} in all",
        size(needed.bytes),
        point.display(),
        size(largest_b),
    );
    Err(Failure::new(message, SMALLER))
}

/// Whether a file system answers without a network or another program, which may be gone.
fn is_local(mount: &Mount) -> bool {
    const WITHOUT_DEVICE: [&str; 3] = ["tmpfs", "overlay", "zfs"];
    let is_kernel = !mount.kind.starts_with("fuse");
    is_kernel && (mount.source.starts_with("/dev/") || WITHOUT_DEVICE.contains(&&*mount.kind))
}

/// A number of bytes for people.
fn size(bytes: u128) -> String {
    const STEP: f64 = 1024.0;
    let mut number = bytes as f64 / STEP / STEP;
    let mut units = ["MiB", "GiB", "TiB", "PiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if number < STEP {
            break;
        }
        (number, unit) = (number / STEP, larger);
    }
    format!("{number:.1} {unit}")
}

fn block_b(disk: &libc::statvfs) -> u64 {
    disk.f_frsize.max(1)
}

/// What a file system has, and has free.
fn free(place: &Path) -> Result<libc::statvfs, Failure> {
    let path = CString::new(place.as_os_str().as_bytes())
        .map_err(|_| Failure::new("a path must not contain a zero byte", OTHER_DIR))?;
    // SAFETY: zeros are a valid statvfs, which the call fills in.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) } != 0 {
        let what = format!("cannot ask {} for its free space", place.display());
        return Err(Failure::io(what, &io::Error::last_os_error()));
    }
    Ok(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_a_unit_that_people_read() {
        for (bytes, told) in [
            (0, "0.0 MiB"),
            (3 << 19, "1.5 MiB"),
            (1 << 30, "1.0 GiB"),
            (10_000_000 << 43, "78125.0 PiB"),
        ] {
            assert_eq!(size(bytes), told);
        }
    }

    #[test]
    fn a_mount_that_may_not_answer_is_not_asked() {
        let is_local = |kind: &str, source: &str| {
            is_local(&Mount {
                point: "/x".into(),
                kind: kind.into(),
                source: source.into(),
                options: String::new(),
            })
        };
        assert!(is_local("ext4", "/dev/vda") && is_local("tmpfs", "tmpfs"));
        assert!(!is_local("nfs4", "server:/export") && !is_local("fuse.sshfs", "/dev/fuse"));
        assert!(!is_local("proc", "proc"));
    }
}
