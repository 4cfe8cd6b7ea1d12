//! Files that programs open or make, and how the kernel gets at their data.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use fuser::{
    BackingId, FileAttr, FileHandle, FopenFlags, Generation, INodeNo, ReplyCreate, ReplyOpen,
    Request,
};

use crate::branch::folder::Folder;
use crate::mount::answers::ATTRIBUTES_CHANGE;
use crate::mount::attributes::attributes;
use crate::mount::errors::errno;
use crate::mount::handles::{Open, Way, is_shared};
use crate::mount::tree::{Known, Tree, node};
use crate::protocol::NodeId;
use crate::sys;
use crate::volume::Flash;

/// Of files that are open for writing here, whatever the programs may.
const OWNERS: u32 = 0o600;

/// Up to this size the kernel asks for a file that is read again. Bytes.
const SMALL_B: u64 = 128 << 10;

const SYNCHRONOUS: i32 = libc::O_SYNC | libc::O_DSYNC;

/// What the kernel is told of an open file.
struct Ready(FileHandle, FopenFlags, Way);

impl Tree {
    /// Open a file, and answer with its handle.
    pub fn open(&self, inode: INodeNo, flags: i32, reply: ReplyOpen) {
        // Nothing of it is given up before it counts as open.
        let mut flash = self.shared.flash();
        let opened = self.open_file(&mut flash, inode, flags).and_then(|open| {
            let is_kept = self.is_kept(&flash, &open, flags)?;
            let backing = |file: &File| reply.open_backing(file);
            self.opened(&mut flash, open, flags, (!is_kept).then_some(backing))
        });
        drop(flash);
        match opened {
            Err(error) => reply.error(errno(&error)),
            Ok(Ready(handle, flags, Way::Asking)) => reply.opened(handle, flags),
            Ok(Ready(handle, flags, Way::Through(backing))) => {
                reply.opened_passthrough(handle, flags, &backing);
            }
        }
    }

    /// Make a file and open it, and answer with its handle.
    pub fn create(
        &self,
        request: &Request,
        place: (INodeNo, &OsStr),
        mode: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut flash = self.shared.flash();
        let (id, file, found) = match self.create_file(&mut flash, request, place, mode, flags) {
            Ok(created) => created,
            Err(error) => return reply.error(errno(&error)),
        };
        let open = (id, file, false);
        let backing = Some(|file: &File| reply.open_backing(file));
        let opened = self.opened(&mut flash, open, flags, backing);
        drop(flash);
        self.standings.poke();
        let (lasts, generation) = (&ATTRIBUTES_CHANGE, Generation(0));
        match opened {
            Err(error) => reply.error(errno(&error)),
            Ok(Ready(handle, flags, Way::Asking)) => {
                reply.created(lasts, &found, generation, handle, flags);
            }
            Ok(Ready(handle, flags, Way::Through(backing))) => {
                reply.created_passthrough(lasts, &found, generation, handle, flags, &backing);
            }
        }
    }

    /// Whether the kernel is to ask for a file and keep what it is told: one that is opened to be read, is small,
    /// and was opened so before. Of a file that it reads on flash, it asks for attributes after each read.
    fn is_kept(
        &self,
        flash: &Flash<Folder>,
        (id, file, _): &(NodeId, File, bool),
        flags: i32,
    ) -> io::Result<bool> {
        // It would not see what memory changes on flash.
        let can_be = flags & libc::O_ACCMODE == libc::O_RDONLY && !flash.is_shared(*id);
        let is_again = can_be && self.handles.is_opened_again(*id);
        Ok(is_again && file.metadata()?.len() <= SMALL_B)
    }

    /// Open a file. Also returns whether it is not whole.
    fn open_file(
        &self,
        flash: &mut Flash<Folder>,
        inode: INodeNo,
        flags: i32,
    ) -> io::Result<(NodeId, File, bool)> {
        let id = node(inode)?;
        if flash.part(id).is_some() && flash.node(id).is_ok() {
            return Ok((id, Self::open_part(flash, id)?, true));
        }
        let flags = flags & (libc::O_ACCMODE | SYNCHRONOUS);
        Ok((id, self.open_node(flash, id, flags)?, false))
    }

    /// Make a file and open it for reading and writing.
    fn create_file(
        &self,
        flash: &mut Flash<Folder>,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        mode: u32,
        flags: i32,
    ) -> io::Result<(NodeId, File, FileAttr)> {
        let mode = mode & !libc::S_IFMT;
        let new = self.owned_by(request, mode | OWNERS);
        let (id, file) = flash.create_by(node(parent)?, name, new, |folder, path| {
            folder.create_open(path, new.mode, flags & SYNCHRONOUS)
        })?;
        if mode & OWNERS != OWNERS {
            file.set_permissions(Permissions::from_mode(mode))?;
            flash.note_attributes(id)?;
        }
        let attributes = attributes(id, &sys::status(&file)?);
        Ok((id, file, attributes))
    }

    /// Remember an open file. `backing` lets the kernel at it; without, the kernel asks.
    fn opened(
        &self,
        flash: &mut Flash<Folder>,
        (id, file, is_part): (NodeId, File, bool),
        flags: i32,
        backing: Option<impl FnOnce(&File) -> io::Result<BackingId>>,
    ) -> io::Result<Ready> {
        let access = flags & libc::O_ACCMODE;
        let (is_for_writing, is_read_write) = (access != libc::O_RDONLY, access == libc::O_RDWR);
        // A program that reads what it has just written would wait for the device to have that noted, each time.
        let is_unnoted = is_read_write && sys::begin_unnoted_reads(&file).is_ok();
        let open = Open {
            id,
            file,
            is_for_writing,
            is_read_write,
            is_part,
            is_synchronous: flags & SYNCHRONOUS != 0,
            is_unnoted: is_unnoted && flags & libc::O_NOATIME == 0,
            read_ns: AtomicI64::new(0),
        };
        if let Some(uses) = &self.uses {
            uses.open(id);
        }
        let has_passthrough = self.has_passthrough.load(Ordering::Relaxed) && !is_part;
        let backing = backing.filter(|_| has_passthrough);
        let (handle, way) = self.handles.add(open, |file| {
            // Flash on what cannot be passed through is read by asking.
            match backing.map(|backing| backing(file)) {
                Some(Ok(backing)) => Way::Through(Arc::new(backing)),
                _ => Way::Asking,
            }
        });
        let first = match is_shared(&way, is_read_write) {
            true => {
                // Whoever listens ends with the mount.
                let _ = self.known.send((INodeNo(id.0), Known::Attributes));
                flash.begin_sharing(id)
            }
            false => Ok(None),
        };
        if first.is_err() {
            self.handles.remove(handle);
        }
        // Most programs change no memory: none waits for that.
        self.shared.make_durable_soon(first?);
        let mut flags = match &way {
            Way::Asking => FopenFlags::FOPEN_KEEP_CACHE,
            // Every write() still comes here.
            Way::Through(_) if is_for_writing => FopenFlags::FOPEN_DIRECT_IO,
            Way::Through(_) => FopenFlags::empty(),
        };
        // Only memory that programs share may leave more to be written when a file is closed. Of others it is
        // written down soon what they are then, and nobody waits for that.
        flags.set(FopenFlags::FOPEN_NOFLUSH, !is_read_write);
        Ok(Ready(FileHandle(handle), flags, way))
    }
}
