//! What the kernel calls a block device, and what belongs to it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The folder of a block device in sysfs.
pub fn folder(name: &str) -> PathBuf {
    Path::new("/sys/class/block").join(name)
}

/// The kernel's name (`sda1`) of the device of a number, whatever its node is called.
pub fn name(number: u64) -> Result<String, Failure> {
    let (major, minor) = (libc::major(number), libc::minor(number));
    let link = format!("/sys/dev/block/{major}:{minor}");
    let found = fs::canonicalize(&link).map_err(|error| Failure::io(&link, &error))?;
    Ok(last_name(&found))
}

/// The number of a block device, by its name.
pub fn number(name: &str) -> Option<u64> {
    let text = line(&folder(name).join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some(libc::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// The kernel's name of a block device given by any path; None for anything else.
pub fn name_of_path(path: &str) -> Option<String> {
    // A file that was removed while it is in use.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    let found = fs::metadata(path).ok()?;
    let is_device = path.starts_with('/') && found.file_type().is_block_device();
    is_device.then(|| name(found.rdev()).ok())?
}

/// The whole disk that a partition is of; the device itself if it is none.
pub fn disk(name: &str) -> String {
    let folder = fs::canonicalize(folder(name)).unwrap_or_default();
    match folder.parent() {
        Some(parent) if folder.join("partition").exists() => last_name(parent),
        _ => name.to_owned(),
    }
}

/// A device, its whole disk, and the partitions of the device itself.
pub fn family(name: &str) -> Vec<String> {
    let mut family = vec![name.to_owned()];
    let items = fs::read_dir(folder(name)).into_iter().flatten().flatten();
    let partitions = items.filter(|item| item.path().join("partition").exists());
    family.extend(partitions.map(|item| last_name(&item.path())));
    let disk = disk(name);
    if disk != name {
        family.push(disk);
    }
    family
}

/// The first line of a file of sysfs or procfs.
pub fn line(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let line = text.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).trim().to_owned();
    (!line.is_empty()).then_some(line)
}

fn last_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
