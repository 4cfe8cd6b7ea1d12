//! Writing files, and mending those that are there.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::files::Files;
use super::layout::as_path;
use super::space::SMALLER;
use super::tree::remove_any;
use crate::failure::{Failure, errno};
use crate::signals;

/// Bytes of one write.
const FILL_B: usize = 1 << 20;
/// Bytes to write from.
pub const DATA_B: usize = 2 * FILL_B;

/// What a thread that writes the files of a fileset has.
pub struct Writer<'a> {
    pub files: &'a Files,
    pub data: &'a [u8],
    /// Keep what fits among the files that are there.
    pub reuse: bool,
    /// Counts what was kept.
    pub kept: &'a AtomicU64,
    pub path: Vec<u8>,
}

impl Writer<'_> {
    /// Write some files. Neighbours in one directory are reached through its descriptor, which
    /// saves looking up the path.
    pub fn write(&mut self, entries: &[u32]) -> Result<(), Failure> {
        let layout = &self.files.layout;
        let directory = |entry: u32| layout.entries[entry as usize].directory;
        for group in entries.chunk_by(|a, b| directory(*a) == directory(*b)) {
            let opened = match group {
                [first, _, ..] => Some(self.open_directory(directory(*first))?),
                _ => None,
            };
            for &entry in group {
                self.write_one(opened.as_ref(), entry as usize)?;
            }
        }
        Ok(())
    }

    fn open_directory(&mut self, directory: u32) -> Result<OwnedFd, Failure> {
        self.files
            .layout
            .directory_path_into(directory as usize, &mut self.path);
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        open_at(libc::AT_FDCWD, c_str(&self.path), flags).map_err(|error| {
            let what = format!("cannot open {}", as_path(&self.path).display());
            Failure::io(what, &error)
        })
    }

    fn write_one(&mut self, directory: Option<&OwnedFd>, entry: usize) -> Result<(), Failure> {
        let layout = &self.files.layout;
        let mut name = [0; 9];
        let (at, path) = match (directory, layout.file_name(entry)) {
            (Some(directory), Some(digits)) => {
                name[..8].copy_from_slice(&digits);
                (directory.as_raw_fd(), name.as_slice())
            }
            _ => {
                layout.path_into(entry, &mut self.path);
                (libc::AT_FDCWD, self.path.as_slice())
            }
        };
        let done = if self.reuse {
            self.mend(at, c_str(path), entry)
        } else {
            self.create(at, c_str(path), entry)
        };
        done.map_err(|error| {
            let mut path = Vec::new();
            layout.path_into(entry, &mut path);
            let what = format!("cannot write {}", as_path(&path).display());
            let failure = Failure::io(what, &error);
            match error.kind() {
                io::ErrorKind::StorageFull => failure.next(SMALLER),
                _ => failure,
            }
        })
    }

    fn create(&self, at: RawFd, name: &CStr, entry: usize) -> io::Result<()> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        let file = open_at(at, name, flags)?;
        self.fill(file, self.files.layout.entries[entry].size_b)
    }

    /// Make of what is there what should be there.
    fn mend(&self, at: RawFd, name: &CStr, entry: usize) -> io::Result<()> {
        let wanted = self.files.layout.entries[entry];
        match stat_at(at, name)? {
            Some(found) if wanted.preallocated && is_single_file(&found) => {
                let found_b = found.st_size as u64;
                if found_b == wanted.size_b {
                    self.kept.fetch_add(1, Relaxed);
                    return Ok(());
                }
                let file = open_at(at, name, libc::O_WRONLY | libc::O_NOFOLLOW)?;
                if found_b > wanted.size_b {
                    return File::from(file).set_len(wanted.size_b);
                }
                return self.fill(file, wanted.size_b);
            }
            Some(_) => {
                let mut path = Vec::new();
                self.files.layout.path_into(entry, &mut path);
                remove_any(as_path(&path))
                    .map_err(|failure| io::Error::other(failure.to_string()))?;
            }
            None => {}
        }
        if wanted.preallocated {
            self.create(at, name, entry)?;
        }
        Ok(())
    }

    fn fill(&self, file: OwnedFd, size_b: u64) -> io::Result<()> {
        let mut file = File::from(file);
        let mut left = size_b as usize;
        while left > 0 {
            // Files begin at different bytes of the data, so that no two are alike.
            let from = left.wrapping_mul(0x9E37_79B9) % FILL_B;
            let piece = left.min(FILL_B);
            file.write_all(&self.data[from..from + piece])?;
            left -= piece;
            if left > 0 && signals::pending().is_some() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(())
    }
}

/// A file without other names, through which it could change.
fn is_single_file(found: &libc::stat) -> bool {
    found.st_mode & libc::S_IFMT == libc::S_IFREG && found.st_nlink == 1
}

fn c_str(path: &[u8]) -> &CStr {
    CStr::from_bytes_with_nul(path).expect("one zero, at the end")
}

fn open_at(at: RawFd, name: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the name ends in a zero byte; a descriptor that is returned is new and ours.
    unsafe {
        match libc::openat(at, name.as_ptr(), flags | libc::O_CLOEXEC, 0o644) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// What a name stands for, itself if it is a symbolic link; None if there is nothing.
fn stat_at(at: RawFd, name: &CStr) -> io::Result<Option<libc::stat>> {
    // SAFETY: zeros are a valid stat, which the call fills in; the name ends in a zero byte.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        match libc::fstatat(at, name.as_ptr(), &raw mut found, flags) {
            0 => Ok(Some(found)),
            _ if errno() == libc::ENOENT => Ok(None),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
