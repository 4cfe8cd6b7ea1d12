//! A device that fails, played by a file system of our own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::common::{Place, errors, ops};
use super::failed;

/// A file system with one file, of which the second half cannot be read or written, and which can
/// never be synced.
struct Failing {
    size_b: u64,
    failures: Arc<[AtomicU64; 3]>,
}

/// The places in `failures`.
const READS: usize = 0;
const WRITES: usize = 1;
const SYNCS: usize = 2;

impl Failing {
    const NAMES: [&str; 3] = ["files", "00000001", "00000001"];

    fn attributes(&self, inode: u64) -> fuser::FileAttr {
        let is_file = inode == 4;
        let long_ago = std::time::UNIX_EPOCH;
        fuser::FileAttr {
            ino: fuser::INodeNo(inode),
            size: if is_file { self.size_b } else { 0 },
            blocks: 0,
            atime: long_ago,
            mtime: long_ago,
            ctime: long_ago,
            crtime: long_ago,
            kind: if is_file {
                fuser::FileType::RegularFile
            } else {
                fuser::FileType::Directory
            },
            perm: 0o777,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            flags: 0,
            blksize: 4096,
        }
    }

    /// Count a request that fails because of where it is.
    fn fails(&self, kind: usize, offset: u64) -> bool {
        let fails = offset >= self.size_b / 2;
        if fails {
            self.failures[kind].fetch_add(1, Relaxed);
        }
        fails
    }
}

const TTL: std::time::Duration = std::time::Duration::from_secs(60);

impl fuser::Filesystem for Failing {
    fn lookup(
        &self,
        _: &fuser::Request,
        parent: fuser::INodeNo,
        name: &std::ffi::OsStr,
        reply: fuser::ReplyEntry,
    ) {
        let known = Self::NAMES.get(parent.0 as usize - 1);
        if known.is_some_and(|known| name == *known) {
            reply.entry(&TTL, &self.attributes(parent.0 + 1), fuser::Generation(0));
        } else {
            reply.error(fuser::Errno::ENOENT);
        }
    }

    fn getattr(
        &self,
        _: &fuser::Request,
        inode: fuser::INodeNo,
        _: Option<fuser::FileHandle>,
        reply: fuser::ReplyAttr,
    ) {
        reply.attr(&TTL, &self.attributes(inode.0));
    }

    fn open(
        &self,
        _: &fuser::Request,
        _: fuser::INodeNo,
        _: fuser::OpenFlags,
        reply: fuser::ReplyOpen,
    ) {
        // Every request comes here, and none is answered from memory.
        reply.opened(fuser::FileHandle(0), fuser::FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &fuser::Request,
        _: fuser::INodeNo,
        _: fuser::FileHandle,
        offset: u64,
        size: u32,
        _: fuser::OpenFlags,
        _: Option<fuser::LockOwner>,
        reply: fuser::ReplyData,
    ) {
        if self.fails(READS, offset) {
            reply.error(fuser::Errno::EIO);
        } else {
            reply.data(&vec![0; size as usize]);
        }
    }

    fn write(
        &self,
        _: &fuser::Request,
        _: fuser::INodeNo,
        _: fuser::FileHandle,
        offset: u64,
        data: &[u8],
        _: fuser::WriteFlags,
        _: fuser::OpenFlags,
        _: Option<fuser::LockOwner>,
        reply: fuser::ReplyWrite,
    ) {
        if self.fails(WRITES, offset) {
            reply.error(fuser::Errno::EIO);
        } else {
            reply.written(data.len() as u32);
        }
    }

    fn fsync(
        &self,
        _: &fuser::Request,
        _: fuser::INodeNo,
        _: fuser::FileHandle,
        _: bool,
        reply: fuser::ReplyEmpty,
    ) {
        self.failures[SYNCS].fetch_add(1, Relaxed);
        reply.error(fuser::Errno::EIO);
    }
}

#[test]
fn a_failing_device_is_counted_as_often_as_it_fails() {
    let place = Place::new("eio");
    let failures = Arc::new([const { AtomicU64::new(0) }; 3]);
    let failing = Failing {
        size_b: 64 << 10,
        failures: Arc::clone(&failures),
    };
    let mounted = fuser::spawn_mount(failing, place.dir(), &fuser::Config::default());
    let Ok(session) = mounted else {
        eprintln!(
            "skipped: this user may not mount FUSE; run the tests as root, after modprobe fuse"
        );
        return;
    };
    let text = "
        define file name=files, path=$dir, size=64k, prealloc
        define process name=p {
          thread name=t, instances=2 {
            flowop read name=read, filesetname=files, fd=1, iosize=4k, random
            flowop write name=write, fd=1, iosize=4k, random
            flowop fsync name=sync, fd=1
            flowop finishoncount name=end, value=100 }
          thread name=a {
            flowop aiowrite name=aio, filesetname=files, iosize=4k, random, iters=4
            flowop aiowait name=wait
            flowop finishoncount name=endaio, value=100 } }
        run 60\n";
    let run = place.run(text, &["--prepared", "--max-errors=100%"]);
    session.umount_and_join().unwrap();
    let counted = |kind: usize| failures[kind].load(Relaxed);
    assert!((0..3).all(|kind| counted(kind) > 0), "{failures:?}");
    assert_eq!(failed(&run, "read", "EIO"), counted(READS));
    assert_eq!(
        failed(&run, "write", "EIO") + failed(&run, "aio", "EIO"),
        counted(WRITES)
    );
    assert_eq!(failed(&run, "sync", "EIO"), counted(SYNCS));
    assert_eq!(
        errors(&run),
        counted(READS) + counted(WRITES) + counted(SYNCS)
    );
    assert!(ops(&run, "read") > 0 && ops(&run, "write") > 0);
    assert_eq!(ops(&run, "sync"), 0);
}
