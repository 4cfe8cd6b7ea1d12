//! The kernel's questions, and the answers.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};

use crate::branch::OWN;
use crate::mount::answers::{
    ATTRIBUTES_LAST, attributes, data, empty, entry, entry_for, listing, offset,
};
use crate::mount::attributes::Wish;
use crate::mount::errors::errno;
use crate::mount::handles::Way;
use crate::mount::names::Tree;
use crate::mount::past::Past;
use crate::mount::places::is_past;
use crate::protocol::ROOT;
use crate::sys;

/// The longest request that the kernel sends. Bytes.
const REQUEST_MOST_B: u32 = 1 << 20;

impl Tree {
    /// What the remote held, if a number is of that, or a name in a folder leads there.
    fn past(&self, inode: INodeNo, name: Option<&OsStr>) -> Option<&Arc<Past>> {
        let leads_there = inode.0 == ROOT.0 && name.is_some_and(|name| name == OWN);
        let past = self.past.as_ref();
        past.filter(|_| is_past(inode) || leads_there)
    }

    /// Find something of what was, or of what is, and answer that.
    fn find<R>(
        &self,
        inode: INodeNo,
        was: impl FnOnce(&Past) -> io::Result<R> + Send + 'static,
        is: impl FnOnce(&Self) -> io::Result<R>,
        answer: impl FnOnce(io::Result<R>) + Send + 'static,
    ) {
        match self.past(inode, None) {
            Some(past) => past.of(inode, was, answer),
            None => answer(is(self)),
        }
    }

    /// Answer when flash and all connected branches have everything.
    fn answer_fsync(&self, inode: INodeNo, handle: Option<u64>, reply: ReplyEmpty) {
        // What was does not change.
        if is_past(inode) {
            return reply.ok();
        }
        match self.make_durable(inode, handle) {
            Ok(record) => self
                .standings
                .answer_after(record, Box::new(move || reply.ok())),
            Err(error) => reply.error(errno(&error)),
        }
    }
}

impl Filesystem for Tree {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(REQUEST_MOST_B);
        self.has_passthrough &= config.add_capabilities(InitFlags::FUSE_PASSTHROUGH).is_ok()
            && config.set_max_stack_depth(1).is_ok();
        // Who waits for the remote in a folder keeps nobody else from it.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if let Some(past) = self.past(parent, Some(name)) {
            let name = name.to_owned();
            let find = move |past: &Past| past.look_up(parent, &name);
            return past.within(parent, find, |found| entry_for(reply, found));
        }
        entry(reply, self.look_up(parent, name));
    }

    fn forget(&self, _: &Request, inode: INodeNo, times: u64) {
        if let Some(past) = self.past(inode, None) {
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
        attributes(
            reply,
            &self.change(inode, handle.map(|handle| handle.0), &wish),
        );
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
        entry(reply, self.make_node(request, (parent, name), mode, device));
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
        entry(reply, self.make_folder(request, (parent, name), mode));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, &self.remove(parent, name, false));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, &self.remove(parent, name, true));
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
            self.make_symlink(request, (parent, name), target.as_os_str()),
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
            &Tree::rename(self, (parent, name), (new_parent, new_name), flags),
        );
    }

    fn link(&self, _: &Request, inode: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, Tree::link(self, inode, parent, name));
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
        let (id, file, found) = match Tree::create(self, request, (parent, name), mode, flags) {
            Ok(created) => created,
            Err(error) => return reply.error(errno(&error)),
        };
        let (handle, flags, way) = self.opened(id, file, flags, |file| reply.open_backing(file));
        let handle = FileHandle(handle);
        match way {
            Way::Asking => reply.created(&ATTRIBUTES_LAST, &found, Generation(0), handle, flags),
            Way::Through(backing) => reply.created_passthrough(
                &ATTRIBUTES_LAST,
                &found,
                Generation(0),
                handle,
                flags,
                &backing,
            ),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if let Some(past) = self.past(inode, None) {
            if flags.0 & libc::O_ACCMODE != libc::O_RDONLY {
                return reply.error(Errno::EROFS);
            }
            let find = move |past: &Past| past.open(inode);
            return past.of(inode, find, |opened| match opened {
                Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
                Err(error) => reply.error(errno(&error)),
            });
        }
        let (id, file) = match Tree::open(self, inode, flags.0) {
            Ok(opened) => opened,
            Err(error) => return reply.error(errno(&error)),
        };
        let (handle, flags, way) = self.opened(id, file, flags.0, |file| reply.open_backing(file));
        match way {
            Way::Asking => reply.opened(FileHandle(handle), flags),
            Way::Through(backing) => reply.opened_passthrough(FileHandle(handle), flags, &backing),
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
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (handle, size) = (handle.0, size as usize);
        self.find(
            inode,
            move |past| past.read(handle, offset, size),
            |tree| tree.handles.read(handle, offset, size),
            |read| data(reply, &read),
        );
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
        match Tree::write(self, handle.0, offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(errno(&error)),
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
            false => empty(reply, &Tree::flush(self, handle.0)),
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
        match self.past(inode, None) {
            Some(past) => {
                past.release(handle);
                reply.ok();
            }
            None => empty(reply, &Tree::release(self, handle)),
        }
    }

    fn fsync(&self, _: &Request, inode: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        self.answer_fsync(inode, Some(handle.0), reply);
    }

    fn fsyncdir(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.answer_fsync(inode, None, reply);
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(self.handles.open_folder()), FopenFlags::empty());
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
            self.handles.forget_listing(handle.0);
        }
        match self.past(inode, None) {
            Some(past) => past.within(
                inode,
                move |past| past.list(inode, handle.0),
                move |listed| listing(reply, offset, listed),
            ),
            None => listing(reply, offset, self.list(inode, handle.0)),
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
        self.handles.forget_listing(handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        match sys::space(self.shared.root()) {
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
        empty(reply, &self.allocate(handle.0, mode, offset, length));
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
