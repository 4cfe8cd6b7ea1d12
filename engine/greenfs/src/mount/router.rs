//! The kernel's questions: each is answered by what is, or by what was.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};

use crate::branch::OWN;
use crate::mount::answers::{
    ATTRIBUTES_CHANGE, attributes, data, empty, entry, entry_for, entry_or_none, handle, listing,
    offset, space, written,
};
use crate::mount::attributes::Wish;
use crate::mount::past::Past;
use crate::mount::places::is_past;
use crate::mount::tree::{Known, Tree};
use crate::protocol::ROOT;
use crate::sys;

/// The longest request that the kernel sends. Bytes.
const REQUEST_MOST_B: u32 = 1 << 20;

pub struct Router {
    pub tree: Arc<Tree>,
    /// What the remote held; none without a remote.
    pub past: Option<Arc<Past>>,
}

impl Router {
    /// What answers for a number, if that is of what was.
    fn past(&self, inode: INodeNo) -> Option<&Arc<Past>> {
        self.past.as_ref().filter(|_| is_past(inode))
    }

    /// Find something of what was, or of what is, and answer that.
    fn find<R>(
        &self,
        inode: INodeNo,
        was: impl FnOnce(&Past) -> io::Result<R> + Send + 'static,
        is: impl FnOnce(&Tree) -> io::Result<R>,
        answer: impl FnOnce(io::Result<R>) + Send + 'static,
    ) {
        match self.past(inode) {
            Some(past) => past.of(inode, was, answer),
            None => answer(is(&self.tree)),
        }
    }

    /// Do something to the tree, by a thread of its own where it `waits` for other branches.
    fn act(&self, waits: bool, act: impl FnOnce(&Tree) + Send + 'static) {
        let tree = Arc::clone(&self.tree);
        match waits {
            true => drop(thread::spawn(move || act(&tree))),
            false => act(&tree),
        }
    }

    /// Answer when something is durable; what was does not change.
    fn answer_fsync(&self, inode: INodeNo, handle: Option<u64>, reply: ReplyEmpty) {
        match is_past(inode) {
            true => reply.ok(),
            false => self
                .tree
                .when_durable(inode, handle, move |done| empty(reply, &done)),
        }
    }
}

impl Filesystem for Router {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(REQUEST_MOST_B);
        let can_pass = config.add_capabilities(InitFlags::FUSE_PASSTHROUGH).is_ok()
            && config.set_max_stack_depth(1).is_ok();
        let passes = &self.tree.has_passthrough;
        passes.fetch_and(can_pass, Ordering::Relaxed);
        // Who waits for the remote in a folder keeps nobody else from it.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let leads_there = parent.0 == ROOT.0 && name == OWN;
        let past = self.past.as_ref();
        match past.filter(|_| leads_there || is_past(parent)) {
            Some(past) => {
                let name = name.to_owned();
                let find = move |past: &Past| past.look_up(parent, &name);
                past.within(parent, find, |found| entry_for(reply, found));
            }
            None => entry_or_none(reply, self.tree.look_up(parent, name)),
        }
    }

    fn forget(&self, _: &Request, inode: INodeNo, times: u64) {
        if let Some(past) = self.past(inode) {
            past.places.forget(inode, times);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.find(
            inode,
            move |past| past.look_at(inode),
            |tree| tree.look_at(inode),
            |found| attributes(reply, &found),
        );
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let wish = Wish {
            mode,
            uid,
            gid,
            size,
            accessed,
            modified,
        };
        let handle = handle.map(|handle| handle.0);
        self.act(self.tree.must_bring_for(inode, &wish), move |tree| {
            let changed = tree.change(inode, handle, &wish);
            attributes(reply, &changed.map(|found| (found, ATTRIBUTES_CHANGE)));
        });
    }

    fn readlink(&self, _: &Request, inode: INodeNo, reply: ReplyData) {
        self.find(
            inode,
            move |past| past.read_link(inode),
            |tree| tree.read_link(inode),
            |target| data(reply, &target),
        );
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        entry(
            reply,
            self.tree.make_node(request, (parent, name), mode, device),
        );
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        entry(reply, self.tree.make_folder(request, (parent, name), mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, &self.tree.remove(parent, name, false));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, &self.tree.remove(parent, name, true));
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        entry(
            reply,
            self.tree
                .make_symlink(request, (parent, name), target.as_os_str()),
        );
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        empty(
            reply,
            &self
                .tree
                .rename((parent, name), (new_parent, new_name), flags),
        );
    }

    fn link(&self, _: &Request, inode: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, self.tree.link(inode, parent, name));
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.tree
            .create(request, (parent, name), mode, flags, reply);
    }

    fn open(&self, _: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.past(inode) {
            Some(_) if flags.0 & libc::O_ACCMODE != libc::O_RDONLY => reply.error(Errno::EROFS),
            Some(past) => past.of(
                inode,
                move |past| past.open(inode),
                |opened| handle(reply, opened),
            ),
            None => self.tree.open(inode, flags.0, reply),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (handle, size) = (handle.0, size as usize);
        if let Some(past) = self.past(inode) {
            let read = move |past: &Past| past.read(handle, offset, size);
            return past.of(inode, read, |read| data(reply, &read));
        }
        match self.tree.read_here(handle, offset, size) {
            Ok(None) => self.act(true, move |tree| {
                data(reply, &tree.read(handle, offset, size));
            }),
            Ok(Some(here)) => {
                // No program asked, but the kernel for sendfile(2) or splice(2), and keeps a copy.
                let is_kept = owner.is_none() && self.tree.handles.is_passed_through(handle);
                reply.data(&here);
                if is_kept {
                    let range = offset..offset + size as u64;
                    let _ = self.tree.known.send((inode, Known::Data(range)));
                }
            }
            Err(error) => data(reply, &Err(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let handle = handle.0;
        let done = move |tree: &Tree, data: &[u8]| {
            let done = tree.write(handle, offset, data);
            done.map(|()| data.len())
        };
        match self.tree.must_bring(handle) {
            true => {
                let data = data.to_owned();
                self.act(true, move |tree| written(reply, done(tree, &data)));
            }
            false => written(reply, done(&self.tree, data)),
        }
    }

    fn flush(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _: LockOwner,
        reply: ReplyEmpty,
    ) {
        match is_past(inode) {
            true => reply.ok(),
            false => empty(reply, &self.tree.flush(handle.0)),
        }
    }

    fn release(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let handle = handle.0;
        match self.past(inode) {
            Some(past) => {
                past.release(handle);
                reply.ok();
            }
            None => empty(reply, &self.tree.release(handle)),
        }
    }

    fn fsync(&self, _: &Request, inode: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        self.answer_fsync(inode, Some(handle.0), reply);
    }

    fn fsyncdir(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.answer_fsync(inode, None, reply);
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(
            FileHandle(self.tree.handles.open_folder()),
            FopenFlags::empty(),
        );
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectory,
    ) {
        if offset == 0 {
            self.tree.handles.forget_listing(handle.0);
        }
        match self.past(inode) {
            Some(past) => past.within(
                inode,
                move |past| past.list(inode, handle.0),
                move |listed| listing(reply, offset, listed),
            ),
            None => listing(reply, offset, self.tree.list(inode, handle.0)),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.tree.handles.forget_listing(handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        space(reply, sys::space(self.tree.shared.root()));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let handle = handle.0;
        self.act(self.tree.must_bring(handle), move |tree| {
            empty(reply, &tree.allocate(handle, mode, offset, length));
        });
    }

    fn copy_file_range(
        &self,
        _: &Request,
        inode: INodeNo,
        from: FileHandle,
        from_offset: u64,
        _: INodeNo,
        to: FileHandle,
        to_offset: u64,
        length: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        if is_past(inode) {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let (from, to) = ((from.0, from_offset), (to.0, to_offset));
        self.act(true, move |tree| {
            written(reply, tree.copy(from, to, length));
        });
    }

    fn lseek(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        from: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let handle = handle.0;
        self.find(
            inode,
            move |past| past.seek(handle, from, whence),
            |tree| tree.seek(handle, from, whence),
            |found| offset(reply, found),
        );
    }
}
