//! Making a tree on the disk, and checking one that was made before.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use serde::Serialize;

use super::files::Files;
use super::layout::Layout;
use super::progress;
use crate::clock::{now_ns, to_seconds};
use crate::failure::Failure;
use crate::random::Stream;

/// Bytes of one write when files are filled.
const FILL_B: usize = 1 << 20;
const MAX_WORKERS: usize = 8;
/// Files whose sizes are compared when an existing tree is checked.
const SAMPLE: usize = 64;

const SMALLER: &str = "choose a smaller scale or a larger file system";

/// What was created.
#[derive(Clone, Debug, Serialize)]
pub struct Prepared {
    pub fileset: String,
    pub entries: u64,
    pub files: u64,
    pub directories: u64,
    pub bytes: u64,
    pub duration_s: f64,
}

/// Create the tree of a fileset anew.
pub fn prepare(files: &Files, seed: u64) -> Result<Prepared, Failure> {
    let start = now_ns();
    let (fileset, layout) = (&files.fileset, &files.layout);
    let parent = Path::new(&fileset.path);
    if !parent.is_dir() {
        let message = format!("{} is not a directory", parent.display());
        return Err(Failure::new(message).next(format!("mkdir -p {}", parent.display())));
    }
    remove(Path::new(layout.root()))?;
    check_space(parent, layout)?;
    for directory in &layout.directories {
        fs::create_dir(directory)
            .map_err(|error| Failure::io(format!("cannot create {directory}"), &error))?;
    }
    let mut order: Vec<usize> = layout.preallocated().map(|(entry, _)| entry).collect();
    Stream::new(seed, &["fileset", &fileset.name, "order"]).shuffle(&mut order);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if fileset.paralloc {
        (2 * processors).min(MAX_WORKERS)
    } else {
        1
    };
    fill(files, &order, workers, seed)?;
    sync(layout.root())?;
    Ok(Prepared {
        fileset: fileset.name.clone(),
        entries: fileset.entries,
        files: order.len() as u64,
        directories: layout.directories.len() as u64,
        bytes: layout.preallocated_b(),
        duration_s: to_seconds(now_ns() - start),
    })
}

/// Write the files in the given order, which spreads them over the disk.
fn fill(files: &Files, order: &[usize], workers: usize, seed: u64) -> Result<(), Failure> {
    let mut data = vec![0; 2 * FILL_B];
    Stream::new(seed, &["fileset", &files.fileset.name, "data"]).fill(&mut data);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let running = AtomicUsize::new(workers);
    let stopped = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let work = || {
        let mut path = Vec::new();
        while let Some(&entry) = order.get(next.fetch_add(1, Relaxed)) {
            if stopped.load(Relaxed) {
                break;
            }
            files.layout.path_into(entry, &mut path);
            let file = Path::new(OsStr::from_bytes(&path[..path.len() - 1]));
            if let Err(error) = write_file(file, files.layout.entries[entry].size_b, &data) {
                stopped.store(true, Relaxed);
                let first = Failure::io(format!("cannot write {}", file.display()), &error);
                let full = error.kind() == io::ErrorKind::StorageFull;
                let first = if full { first.next(SMALLER) } else { first };
                failure
                    .lock()
                    .expect("no thread panics")
                    .get_or_insert(first);
            }
            done.fetch_add(1, Relaxed);
        }
        running.fetch_sub(1, Relaxed);
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
        let what = format!("fileset {}", files.fileset.name);
        progress::report(&what, &done, order.len(), || running.load(Relaxed) == 0);
    });
    failure
        .into_inner()
        .expect("no thread panics")
        .map_or(Ok(()), Err)
}

/// Have the file system write everything back, so that no run pays for it.
fn sync(root: &str) -> Result<(), Failure> {
    let synced = fs::File::open(root).and_then(|root| {
        // SAFETY: touches no memory.
        match unsafe { libc::syncfs(root.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    });
    synced.map_err(|error| Failure::io(format!("cannot sync {root}"), &error))
}

fn write_file(path: &Path, size_b: u64, data: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    let mut left = size_b as usize;
    while left > 0 {
        // Files begin at different bytes of the data, so that no two are alike.
        let from = left.wrapping_mul(0x9E37_79B9) % FILL_B;
        let piece = left.min(FILL_B);
        file.write_all(&data[from..from + piece])?;
        left -= piece;
    }
    Ok(())
}

/// Remove a tree of ours; refuses one that holds anything with a foreign name.
fn remove(root: &Path) -> Result<(), Failure> {
    if !root.exists() {
        return Ok(());
    }
    let foreign = first_foreign(root)
        .map_err(|error| Failure::io(format!("cannot read {}", root.display()), &error))?;
    if let Some(foreign) = foreign {
        return Err(Failure::new(format!(
            "{} was not made by this program, so nothing was removed",
            foreign.display()
        ))
        .next("choose another directory"));
    }
    fs::remove_dir_all(root)
        .map_err(|error| Failure::io(format!("cannot remove {}", root.display()), &error))
}

fn first_foreign(directory: &Path) -> io::Result<Option<std::path::PathBuf>> {
    for item in fs::read_dir(directory)? {
        let item = item?;
        let name = item.file_name();
        let ours = name.len() >= 8 && name.as_bytes().iter().all(u8::is_ascii_digit);
        let kind = item.file_type()?;
        if !ours || !(kind.is_file() || kind.is_dir()) {
            return Ok(Some(item.path()));
        }
        if kind.is_dir() {
            if let Some(foreign) = first_foreign(&item.path())? {
                return Ok(Some(foreign));
            }
        }
    }
    Ok(None)
}

/// Refuse a file system that is too small, before anything is written.
fn check_space(parent: &Path, layout: &Layout) -> Result<(), Failure> {
    let path = CString::new(parent.as_os_str().as_bytes())
        .map_err(|_| Failure::new("a path must not contain a zero byte"))?;
    // SAFETY: zeros are a valid statvfs, which the call fills in.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) } != 0 {
        let what = format!("cannot ask {} for its free space", parent.display());
        return Err(Failure::io(what, &io::Error::last_os_error()));
    }
    let block = disk.f_frsize.max(1);
    let files = layout.preallocated().count() as u64;
    let blocks: u64 = layout
        .preallocated()
        .map(|(_, e)| e.size_b.div_ceil(block))
        .sum();
    let needed = (blocks + layout.directories.len() as u64) * block;
    let free = disk.f_bavail * block;
    if needed > free {
        return Err(Failure::new(format!(
            "no space for {}: it needs {:.1} MiB and {} has {:.1} MiB free",
            layout.root(),
            needed as f64 / f64::from(1 << 20),
            parent.display(),
            free as f64 / f64::from(1 << 20),
        ))
        .next(SMALLER));
    }
    let inodes = files + layout.directories.len() as u64;
    if disk.f_files > 0 && inodes > disk.f_favail {
        return Err(Failure::new(format!(
            "no inodes for {}: it needs {inodes} and {} has {} free",
            layout.root(),
            parent.display(),
            disk.f_favail,
        ))
        .next(SMALLER));
    }
    Ok(())
}

/// Check that a tree is as [`prepare`] left it: the sizes of a sample of its files, and that a
/// sample of the others is absent.
pub fn verify(files: &Files) -> Result<(), Failure> {
    let entries = &files.layout.entries;
    let mut path = Vec::new();
    for entry in (0..entries.len()).step_by(entries.len().div_ceil(SAMPLE)) {
        files.layout.path_into(entry, &mut path);
        let file = Path::new(OsStr::from_bytes(&path[..path.len() - 1]));
        let found = fs::metadata(file).ok().map(|metadata| metadata.len());
        let expected = entries[entry].preallocated.then_some(entries[entry].size_b);
        if found != expected {
            let bytes = |size: Option<u64>| size.map_or("no file".into(), |b| format!("{b} bytes"));
            return Err(Failure::new(format!(
                "{} is not as prepared with this seed ({} instead of {})",
                file.display(),
                bytes(found),
                bytes(expected),
            ))
            .next("prepare it again"));
        }
    }
    Ok(())
}
