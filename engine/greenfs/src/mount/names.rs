//! What programs do to names: each is done on flash and in the journal at once.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use fuser::{FileAttr, FileType, INodeNo, RenameFlags, Request};

use crate::branch::folder::Folder;
use crate::mount::answers::{ATTRIBUTES_CHANGE, ATTRIBUTES_LAST, Lasting};
use crate::mount::attributes::{Wish, attributes, device};
use crate::mount::errors::error;
use crate::mount::handles::Listing;
use crate::mount::tree::{Tree, node};
use crate::protocol::{Kind, Node, NodeId};
use crate::sys;
use crate::volume::Flash;

/// The longest name of a file. Bytes.
const NAME_MOST_B: usize = 255;

impl Tree {
    /// What a name stands for, if for anything: flash knows every name.
    pub fn look_up(&self, parent: INodeNo, name: &OsStr) -> io::Result<Option<Lasting>> {
        if name.len() > NAME_MOST_B {
            return Err(error(libc::ENAMETOOLONG));
        }
        let flash = self.shared.flash();
        let id = flash.lookup(node(parent)?, name);
        id.map(|id| self.lasting(&flash, id)).transpose()
    }

    pub fn look_at(&self, inode: INodeNo) -> io::Result<Lasting> {
        self.lasting(&self.shared.flash(), node(inode)?)
    }

    fn lasting(&self, flash: &Flash<Folder>, id: NodeId) -> io::Result<Lasting> {
        let found = self.attributes(flash, id)?;
        let changes = flash.part(id).is_some() || flash.is_shared(id);
        // Of a folder the kernel may take an answer that it got late for the last word.
        let lasts = match changes || found.kind == FileType::Directory {
            true => ATTRIBUTES_CHANGE,
            false => ATTRIBUTES_LAST,
        };
        Ok((found, lasts))
    }

    pub fn change(&self, inode: INodeNo, handle: Option<u64>, wish: &Wish) -> io::Result<FileAttr> {
        let id = node(inode)?;
        if let Some(size) = wish.size {
            self.cut(id, handle, size)?;
        }
        let mut flash = self.shared.flash();
        let reached = self.reach(&flash, id)?;
        if flash.part(id).is_some() && flash.node(id).is_ok() {
            self.dress_part(&mut flash, id, &reached, wish)?;
            let shown = self.shown(&flash, id, &sys::status(&reached)?);
            drop(flash);
            self.standings.poke();
            return Ok(shown);
        }
        wish.fulfil(&reached)?;
        // To look at a link would change when it was last read; no branch has its times.
        let is_noted = |node: &Node| !(wish.is_of_times() && node.kind != Kind::File);
        if flash.node(id).is_ok_and(is_noted) {
            flash.note_attributes(id)?;
        }
        drop(flash);
        self.standings.poke();
        Ok(attributes(id, &sys::status(&reached)?))
    }

    /// Make a node by `make`, and say what it is.
    fn make(
        &self,
        make: impl FnOnce(&mut Flash<Folder>) -> io::Result<NodeId>,
    ) -> io::Result<FileAttr> {
        let mut flash = self.shared.flash();
        let id = make(&mut flash)?;
        let attributes = self.attributes(&flash, id);
        drop(flash);
        self.standings.poke();
        attributes
    }

    pub fn make_node(
        &self,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        mode: u32,
        number: u32,
    ) -> io::Result<FileAttr> {
        let parent = node(parent)?;
        self.make(|flash| match mode & libc::S_IFMT {
            libc::S_IFREG => {
                flash.create(parent, name, self.owned_by(request, mode & !libc::S_IFMT))
            }
            _ => flash.make_other(parent, name, device(number), self.owned_by(request, mode)),
        })
    }

    pub fn make_folder(
        &self,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        mode: u32,
    ) -> io::Result<FileAttr> {
        self.make(|flash| flash.make_folder(node(parent)?, name, self.owned_by(request, mode)))
    }

    pub fn make_symlink(
        &self,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        target: &OsStr,
    ) -> io::Result<FileAttr> {
        let new = self.owned_by(request, 0o777);
        self.make(|flash| flash.symlink(node(parent)?, name, target, new))
    }

    pub fn link(&self, inode: INodeNo, parent: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let id = node(inode)?;
        self.make(|flash| flash.link(id, node(parent)?, name).map(|()| id))
    }

    pub fn remove(&self, parent: INodeNo, name: &OsStr, is_folder: bool) -> io::Result<()> {
        let mut flash = self.shared.flash();
        match is_folder {
            true => flash.remove_folder(node(parent)?, name)?,
            false => flash.unlink(node(parent)?, name)?,
        }
        drop(flash);
        self.standings.poke();
        Ok(())
    }

    pub fn rename(
        &self,
        from: (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> io::Result<()> {
        let mut flash = self.shared.flash();
        let (from, to) = ((node(from.0)?, from.1), (node(to.0)?, to.1));
        if !RenameFlags::RENAME_NOREPLACE.contains(flags) {
            return Err(error(libc::EINVAL));
        }
        if !flags.is_empty() && flash.lookup(to.0, to.1).is_some() {
            return Err(error(libc::EEXIST));
        }
        flash.rename(from, to)?;
        drop(flash);
        self.standings.poke();
        Ok(())
    }

    pub fn read_link(&self, inode: INodeNo) -> io::Result<Vec<u8>> {
        match &self.shared.flash().node(node(inode)?)?.kind {
            Kind::Symlink(target) => Ok(target.as_encoded_bytes().to_vec()),
            _ => Err(error(libc::EINVAL)),
        }
    }

    /// Names in a folder with what they stand for, `.` and `..` first.
    pub fn list(&self, inode: INodeNo, handle: u64) -> io::Result<Listing> {
        self.handles.listing(handle, || {
            let flash = self.shared.flash();
            let id = NodeId(inode.0);
            let above = flash.node(id).ok().and_then(|node| node.names.first());
            let above = above.map_or(id, |name| name.parent);
            let kind = |id| match flash.node(id).map(|node| &node.kind) {
                Ok(Kind::Folder) => FileType::Directory,
                Ok(Kind::Symlink(_)) => FileType::Symlink,
                Ok(Kind::Other) => self
                    .attributes(&flash, id)
                    .map_or(FileType::RegularFile, |found| found.kind),
                _ => FileType::RegularFile,
            };
            let dots = [(".", id), ("..", above)];
            let dots = dots.map(|(name, id)| (name.into(), id, FileType::Directory));
            let entries = flash.entries(id).into_iter();
            let entries = entries.map(|(name, id)| (name, id, kind(id)));
            Ok(Arc::new(dots.into_iter().chain(entries).collect()))
        })
    }
}
