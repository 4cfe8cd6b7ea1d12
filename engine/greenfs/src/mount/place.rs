//! Where a volume is mounted, and of which flash a mount is.

use std::io;
use std::path::{Path, PathBuf};

use mounting::place::{detach, is_dead, mounted, mounted_on, resolved};

use crate::fault::Fault;
use crate::text;

const KIND: &str = "greenfs:";

/// The source of a mount of this flash, in the first column of /proc/mounts.
pub fn source(flash: &Path) -> String {
    // What separates mount options cannot stand in one.
    let path = text::encoded(flash.as_os_str());
    format!("{KIND}{}", path.replace(',', "%2c").replace('\\', "%5c"))
}

/// The flash folders of all volumes that are mounted and served.
pub fn mounted_flashes() -> Vec<PathBuf> {
    let all = mounted().unwrap_or_default().into_iter();
    let served = all.filter(|mount| mount.source.starts_with(KIND) && !is_dead(&mount.point));
    served.filter_map(|mount| flash_of(&mount.source)).collect()
}

fn flash_of(source: &str) -> Option<PathBuf> {
    text::decoded(source.strip_prefix(KIND)?).map(PathBuf::from)
}

/// The folder as the kernel names it, and the flash of the volume that is mounted on it; none if none
/// is.
///
/// # Errors
/// If there is no such folder.
pub fn mounted_flash(folder: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let folder = resolved(folder)?;
    let source = mounted_on(&folder)?;
    let flash = source.as_deref().and_then(flash_of);
    Ok(flash.map(|flash| (folder, flash)))
}

/// A folder that can be mounted on. A mount that a killed greenfs left on it is taken away.
///
/// # Errors
/// If there is no such folder, it is not empty, or something else is mounted on it.
pub fn claim(folder: &Path, flash: &Path) -> Result<PathBuf, Fault> {
    let failed = |error: io::Error| {
        let next = "make it with `mkdir -p`, or name another folder";
        Fault::new(
            format!("this folder cannot be mounted on: {error}"),
            folder,
            next,
        )
    };
    let place = resolved(folder).map_err(failed)?;
    while let Some(source) = mounted_on(&place).map_err(failed)? {
        if flash_of(&source).as_deref() != Some(flash) || !is_dead(&place) {
            return Err(Fault::new(
                format!("'{source}' is mounted there"),
                folder,
                "unmount it (`greenfs umount` if it is a volume), or name another folder",
            ));
        }
        detach(&place).map_err(failed)?;
    }
    let mut entries = std::fs::read_dir(&place).map_err(failed)?;
    if entries.next().is_some() {
        let next = "name an empty folder: what is in this one would be hidden";
        return Err(Fault::new("this folder is not empty", folder, next));
    }
    Ok(place)
}
