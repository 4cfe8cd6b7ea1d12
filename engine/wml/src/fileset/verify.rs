//! Checking a tree that was made before.

use std::fs::{self, Metadata};

use super::device;
use super::files::Files;
use super::layout::as_path;
use crate::failure::Failure;

/// Files, and leaf directories, that are looked at.
const SAMPLE: usize = 64;

/// Check that a tree is as `prepare` left it: a sample of its files with their sizes, one of its
/// leaf directories, and that those of both which should be absent are.
pub fn verify(files: &Files) -> Result<(), Failure> {
    let layout = &files.layout;
    if layout.is_device() {
        return device::check(files);
    }
    let mut path = Vec::new();
    for nth in sample(layout.entries.len()) {
        layout.path_into(nth, &mut path);
        let entry = layout.entries[nth];
        let expected = entry
            .preallocated
            .then(|| format!("{} bytes", entry.size_b));
        check(&path, expected, |found| match found.is_file() {
            true => format!("{} bytes", found.len()),
            false => "no regular file".to_owned(),
        })?;
    }
    for nth in sample(layout.leafdirs.len()) {
        layout.leafdir_path_into(nth, &mut path);
        let expected = layout.leafdirs[nth]
            .preallocated
            .then(|| "a directory".to_owned());
        check(&path, expected, |found| match found.is_dir() {
            true => "a directory".to_owned(),
            false => "a file".to_owned(),
        })?;
    }
    Ok(())
}

fn sample(count: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(count.div_ceil(SAMPLE).max(1))
}

fn check(
    path: &[u8],
    expected: Option<String>,
    describe: impl Fn(&Metadata) -> String,
) -> Result<(), Failure> {
    let path = as_path(path);
    let found = fs::symlink_metadata(path).ok().as_ref().map(describe);
    if found == expected {
        return Ok(());
    }
    let say = |state: Option<String>| state.unwrap_or_else(|| "no file".to_owned());
    let message = format!(
        "{} is not as prepared with this seed ({} instead of {})",
        path.display(),
        say(found),
        say(expected),
    );
    Err(Failure::new(message, "prepare it again"))
}
