//! Memory that programs have of files, and change without a word.

use std::io;
use std::path::Path;

use super::Memory;
use crate::tree::{Step, error};

impl Memory {
    /// A program has memory of a file.
    pub fn map(&mut self, path: &Path) {
        let file = self.file(path).expect("it is a file");
        self.mapped.entry(file).or_default();
    }

    /// No program has memory of a file any more.
    pub fn unmap(&mut self, path: &Path) {
        let file = self.file(path).expect("it is a file");
        self.mapped.remove(&file);
    }

    pub fn unmap_all(&mut self) {
        self.mapped.clear();
    }

    pub fn is_mapped(&self, path: &Path) -> bool {
        let file = self.file(path);
        file.is_ok_and(|file| self.mapped.contains_key(&file))
    }

    /// Whether a program has memory of any file that has a name.
    pub fn has_memory(&self) -> bool {
        self.mapped.keys().any(|(number, born_ns)| {
            let inode = self.now.inodes.get(number);
            inode.is_some_and(|inode| inode.born_ns == *born_ns)
        })
    }

    /// A program changes a file through its memory. Only the first time it gets another time, as the kernel
    /// is not asked again.
    pub fn change(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        let file = self.file(path)?;
        let inode = &self.now.inodes[&file.0];
        let times = (inode.modified_ns, inode.changed_ns);
        let Some(is_changed) = self.mapped.get_mut(&file) else {
            return error(libc::EFAULT);
        };
        let was_changed = std::mem::replace(is_changed, true);
        self.step(Step::Write(file, offset, data.to_vec()))?;
        let inode = self.now.inodes.get_mut(&file.0).filter(|_| was_changed);
        if let Some(inode) = inode {
            (inode.modified_ns, inode.changed_ns) = times;
        }
        Ok(())
    }
}
