//! A branch that is a folder of a mounted file system.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown, symlink,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mounting::place::lock;

use crate::branch::folders::{Folders, Place};
use crate::branch::sparse;
use crate::branch::store::Store;
use crate::fault::Fault;
use crate::protocol::{Attributes, Found, Kind};
use crate::sys;

/// A change that is younger cannot be told from the next one: the kernel's times of files are those
/// of its last tick, and ticks are at most 10 ms apart.
pub const FRESH: Duration = Duration::from_millis(50);

/// The bits of a mode that a branch keeps.
const MODE: u32 = 0o7777;

pub struct Folder {
    folders: Folders,
    device: u64,
    tells_of_memory: bool,
    /// A file that is written to all the time, and its path.
    kept: Option<(PathBuf, File)>,
}

impl Folder {
    /// Use an existing folder.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = File::options()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(root)?;
        Ok(Self {
            device: root.metadata()?.dev(),
            tells_of_memory: sys::tells_of_memory(&root)?,
            folders: Folders::below(root),
            kept: None,
        })
    }

    /// The same, where this process alone renames and removes folders.
    pub fn own_folders(mut self) -> Self {
        self.folders.are_own = true;
        self
    }

    /// Use a folder that no other process uses.
    pub fn claim(place: &Path) -> Result<Self, Fault> {
        let next = "see that it is mounted and answers";
        let unusable = |what: String| Fault::new(what, place, next);
        let folder = Self::open(place)
            .map_err(|error| unusable(format!("this folder cannot be opened: {error}")))?;
        lock(&folder.folders.root).map_err(|_| {
            let next = "wait until it has ended (a mount ends by `greenfs umount`)";
            Fault::new("another greenfs uses this folder", place, next)
        })?;
        Ok(folder)
    }

    /// The root, opened once more: the kernel tells each opening of a file system that it failed.
    pub fn root(&self) -> io::Result<File> {
        self.open_to(Path::new(""), libc::O_RDONLY)
    }

    /// Rename to where nothing is; what comes there meanwhile is not replaced, where the file system
    /// can tell.
    ///
    /// # Errors
    /// If something is there.
    pub fn rename_to_free(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let places = (self.place(from)?, self.place(to)?);
        self.folders.forget();
        match sys::rename_to_free(&places.0.path, &places.1.path) {
            // NFS knows no such rename.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => match self.look(to)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => self.rename(from, to),
            },
            renamed => renamed,
        }
    }

    /// What a path stands for, to look at and to open by /proc/self/fd.
    pub fn reach(&self, path: &Path) -> io::Result<File> {
        let (folder, name) = self.folders.above(path)?;
        sys::open_name(&folder, name)
    }

    /// What the file system says of what a path stands for.
    pub fn status(&self, path: &Path) -> io::Result<libc::stat64> {
        let (folder, name) = self.folders.above(path)?;
        sys::look_at(&folder, name)
    }

    /// Open a file that is there, by the flags of open(2).
    pub fn open_file(&self, path: &Path, flags: i32) -> io::Result<File> {
        let (folder, name) = self.folders.above(path)?;
        sys::open_at(&folder, name, flags, 0)
    }

    /// Make a file, and open it for reading and writing, with further flags.
    pub fn create_open(&mut self, path: &Path, mode: u32, flags: i32) -> io::Result<File> {
        let (folder, name) = self.folders.above(path)?;
        let flags = flags | libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        sys::open_at(&folder, name, flags, mode)
    }

    /// Whether any program may see a file now, through memory too; this process has it not open.
    pub fn may_be_open(&self, path: &Path) -> bool {
        let file = self.open_to(path, libc::O_RDONLY);
        file.and_then(|file| sys::may_be_open(&file))
            .unwrap_or(true)
    }

    pub(super) fn place(&self, path: &Path) -> io::Result<Place> {
        self.folders.place(path)
    }

    /// Open what should be a file: a pipe in its place does not make this wait.
    fn open_to(&self, path: &Path, access: i32) -> io::Result<File> {
        self.open_file(path, access | libc::O_NONBLOCK)
    }
}

impl Store for Folder {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let folder = sys::open_below(&self.folders.root, folder)?;
        let entries = fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        let (folder, name) = match self.folders.above(path) {
            Err(error) if is_missing(&error) => return Ok(None),
            above => above?,
        };
        let status = match sys::look_at(&folder, name) {
            Err(error) if is_missing(&error) => return Ok(None),
            status => status?,
        };
        let kind = match status.st_mode & libc::S_IFMT {
            // What is mounted below has inode numbers of its own.
            _ if status.st_dev != self.device => Kind::Other,
            libc::S_IFREG => Kind::File,
            libc::S_IFDIR => Kind::Folder,
            libc::S_IFLNK => Kind::Symlink(fs::read_link(&self.place(path)?.path)?.into()),
            _ => Kind::Other,
        };
        let is_file = kind == Kind::File;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = now.map_or(0, |since| since.as_nanos() as i64);
        let changed_ns = changed_ns(&status);
        // Where only whole seconds are kept, as in small inodes of ext4, one stays for that long.
        let lasts_ns = i64::from(status.st_ctime_nsec == 0) * 1_000_000_000;
        let is_fresh = changed_ns.saturating_add(lasts_ns) >= now_ns - FRESH.as_nanos() as i64;
        let modified_ns = nanoseconds(status.st_mtime, status.st_mtime_nsec);
        let attributes = Attributes {
            mode: status.st_mode & MODE,
            uid: status.st_uid,
            gid: status.st_gid,
            size: if is_file { status.st_size as u64 } else { 0 },
            modified_ns: if is_file { modified_ns } else { 0 },
        };
        Ok(Some(Found {
            kind,
            attributes,
            inode: status.st_ino,
            changed_ns: if is_fresh { 0 } else { changed_ns },
        }))
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        // No program reads here, so nothing is to note it; the kernel refuses that for the file of another user.
        let file = match self.open_to(path, libc::O_RDONLY | libc::O_NOATIME) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                self.open_to(path, libc::O_RDONLY)
            }
            opened => opened,
        };
        read_at(&file?, offset, most_b)
    }

    /// By a lease, which this process gets on what it has not open itself.
    fn may_be_written(&self, path: &Path) -> io::Result<bool> {
        match self.open_to(path, libc::O_RDONLY) {
            Ok(file) => sys::may_be_written(&file),
            Err(_) => Ok(true),
        }
    }

    fn tells_of_memory(&self) -> bool {
        self.tells_of_memory
    }

    fn free_b(&self) -> io::Result<u64> {
        let space = sys::space(&self.folders.root)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.create_open(path, mode, 0).map(drop)
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        match &self.kept {
            Some((kept, file)) if kept == path => file.write_all_at(data, offset),
            _ => self
                .open_to(path, libc::O_WRONLY)?
                .write_all_at(data, offset),
        }
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        sparse::write(&self.open_to(path, libc::O_WRONLY)?, offset, data)
    }

    fn keep_open(&mut self, path: &Path) -> io::Result<()> {
        self.kept = Some((path.to_owned(), self.open_to(path, libc::O_WRONLY)?));
        Ok(())
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        let file = self.open_to(path, libc::O_WRONLY)?;
        file.set_len(size_b)
    }

    /// Where the file system has blocks that are of several files.
    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        let from = self.open_to(from, libc::O_RDONLY)?;
        let to = self.open_to(to, libc::O_WRONLY)?;
        sys::share_blocks(&from, &to, range.start, range.end - range.start)
    }

    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()> {
        let file = self.open_to(path, libc::O_WRONLY)?;
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        sys::allocate(&file, mode, range.start, range.end - range.start)
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let place = self.place(path)?;
        fs::DirBuilder::new().mode(mode).create(&place.path)
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        symlink(target, &self.place(path)?.path)
    }

    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()> {
        sys::make_node(&self.place(path)?.path, mode, device)
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        fs::hard_link(&from.path, &to.path)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        self.folders.forget();
        fs::rename(&from.path, &to.path)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(&self.place(path)?.path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        self.folders.forget();
        fs::remove_dir(&place.path)
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        let place = self.place(path)?;
        let status = fs::symlink_metadata(&place.path)?;
        if (status.uid(), status.gid()) != (attributes.uid, attributes.gid) {
            lchown(&place.path, Some(attributes.uid), Some(attributes.gid))?;
        }
        if status.file_type().is_symlink() {
            return Ok(());
        }
        // Also because a change of owner takes bits away.
        fs::set_permissions(&place.path, fs::Permissions::from_mode(attributes.mode))?;
        if status.file_type().is_file() {
            sys::set_modified(&place.path, attributes.modified_ns)?;
        }
        Ok(())
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        match self.open_to(path, libc::O_RDONLY) {
            Ok(file) => file.sync_all(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.sync_all(),
            Err(error) => Err(error),
        }
    }

    fn sync_all(&mut self) -> io::Result<()> {
        sys::sync_file_system(&self.folders.root)
    }
}

/// Up to so many bytes from an offset; fewer only at the end of the file.
pub fn read_at(file: &File, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; most_b];
    let mut had = 0;
    while had < most_b {
        match file.read_at(&mut data[had..], offset + had as u64)? {
            0 => break,
            more => had += more,
        }
    }
    data.truncate(had);
    Ok(data)
}

/// Whether there is nothing under a name, or something on the way is no folder.
fn is_missing(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    matches!(code, Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP))
}

/// When something of a file was changed, in nanoseconds since 1970.
pub fn changed_ns(status: &libc::stat64) -> i64 {
    nanoseconds(status.st_ctime, status.st_ctime_nsec)
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}
