//! Making a tree on the disk.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use super::crew;
use super::data::fill_data;
use super::device;
use super::files::Files;
use super::layout::as_path;
use super::space::{self, OTHER_DIR};
use super::tree::{Held, Tree, remove_any, remove_surplus};
use super::write::{DATA_B, Writer};
use crate::clock::{now_ns, to_seconds};
use crate::failure::Failure;
use crate::random::Stream;

/// The types of file systems in memory (linux/magic.h).
const TMPFS: i64 = 0x0102_1994;
const RAMFS: i64 = 0x8584_58f6;

/// What was created.
#[derive(Clone, Debug, Serialize)]
pub struct Prepared {
    pub fileset: String,
    pub entries: u64,
    /// Files that exist, and those among them that were kept as they were.
    pub files: u64,
    pub kept: u64,
    pub directories: u64,
    /// Leaf directories that exist.
    pub leafdirs: u64,
    pub bytes: u64,
    pub duration_s: f64,
}

/// How a tree is made.
struct Maker<'a> {
    files: &'a Files,
    seed: u64,
    workers: usize,
    /// An existing tree is mended.
    reuse: bool,
    /// The file system has no disk, over which files should be spread by the order of creation:
    /// threads take neighbours, and are not in each other's way.
    in_memory: bool,
}

/// Create the tree of a fileset: anew, or, as the fileset says, mended or as it is.
pub fn prepare(files: &Files, seed: u64) -> Result<Prepared, Failure> {
    let start = now_ns();
    let (fileset, layout) = (&files.fileset, &files.layout);
    let (parent, root) = (Path::new(&fileset.path), Path::new(layout.root()));
    if let Some(file) = parent.ancestors().find(|above| above.is_file()) {
        let message = format!("{} is a file, not a directory", file.display());
        return Err(Failure::new(message, OTHER_DIR));
    }
    if !parent.is_dir() {
        let message = format!("{} is not a directory", parent.display());
        return Err(Failure::new(
            message,
            format!("mkdir -p {}", parent.display()),
        ));
    }
    if !layout.is_device()
        && parent
            .canonicalize()
            .is_ok_and(|path| path == Path::new("/dev"))
    {
        let message = format!("there is no block device {}", root.display());
        return Err(Failure::new(message, "lsblk shows those that there are"));
    }
    let existing = layout.preallocated().count() as u64;
    let kept = if layout.is_device() {
        device::check(files)?;
        existing
    } else if fileset.trusttree && root.is_dir() {
        existing
    } else {
        let old = Tree::find(root)?;
        let reuse = fileset.reuse && old.is_some();
        let held = old.as_ref().map_or(Ok(Held::default()), Tree::held)?;
        space::check(parent, layout, held)?;
        if let Some(old) = old.filter(|_| !reuse) {
            old.remove()?;
        }
        let maker = Maker {
            files,
            seed,
            workers: if fileset.paralloc { crew::workers() } else { 1 },
            reuse,
            in_memory: in_memory(parent)?,
        };
        maker.directories()?;
        maker.leafdirs()?;
        maker.files()?
    };
    sync(files)?;
    Ok(Prepared {
        fileset: fileset.name.clone(),
        entries: fileset.entries,
        files: existing,
        kept,
        directories: layout.directories.len() as u64,
        leafdirs: layout.existing_leafdirs().count() as u64,
        bytes: layout.preallocated_b(),
        duration_s: to_seconds(now_ns() - start),
    })
}

impl Maker<'_> {
    /// Create the directories: in the order of the layout on a disk, level by level in memory.
    fn directories(&self) -> Result<(), Failure> {
        let layout = &self.files.layout;
        let mut waves: Vec<Vec<usize>> = Vec::new();
        for (nth, directory) in layout.directories.iter().enumerate() {
            let wave = if self.in_memory {
                directory.level as usize
            } else {
                0
            };
            waves.resize_with(waves.len().max(wave + 1), Vec::new);
            waves[wave].push(nth);
        }
        for wave in &waves {
            self.make_all("directories", wave, |directory, path| {
                layout.directory_path_into(directory, path);
                let path = as_path(path);
                self.make_directory(path)?;
                if self.reuse {
                    remove_surplus(path, layout.directories[directory].children)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn leafdirs(&self) -> Result<(), Failure> {
        let layout = &self.files.layout;
        let all: Vec<usize> = (0..layout.leafdirs.len()).collect();
        self.make_all("leaf directories", &all, |leafdir, path| {
            layout.leafdir_path_into(leafdir, path);
            let path = as_path(path);
            let wanted = layout.leafdirs[leafdir].preallocated;
            let is_empty = || fs::read_dir(path).is_ok_and(|mut items| items.next().is_none());
            if self.reuse && !(wanted && is_empty()) {
                remove_any(path)?;
            }
            if wanted {
                self.make_directory(path)?;
            }
            Ok(())
        })
    }

    /// Do `make` for each, with a buffer for its path: on a disk in this order, so that the same
    /// seed makes the same directories there.
    fn make_all(
        &self,
        what: &str,
        places: &[usize],
        make: impl Fn(usize, &mut Vec<u8>) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        let what = format!("fileset {}, {what}", self.files.fileset.name);
        let workers = if self.in_memory { self.workers } else { 1 };
        crew::work_on(&what, places, workers, Vec::new, |path, chunk| {
            chunk.iter().try_for_each(|&place| make(place, path))
        })
    }

    fn make_directory(&self, path: &Path) -> Result<(), Failure> {
        if self.reuse {
            if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
                return Ok(());
            }
            remove_any(path)?;
        }
        fs::create_dir(path)
            .map_err(|error| Failure::io(format!("cannot create {}", path.display()), &error))
    }

    /// Write the files, in an order that spreads them over the disk; returns how many were kept.
    fn files(&self) -> Result<u64, Failure> {
        let Files {
            fileset, layout, ..
        } = self.files;
        let stream = |name| Stream::new(self.seed, &["fileset", &fileset.name, name]);
        let mut data = vec![0; DATA_B];
        fill_data(&mut data, fileset.compress_percent, &mut stream("data"));
        let mut order: Vec<u32> = if self.reuse {
            (0..layout.entries.len() as u32).collect()
        } else {
            layout
                .preallocated()
                .map(|(entry, _)| entry as u32)
                .collect()
        };
        if !self.in_memory {
            stream("order").shuffle(&mut order);
        }
        let kept = AtomicU64::new(0);
        let writer = || Writer {
            files: self.files,
            data: &data,
            reuse: self.reuse,
            kept: &kept,
            path: Vec::new(),
        };
        let what = format!("fileset {}, files", fileset.name);
        crew::work_on(&what, &order, self.workers, writer, Writer::write)?;
        Ok(kept.into_inner())
    }
}

/// Have the file system write everything back, so that no run pays for it.
pub fn sync(files: &Files) -> Result<(), Failure> {
    let root = files.layout.root();
    let synced = fs::File::open(root).and_then(|file| {
        if files.layout.is_device() {
            return file.sync_all();
        }
        // SAFETY: touches no memory.
        match unsafe { libc::syncfs(file.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    });
    synced.map_err(|error| Failure::io(format!("cannot sync {root}"), &error))
}

fn in_memory(directory: &Path) -> Result<bool, Failure> {
    let path = CString::new(directory.as_os_str().as_bytes())
        .map_err(|_| Failure::new("a path must not contain a zero byte", OTHER_DIR))?;
    // SAFETY: zeros are a valid statfs, which the call fills in; the path ends in a zero byte.
    unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        match libc::statfs(path.as_ptr(), &raw mut found) {
            0 => Ok([TMPFS, RAMFS].contains(&(found.f_type as i64))),
            _ => {
                let what = format!("cannot ask {} for its kind", directory.display());
                Err(Failure::io(what, &io::Error::last_os_error()))
            }
        }
    }
}
