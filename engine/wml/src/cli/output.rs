//! Writing results, whole or not at all.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::report::Report;

/// Stands for the standard output.
pub const DASH: &str = "-";

/// How every report begins.
const BEGIN: &[u8] = b"{\"schema\":";

/// Write a report to a file, or to the standard output if people do not look at that. What cannot
/// be written to its file is printed, so that it is not lost.
pub fn report(report: &Report, path: Option<&Path>) -> Result<(), Failure> {
    let mut text = serde_json::to_string(report).expect("a report is plain data");
    text.push('\n');
    put(&text, path).or_else(|failure| {
        print(&text)?;
        Err(failure.next("the results went to the standard output"))
    })
}

fn put(text: &str, path: Option<&Path>) -> Result<(), Failure> {
    match path {
        Some(path) if path == Path::new(DASH) => print(text),
        Some(path) => {
            check(path)?;
            if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
                // A pipe or terminal is written to, not replaced.
                return fs::write(path, text).map_err(|error| cannot_write(path, &error));
            }
            write(path, text, None)
        }
        None if io::stdout().is_terminal() => Ok(()),
        None => print(text),
    }
}

/// Fail now rather than after the work if a report could not be written, or would take the place
/// of something else.
pub fn check(path: &Path) -> Result<(), Failure> {
    let refused = |what: &str| {
        let message = format!("--json {} {what}", path.display());
        Err(Failure::new(
            message,
            "the same with --json and the name of a new file",
        ))
    };
    match fs::metadata(path) {
        _ if path == Path::new(DASH) => return Ok(()),
        Ok(found) if found.is_dir() => {
            let file = path.join("results.json");
            let message = format!("--json {} is a folder", path.display());
            return Err(Failure::new(message, format!("--json {}", file.display())));
        }
        Ok(found) if found.file_type().is_block_device() => {
            return refused("is a block device, whose data would be lost");
        }
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(_) if !holds_report(path) => return refused("is a file without results in it"),
        _ => {}
    }
    let temporary = temporary(path);
    fs::write(&temporary, "")
        .and_then(|()| fs::remove_file(&temporary))
        .map_err(|error| cannot_write(path, &error))
}

/// Whether a file is empty, or what a report was written to before.
fn holds_report(path: &Path) -> bool {
    let mut begin = Vec::new();
    File::open(path)
        .and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut begin))
        .is_ok_and(|_| begin.is_empty() || begin == BEGIN)
}

pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| Failure::io("cannot write to the standard output", &error))
}

/// Put a new text in the place of an old one; links and permissions stay.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error| Failure::io(format!("cannot replace {}", path.display()), &error);
    let target = fs::canonicalize(path).map_err(cannot)?;
    let permissions = fs::metadata(&target).map_err(cannot)?.permissions();
    write(&target, text, Some(permissions))
}

/// Write to a temporary name first, so that a file with the final name is whole.
fn write(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> Result<(), Failure> {
    let temporary = temporary(path);
    fs::write(&temporary, text)
        .and_then(|()| permissions.map_or(Ok(()), |keep| fs::set_permissions(&temporary, keep)))
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| {
            let _ = fs::remove_file(&temporary);
            cannot_write(path, &error)
        })
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("cannot write {}", path.display()), error)
}
