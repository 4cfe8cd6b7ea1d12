//! What the kernel is answered, when something was found or done, or not.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    FileAttr, FileHandle, FileType, FopenFlags, Generation, INodeNo, ReplyAttr, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
};

use crate::mount::errors::errno;
use crate::mount::handles::Listing;

/// Names change here alone, and the kernel sees it.
pub const NAMES_LAST: Duration = Duration::from_secs(3600);

/// Attributes of files do, too, unless memory changes them or they are brought meanwhile.
pub const ATTRIBUTES_LAST: Duration = Duration::from_secs(600);
pub const ATTRIBUTES_CHANGE: Duration = Duration::from_secs(1);

/// That a name stands for nothing. One that was made but could not be shown, as when too many files
/// are open, is seen after that.
const NOTHING_LASTS: Duration = Duration::from_secs(60);

/// What stands for nothing: only the number counts.
const NOTHING: FileAttr = FileAttr {
    ino: INodeNo(0),
    size: 0,
    blocks: 0,
    atime: UNIX_EPOCH,
    mtime: UNIX_EPOCH,
    ctime: UNIX_EPOCH,
    crtime: UNIX_EPOCH,
    kind: FileType::RegularFile,
    perm: 0,
    nlink: 0,
    uid: 0,
    gid: 0,
    rdev: 0,
    blksize: 0,
    flags: 0,
};

/// Attributes, and for how long the kernel need not ask for them again.
pub type Lasting = (FileAttr, Duration);

pub fn entry(reply: ReplyEntry, result: io::Result<FileAttr>) {
    let found = result.map(|found| (found, ATTRIBUTES_CHANGE));
    entry_for(reply, found.map(|found| (found, NAMES_LAST)));
}

/// The kernel does not ask again for a name that stands for nothing.
pub fn entry_or_none(reply: ReplyEntry, result: io::Result<Option<Lasting>>) {
    let found = result.map(|found| match found {
        Some(found) => (found, NAMES_LAST),
        None => ((NOTHING, ATTRIBUTES_CHANGE), NOTHING_LASTS),
    });
    entry_for(reply, found);
}

/// For how long the name stands for it comes with what was found.
pub fn entry_for(reply: ReplyEntry, result: io::Result<(Lasting, Duration)>) {
    match result {
        Ok(((found, lasts), name_lasts)) => {
            reply.entry_with_ttls(&lasts, &name_lasts, &found, Generation(0));
        }
        Err(error) => reply.error(errno(&error)),
    }
}

pub fn attributes(reply: ReplyAttr, result: &io::Result<Lasting>) {
    match result {
        Ok((found, lasts)) => reply.attr(lasts, found),
        Err(error) => reply.error(errno(error)),
    }
}

pub fn empty(reply: ReplyEmpty, result: &io::Result<()>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}

pub fn data(reply: ReplyData, result: &io::Result<Vec<u8>>) {
    match result {
        Ok(data) => reply.data(data),
        Err(error) => reply.error(errno(error)),
    }
}

/// The number of bytes, all that the kernel sent.
pub fn written(reply: ReplyWrite, result: io::Result<usize>) {
    match result {
        Ok(length) => reply.written(length as u32),
        Err(error) => reply.error(errno(&error)),
    }
}

/// A file that is open, and read by asking.
pub fn handle(reply: ReplyOpen, result: io::Result<u64>) {
    match result {
        Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
        Err(error) => reply.error(errno(&error)),
    }
}

pub fn space(reply: ReplyStatfs, result: io::Result<libc::statvfs64>) {
    match result {
        Ok(space) => reply.statfs(
            space.f_blocks,
            space.f_bfree,
            space.f_bavail,
            space.f_files,
            space.f_ffree,
            space.f_bsize as u32,
            space.f_namemax as u32,
            space.f_frsize as u32,
        ),
        Err(error) => reply.error(errno(&error)),
    }
}

pub fn offset(reply: ReplyLseek, result: io::Result<i64>) {
    match result {
        Ok(offset) => reply.offset(offset),
        Err(error) => reply.error(errno(&error)),
    }
}

/// The part of a listing from an offset on that the reply has room for.
pub fn listing(mut reply: ReplyDirectory, offset: u64, result: io::Result<Listing>) {
    let listing = match result {
        Ok(listing) => listing,
        Err(error) => return reply.error(errno(&error)),
    };
    for (index, (name, id, kind)) in listing.iter().enumerate().skip(offset as usize) {
        if reply.add(INodeNo(id.0), index as u64 + 1, *kind, name) {
            break;
        }
    }
    reply.ok();
}
