//! The device as a file that the kernel asks for: one folder, one file, every request to the drive.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::device::{Action, Extent, SECTOR_B};
use crate::serve::drive::Drive;
use crate::serve::place::{CONTROL_NAME, FILE_NAME};
use crate::serve::request::Asked;

const DISK: INodeNo = INodeNo(2);
const CONTROL: INodeNo = INodeNo(3);

/// The longest request that the kernel sends; it cuts what is longer. Bytes.
const REQUEST_MOST_B: u32 = 1 << 20;

/// Requests that the kernel sends without waiting for answers; enough for every queue depth.
const REQUESTS_MOST: u16 = 1024;

/// Nothing here changes but the data.
const FOREVER: Duration = Duration::from_secs(1 << 30);

/// The file system of a drive.
pub struct DiskFile {
    pub drive: Arc<Drive>,
    pub sectors: u64,
    /// Where a link beside the disk leads: to the socket that takes orders.
    pub control: PathBuf,
}

impl DiskFile {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, nlink, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o500, 2, 0),
            DISK => (FileType::RegularFile, 0o600, 1, self.sectors * SECTOR_B),
            CONTROL => (
                FileType::Symlink,
                0o777,
                1,
                self.control.as_os_str().len() as u64,
            ),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(SECTOR_B),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// The sectors of a request; none if it does not begin and end with sectors of the disk.
    fn extent(&self, offset: u64, size_b: u64) -> Option<Extent> {
        let extent = Extent {
            sector: offset / SECTOR_B,
            sectors: size_b / SECTOR_B,
        };
        let is_whole = offset % SECTOR_B == 0 && size_b % SECTOR_B == 0;
        (is_whole && extent.end() <= self.sectors).then_some(extent)
    }
}

fn reply_empty(reply: ReplyEmpty, result: Result<&[u8], i32>) {
    match result {
        Ok(_) => reply.ok(),
        Err(code) => reply.error(Errno::from_i32(code)),
    }
}

impl Filesystem for DiskFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::other("the kernel's FUSE is too old");
        config
            .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
            .map_err(refused)?;
        let too_much = |_| io::Error::other("FUSE takes no such sizes");
        config.set_max_write(REQUEST_MOST_B).map_err(too_much)?;
        let _ = config.set_max_readahead(REQUEST_MOST_B);
        config
            .set_max_background(REQUESTS_MOST)
            .and_then(|_| config.set_congestion_threshold(REQUESTS_MOST))
            .map_err(|_| io::Error::other("FUSE takes no such number of requests"))?;
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = match parent {
            INodeNo::ROOT if name == FILE_NAME => self.attributes(DISK),
            INodeNo::ROOT if name == CONTROL_NAME => self.attributes(CONTROL),
            _ => None,
        };
        match found {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.attributes(inode) {
            // A disk keeps its size; truncating it to that is what `dd` and `mkfs` do.
            Some(attributes) if size.is_none_or(|size| size == attributes.size) => {
                reply.attr(&FOREVER, &attributes);
            }
            _ => reply.error(Errno::EPERM),
        }
    }

    fn readlink(&self, _: &Request, inode: INodeNo, reply: ReplyData) {
        match inode {
            CONTROL => reply.data(self.control.as_os_str().as_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO
            | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let left_b = (self.sectors * SECTOR_B).saturating_sub(offset);
        let size_b = u64::from(size).min(left_b);
        if size_b == 0 {
            return reply.data(&[]);
        }
        let Some(extent) = self.extent(offset, size_b) else {
            return reply.error(Errno::EINVAL);
        };
        let asked = Asked {
            action: Action::Read,
            extent,
            stream: request.pid(),
            data: &[],
        };
        let answer = |result: Result<&[u8], i32>| match result {
            Ok(data) => reply.data(data),
            Err(code) => reply.error(Errno::from_i32(code)),
        };
        self.drive.take(&asked, Box::new(answer));
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(extent) = self.extent(offset, data.len() as u64) else {
            let is_behind = offset + data.len() as u64 > self.sectors * SECTOR_B;
            return reply.error(if is_behind {
                Errno::ENOSPC
            } else {
                Errno::EINVAL
            });
        };
        let asked = Asked {
            action: Action::Write,
            extent,
            stream: request.pid(),
            data,
        };
        let size = data.len() as u32;
        let answer = move |result: Result<&[u8], i32>| match result {
            Ok(_) => reply.written(size),
            Err(code) => reply.error(Errno::from_i32(code)),
        };
        self.drive.take(&asked, Box::new(answer));
    }

    fn fsync(&self, request: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let asked = Asked {
            action: Action::Flush,
            extent: Extent {
                sector: 0,
                sectors: 0,
            },
            stream: request.pid(),
            data: &[],
        };
        self.drive
            .take(&asked, Box::new(|result| reply_empty(reply, result)));
    }

    fn fallocate(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        // Everything else, such as to zero without discarding, the kernel does by writing.
        if mode != libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let Some(extent) = self.extent(offset, length) else {
            return reply.error(Errno::EINVAL);
        };
        let asked = Asked {
            action: Action::Discard,
            extent,
            stream: request.pid(),
            data: &[],
        };
        self.drive
            .take(&asked, Box::new(|result| reply_empty(reply, result)));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, FILE_NAME),
            (CONTROL, FileType::Symlink, CONTROL_NAME),
        ];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
