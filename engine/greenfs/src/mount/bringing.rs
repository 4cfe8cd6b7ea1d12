//! Files that are not whole on flash, as programs see them: as if they were.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use fuser::{FileAttr, INodeNo};

use crate::branch::folder::{Folder, read_at};
use crate::cache::Part;
use crate::mount::attributes::{Wish, attributes, moment, opened};
use crate::mount::tree::{Tree, node};
use crate::protocol::NodeId;
use crate::sys;
use crate::volume::{Flash, absent, complete};

impl Tree {
    /// What the kernel is told of a node that was looked at.
    pub fn shown(&self, flash: &Flash<Folder>, id: NodeId, found: &libc::stat64) -> FileAttr {
        let mut shown = attributes(id, found);
        if let (Some(_), Ok(node)) = (flash.part(id), flash.node(id)) {
            shown.perm = node.attributes.mode as u16;
            shown.mtime = moment(node.attributes.modified_ns);
            shown.ctime = moment(node.changed_ns);
        }
        shown
    }

    /// Open a file that is not whole.
    pub fn open_part(flash: &mut Flash<Folder>, id: NodeId) -> io::Result<File> {
        flash.at_work(id, |store, path| {
            let reached = store.reach(path)?;
            File::options()
                .read(true)
                .write(true)
                .open(opened(&reached))
        })
    }

    /// Whether a write to an open file has to wait until it is whole.
    pub fn must_bring(&self, handle: u64) -> bool {
        let open = self.handles.get(handle);
        let open = open.filter(|open| open.is_part);
        open.is_some_and(|open| self.shared.flash().part(open.id).is_some())
    }

    /// The same of a change of its size.
    pub fn must_bring_for(&self, inode: INodeNo, wish: &Wish) -> bool {
        let is_cut = wish.size.is_some_and(|size| size > 0);
        is_cut && node(inode).is_ok_and(|id| self.shared.flash().part(id).is_some())
    }

    /// Flash, with a file whole on it.
    pub fn whole(&self, id: NodeId) -> io::Result<MutexGuard<'_, Flash<Folder>>> {
        loop {
            let flash = self.shared.flash();
            let is_done = |part: &Part| part.is_whole() && flash.node(id).is_err();
            if flash.part(id).is_none_or(is_done) {
                return Ok(flash);
            }
            drop(flash);
            self.origins
                .bring(&*self.shared, id, &(0..u64::MAX), None)?;
            complete(&mut &*self.shared, id)?;
            self.standings.poke();
        }
    }

    /// Read an open file, if what is asked for is here.
    pub fn read_here(
        &self,
        handle: u64,
        offset: u64,
        most_b: usize,
    ) -> io::Result<Option<Vec<u8>>> {
        let open = self.handles.file(handle)?;
        open.read_ns.store(sys::tick_ns(), Ordering::Relaxed);
        if !open.is_part {
            return read_at(&open.file, offset, most_b).map(Some);
        }
        loop {
            let losses = match self.shared.flash().part(open.id) {
                None => return read_at(&open.file, offset, most_b).map(Some),
                Some(part) => {
                    let range = part.within(offset..offset.saturating_add(most_b as u64));
                    if !part.here.has_all(range.clone()) {
                        return Ok(None);
                    }
                    if let Some(uses) = &self.uses {
                        uses.read(open.id, &range);
                    }
                    part.losses
                }
            };
            let data = read_at(&open.file, offset, most_b)?;
            // Else it was given up meanwhile.
            if self
                .shared
                .flash()
                .part(open.id)
                .is_none_or(|part| part.losses == losses)
            {
                return Ok(Some(data));
            }
        }
    }

    /// Read an open file, and bring what is not here.
    pub fn read(&self, handle: u64, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        loop {
            if let Some(data) = self.read_here(handle, offset, most_b)? {
                return Ok(data);
            }
            let open = self.handles.file(handle)?;
            if self.shared.flash().node(open.id).is_err() {
                return Err(absent()); // it has no name any more: no branch has it
            }
            let range = offset..offset.saturating_add(most_b as u64);
            self.origins.bring(&*self.shared, open.id, &range, None)?;
            self.standings.poke();
        }
    }

    /// Change what is not of the data of a file that is not whole.
    pub fn dress_part(
        &self,
        flash: &mut Flash<Folder>,
        id: NodeId,
        reached: &File,
        wish: &Wish,
    ) -> io::Result<()> {
        let mut attributes = flash.node(id)?.attributes;
        let found = reached.metadata()?;
        (attributes.uid, attributes.gid) = (found.uid(), found.gid());
        wish.apply(&mut attributes);
        flash.dress(id, &attributes)?;
        wish.of_reading().fulfil(reached)
    }
}
