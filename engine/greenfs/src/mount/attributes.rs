//! What the kernel is told of a node, and what it changes of one.

use std::fs::{File, Permissions, set_permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};

use crate::clock;
use crate::protocol::{Attributes, NodeId};
use crate::sys::{self, Time};

const MODE: u32 = 0o7777;

/// Blocks of files are counted in these. Bytes.
const BLOCK_B: u64 = 512;

/// So much programs had better read and write at once, as each write is a question of the kernel: the C library
/// takes 4 KiB of other file systems, and 8 KiB of those that ask for more. Bytes.
const AT_ONCE_B: u32 = 1 << 16;

/// What a program changes of a node.
pub struct Wish {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub size: Option<u64>,
    pub accessed: Option<TimeOrNow>,
    pub modified: Option<TimeOrNow>,
}

impl Wish {
    /// Whether only times are changed.
    pub fn is_of_times(&self) -> bool {
        self.mode.is_none() && self.uid.is_none() && self.gid.is_none() && self.size.is_none()
    }

    /// Change what a branch keeps of a file, but the size.
    pub fn apply(&self, attributes: &mut Attributes) {
        attributes.uid = self.uid.unwrap_or(attributes.uid);
        attributes.gid = self.gid.unwrap_or(attributes.gid);
        attributes.mode = self.mode.map_or(attributes.mode, |mode| mode & MODE);
        if let Some(at) = self.modified {
            attributes.modified_ns = match time(Some(at)) {
                Time::At((seconds, nanos)) => {
                    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
                }
                _ => clock::now_us().saturating_mul(1000),
            };
        }
    }

    /// Only when it was read.
    pub fn of_reading(&self) -> Self {
        Self {
            mode: None,
            uid: None,
            gid: None,
            size: None,
            accessed: self.accessed,
            modified: None,
        }
    }

    /// Do all of it but the size.
    pub fn fulfil(&self, node: &File) -> io::Result<()> {
        if self.uid.is_some() || self.gid.is_some() {
            sys::set_owner(node, self.uid, self.gid)?;
        }
        if let Some(mode) = self.mode {
            set_permissions(opened(node), Permissions::from_mode(mode & MODE))?;
        }
        if self.accessed.is_some() || self.modified.is_some() {
            sys::set_times(node, [time(self.accessed), time(self.modified)])?;
        }
        Ok(())
    }
}

/// The path of what a descriptor is open on, to be followed.
pub fn opened(node: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", node.as_raw_fd()))
}

fn time(wish: Option<TimeOrNow>) -> Time {
    match wish {
        None => Time::Keep,
        Some(TimeOrNow::Now) => Time::Now,
        Some(TimeOrNow::SpecificTime(at)) => Time::At(match at.duration_since(UNIX_EPOCH) {
            Ok(since) => (since.as_secs() as i64, since.subsec_nanos().into()),
            Err(before) => {
                let before = before.duration();
                let nanos = i64::from(before.subsec_nanos());
                let seconds = -(before.as_secs() as i64);
                match nanos {
                    0 => (seconds, 0),
                    nanos => (seconds - 1, 1_000_000_000 - nanos),
                }
            }
        }),
    }
}

/// What the kernel is told of a node.
pub fn attributes(id: NodeId, found: &libc::stat64) -> FileAttr {
    let (major, minor) = (libc::major(found.st_rdev), libc::minor(found.st_rdev));
    FileAttr {
        ino: INodeNo(id.0),
        size: found.st_size as u64,
        blocks: found.st_blocks as u64,
        atime: at(found.st_atime, found.st_atime_nsec),
        mtime: at(found.st_mtime, found.st_mtime_nsec),
        ctime: at(found.st_ctime, found.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(found.st_mode),
        perm: (found.st_mode & MODE) as u16,
        nlink: found.st_nlink as u32,
        uid: found.st_uid,
        gid: found.st_gid,
        // As the kernel's new_encode_dev has it.
        rdev: (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12),
        blksize: AT_ONCE_B.max(found.st_blksize as u32),
        flags: 0,
    }
}

fn kind(mode: u32) -> FileType {
    match mode & libc::S_IFMT {
        libc::S_IFDIR => FileType::Directory,
        libc::S_IFLNK => FileType::Symlink,
        libc::S_IFBLK => FileType::BlockDevice,
        libc::S_IFCHR => FileType::CharDevice,
        libc::S_IFIFO => FileType::NamedPipe,
        libc::S_IFSOCK => FileType::Socket,
        _ => FileType::RegularFile,
    }
}

/// What the kernel is told of what nobody can change, without its number.
pub fn unchanging(
    kind: FileType,
    mode: u32,
    size: u64,
    at: SystemTime,
    (uid, gid): (u32, u32),
) -> FileAttr {
    FileAttr {
        ino: INodeNo(0),
        size,
        blocks: size.div_ceil(BLOCK_B),
        atime: at,
        mtime: at,
        ctime: at,
        crtime: UNIX_EPOCH,
        kind,
        perm: mode as u16,
        nlink: 1,
        uid,
        gid,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// The number of a device as mknod(2) takes it, from the kernel's.
pub fn device(number: u32) -> u64 {
    let (major, minor) = (
        (number & 0xfff00) >> 8,
        (number & 0xff) | ((number >> 12) & 0xfff00),
    );
    libc::makedev(major, minor)
}

/// A time in nanoseconds since 1970.
pub fn moment(at_ns: i64) -> SystemTime {
    at(
        at_ns.div_euclid(1_000_000_000),
        at_ns.rem_euclid(1_000_000_000),
    )
}

fn at(seconds: i64, nanoseconds: i64) -> SystemTime {
    let nanoseconds = Duration::from_nanos(nanoseconds as u64);
    match u64::try_from(seconds) {
        Ok(seconds) => UNIX_EPOCH + Duration::from_secs(seconds) + nanoseconds,
        Err(_) => UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()) + nanoseconds,
    }
}
