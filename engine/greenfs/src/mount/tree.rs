//! The volume as it is now: what all that programs do to it works with.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use fuser::{FileAttr, INodeNo, Request};

use crate::branch::folder::Folder;
use crate::mount::attributes::opened;
use crate::mount::errors::error;
use crate::mount::handles::Handles;
use crate::mount::origins::Origins;
use crate::mount::places::is_past;
use crate::mount::shared::Shared;
use crate::mount::standing::Standings;
use crate::mount::uses::Uses;
use crate::protocol::NodeId;
use crate::sys;
use crate::volume::{Flash, New};

pub struct Tree {
    pub shared: Arc<Shared>,
    pub standings: Arc<Standings>,
    pub handles: Arc<Handles>,
    /// Where data come from that flash has not.
    pub origins: Arc<Origins>,
    /// Noted where something may have to be given up.
    pub uses: Option<Arc<Uses>>,
    /// Whether this process can give files to others.
    pub is_root: bool,
    /// Whether the kernel may read flash itself.
    pub has_passthrough: AtomicBool,
    /// What the kernel is to forget of files.
    pub known: Sender<(INodeNo, Known)>,
    /// Files that are closed and that nothing says were read; and when they were, in nanoseconds since 1970.
    pub read: Sender<(NodeId, i64)>,
}

/// What the kernel knows of a file.
pub enum Known {
    Attributes,
    /// Its own copy of this range.
    Data(Range<u64>),
}

/// What flash has under a number; what the remote had before cannot be changed.
pub fn node(inode: INodeNo) -> io::Result<NodeId> {
    match is_past(inode) {
        true => Err(error(libc::EROFS)),
        false => Ok(NodeId(inode.0)),
    }
}

impl Tree {
    /// A node, to look at and to open; also one that has no name any more but is open.
    pub fn reach(&self, flash: &Flash<Folder>, id: NodeId) -> io::Result<File> {
        match flash.path(id) {
            Ok(path) => flash.store().reach(&path),
            Err(gone) => match self.handles.of(id) {
                Some(open) => open.file.try_clone(),
                None => Err(gone),
            },
        }
    }

    /// Open such a node, by the flags of open(2).
    pub fn open_node(&self, flash: &Flash<Folder>, id: NodeId, flags: i32) -> io::Result<File> {
        match flash.path(id) {
            Ok(path) => flash.store().open_file(&path, flags),
            Err(_) => {
                let access = flags & libc::O_ACCMODE;
                File::options()
                    .read(access != libc::O_WRONLY)
                    .write(access != libc::O_RDONLY)
                    .custom_flags(flags & !libc::O_ACCMODE)
                    .open(opened(&self.reach(flash, id)?))
            }
        }
    }

    pub fn attributes(&self, flash: &Flash<Folder>, id: NodeId) -> io::Result<FileAttr> {
        let found = match flash.path(id) {
            Ok(path) => flash.store().status(&path),
            Err(_) => sys::status(&self.reach(flash, id)?),
        };
        Ok(self.shown(flash, id, &found?))
    }

    /// Who is to own what a program makes.
    pub fn owned_by(&self, request: &Request, mode: u32) -> New {
        New {
            mode,
            owner: self.is_root.then(|| (request.uid(), request.gid())),
        }
    }
}
