//! NFS version 3 and MOUNT version 3: RFC 1813.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::xdr::{Reader, Write};

/// The programs, each with its version.
pub const NFS: (u32, u32) = (100_003, 3);
pub const MOUNT: (u32, u32) = (100_005, 3);

pub const NAME_MOST_B: usize = 255;
pub const PATH_MOST_B: usize = 1024;
pub const HANDLE_MOST_B: usize = 64;

/// Of NFS.
pub mod procedure {
    pub const NULL: u32 = 0;
    pub const GETATTR: u32 = 1;
    pub const SETATTR: u32 = 2;
    pub const LOOKUP: u32 = 3;
    pub const ACCESS: u32 = 4;
    pub const READLINK: u32 = 5;
    pub const READ: u32 = 6;
    pub const RENAME: u32 = 14;
    pub const LINK: u32 = 15;
    pub const READDIR: u32 = 16;
    pub const READDIRPLUS: u32 = 17;
    pub const FSSTAT: u32 = 18;
    pub const FSINFO: u32 = 19;
    pub const PATHCONF: u32 = 20;
    pub const COMMIT: u32 = 21;
}

/// Of MOUNT.
pub mod mount {
    pub const NULL: u32 = 0;
    pub const MNT: u32 = 1;
    pub const DUMP: u32 = 2;
    pub const UMNT: u32 = 3;
    pub const UMNTALL: u32 = 4;
    pub const EXPORT: u32 = 5;
}

/// What one may ask ACCESS for, of what a server that changes nothing can grant.
pub mod access {
    pub const READ: u32 = 1;
    pub const LOOKUP: u32 = 2;
    pub const EXECUTE: u32 = 32;
}

/// What FSINFO says of a file system.
pub mod properties {
    pub const SYMBOLIC_LINKS: u32 = 2;
    pub const HOMOGENEOUS: u32 = 8;
}

/// How a procedure ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    NotPermitted = 1,
    NoEntry = 2,
    Io = 5,
    NoAccess = 13,
    NotDirectory = 20,
    IsDirectory = 21,
    Invalid = 22,
    ReadOnly = 30,
    NameTooLong = 63,
    Stale = 70,
    BadHandle = 10_001,
    BadCookie = 10_003,
    TooSmall = 10_005,
}

impl From<io::Error> for Status {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EPERM) => Self::NotPermitted,
            Some(libc::ENOENT) => Self::NoEntry,
            Some(libc::EACCES) => Self::NoAccess,
            Some(libc::ENOTDIR | libc::ELOOP) => Self::NotDirectory,
            Some(libc::EISDIR) => Self::IsDirectory,
            Some(libc::EINVAL) => Self::Invalid,
            Some(libc::ENAMETOOLONG) => Self::NameTooLong,
            _ => Self::Io,
        }
    }
}

/// `fattr3`.
pub fn put_attributes(out: &mut Vec<u8>, of: &Metadata) {
    let kind = match of.mode() & libc::S_IFMT {
        libc::S_IFDIR => 2,
        libc::S_IFBLK => 3,
        libc::S_IFCHR => 4,
        libc::S_IFLNK => 5,
        libc::S_IFSOCK => 6,
        libc::S_IFIFO => 7,
        _regular => 1,
    };
    out.word(kind);
    out.word(of.mode() & 0o7777);
    out.word(of.nlink() as u32);
    out.word(of.uid());
    out.word(of.gid());
    out.hyper(of.size());
    out.hyper(of.blocks() * 512);
    out.word(libc::major(of.rdev()));
    out.word(libc::minor(of.rdev()));
    out.hyper(of.dev());
    out.hyper(of.ino());
    for (seconds, nanoseconds) in [
        (of.atime(), of.atime_nsec()),
        (of.mtime(), of.mtime_nsec()),
        (of.ctime(), of.ctime_nsec()),
    ] {
        out.word(seconds as u32);
        out.word(nanoseconds as u32);
    }
}

/// `post_op_attr`, with attributes.
pub fn put_some_attributes(out: &mut Vec<u8>, of: &Metadata) {
    out.word(1);
    put_attributes(out, of);
}

/// What a client needs of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub is_file: bool,
    pub size_b: u64,
}

/// Read `fattr3`.
pub fn attributes(reader: &mut Reader<'_>) -> Option<Attributes> {
    let kind = reader.word()?;
    let [_mode, _links, _owner, _group] = [(); 4].map(|()| reader.word());
    let size_b = reader.hyper()?;
    let _used_to_changed: [u8; 56] = reader.fixed()?;
    Some(Attributes {
        is_file: kind == 1,
        size_b,
    })
}

/// Read `post_op_attr`.
pub fn some_attributes(reader: &mut Reader<'_>) -> Option<Option<Attributes>> {
    match reader.word()? {
        0 => Some(None),
        _ => attributes(reader).map(Some),
    }
}
