//! Programs that change files through memory, without a word.

use std::io;
use std::path::{Path, PathBuf};

use greenfs::branch::store::Store;
use greenfs::protocol::{Kind, NodeId};

use super::{ROLES, World};
use crate::memory::Memory;
use crate::operation::{Operation, node, shape};

impl World<Memory> {
    /// One of the files, if there are any.
    pub fn nth_file(&self, nth: usize) -> Option<PathBuf> {
        let shape = shape(&self.reference, false);
        let files = shape.iter().filter(|(_, seen)| seen.kind == Kind::File);
        let files: Vec<&PathBuf> = files.map(|(path, _)| path).collect();
        let nth = nth.checked_rem(files.len())?;
        Some(files[nth].clone())
    }

    /// Whether the process goes on after what it did.
    fn goes_on(&mut self, done: io::Result<()>) -> bool {
        if self.life.is_over() {
            self.die();
            return false;
        }
        done.expect("flash is there");
        true
    }

    /// A program opens a file so that it can change it, and has memory of it. Returns whether it does.
    pub fn share(&mut self, path: &Path) -> bool {
        let id = node(&self.volume().flash, path).expect("it is there");
        let begun = self.volume().flash.begin_sharing(id);
        let first = begun.as_ref().ok().copied().flatten();
        if !self.goes_on(begun.map(drop)) {
            return false;
        }
        self.open.push(id);
        if let Some(record) = first {
            // A mount does so soon.
            let synced = self.flash.borrow_mut().sync(Path::new(".greenfs/journal"));
            synced.expect("it is in memory");
            self.volume().flash.note_durable(record);
        }
        self.flash.borrow_mut().map(path);
        true
    }

    /// A program changes a file through the memory that it has, if it has any.
    pub fn change(&mut self, path: &Path, at: u64, data: &[u8]) {
        let found = self.flash.borrow().look(path).expect("it can be read");
        let size_b = found.expect("it is there").attributes.size;
        // Memory ends where the file does.
        let data = &data[..size_b.saturating_sub(at).min(data.len() as u64) as usize];
        if data.is_empty() || !self.flash.borrow().is_mapped(path) {
            return;
        }
        self.take_back_promises(&Operation::Write(path.to_owned(), at, data.to_vec()));
        let changed = self.flash.borrow_mut().change(path, at, data);
        changed.expect("a program has memory of it");
        let written = self.reference.write(path, at, data);
        written.expect("it is there, too");
    }

    /// A program closes a file, and still has memory of it.
    pub fn close(&mut self, path: &Path) {
        let id = node(&self.volume().flash, path).expect("it is there");
        self.close_node(id);
    }

    /// The same; returns whether the process goes on.
    fn close_node(&mut self, id: NodeId) -> bool {
        let Some(at) = self.open.iter().position(|open| *open == id) else {
            return true;
        };
        self.open.remove(at);
        let ended = self.volume().flash.end_sharing(id);
        self.goes_on(ended)
    }

    /// No program has memory of a file any more, nor has it open.
    pub fn lose(&mut self, path: &Path) -> bool {
        let id = node(&self.volume().flash, path).expect("it is there");
        while self.open.contains(&id) {
            if !self.close_node(id) {
                return false;
            }
        }
        self.flash.borrow_mut().unmap(path);
        true
    }

    /// The same of all files.
    pub fn lose_all(&mut self) {
        while let Some(id) = self.open.first().copied() {
            self.close_node(id);
        }
        self.flash.borrow_mut().unmap_all();
        self.end_mappings();
    }

    /// Find what no memory can change any more, as a mount does.
    fn end_mappings(&mut self) -> bool {
        let flash = &mut self.volume().flash;
        let ended = flash.end_mappings(&flash.closed());
        self.goes_on(ended.map(drop))
    }

    /// Whether all branches have everything.
    fn have_all(&mut self) -> bool {
        let settled = self.volume().flash.settle();
        let goes_on = self.goes_on(settled);
        let flash = &self.volume().flash;
        goes_on && ROLES.iter().all(|role| flash.has_all(*role))
    }

    /// A program opens a file so that it can change it, and does not: no branch lacks anything by that.
    pub fn share_in_vain(&mut self, path: &Path) {
        self.fsync_with_memory();
        let is_shared = self.flash.borrow().is_mapped(path);
        if is_shared || !self.have_all() {
            return;
        }
        if self.share(path) && self.lose(path) && self.end_mappings() {
            assert!(self.have_all(), "{} did not change", path.display());
        }
    }

    /// As a mount does it: without memory, the branches that are connected then equal flash.
    pub fn fsync_with_memory(&mut self) {
        self.end_mappings();
        self.fsync();
        let flash = &self.volume.as_ref().expect("it is open").flash;
        let is_there = |id: &NodeId| flash.node(*id).is_ok();
        if self.open.iter().any(is_there) || self.flash.borrow().has_memory() {
            return;
        }
        for role in self.connected() {
            let branch = shape(&*self.branch(role).borrow(), true);
            assert_eq!(branch, shape(&*self.flash.borrow(), true), "{role}");
        }
    }
}
