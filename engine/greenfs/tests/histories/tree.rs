//! A tree of files in memory, and the steps that change it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use greenfs::protocol::{Attributes, Kind};

const ROOT: u64 = 2;

/// A block of a file. Bytes.
const BLOCK_B: u64 = 4096;

#[derive(Clone, Debug)]
pub struct Inode {
    /// When it was made: its number may have been another's before.
    pub born_ns: i64,
    pub kind: Kind,
    pub mode: u32,
    pub data: Vec<u8>,
    pub entries: BTreeMap<OsString, u64>,
    pub modified_ns: i64,
    pub changed_ns: i64,
}

#[derive(Clone, Debug)]
pub struct Tree {
    pub inodes: BTreeMap<u64, Inode>,
    next: u64,
}

/// A number, and when it was given.
pub type File = (u64, i64);

#[derive(Clone, Debug)]
pub enum Step {
    Make(PathBuf, Kind, u32),
    Link(PathBuf, PathBuf),
    Rename(PathBuf, PathBuf),
    RemoveFile(PathBuf),
    RemoveFolder(PathBuf),
    Dress(PathBuf, Attributes),
    Write(File, u64, Vec<u8>),
    Truncate(File, u64),
}

pub fn error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

impl Tree {
    pub fn new() -> Self {
        let mut tree = Self {
            inodes: BTreeMap::new(),
            next: ROOT,
        };
        tree.add(Kind::Folder, 0o755, 0);
        tree
    }

    fn add(&mut self, kind: Kind, mode: u32, at_ns: i64) -> u64 {
        // The lowest free number is taken again, as file systems do.
        let free = (ROOT..=self.next).find(|number| !self.inodes.contains_key(number));
        let number = free.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        let inode = Inode {
            born_ns: at_ns,
            kind,
            mode,
            data: Vec::new(),
            entries: BTreeMap::new(),
            modified_ns: at_ns,
            changed_ns: at_ns,
        };
        self.inodes.insert(number, inode);
        number
    }

    pub fn find(&self, path: &Path) -> io::Result<u64> {
        let mut at = ROOT;
        for part in path.components() {
            let inode = &self.inodes[&at];
            if inode.kind != Kind::Folder {
                return error(libc::ENOTDIR);
            }
            match inode.entries.get(part.as_os_str()) {
                Some(number) => at = *number,
                None => return error(libc::ENOENT),
            }
        }
        Ok(at)
    }

    fn parent(&self, path: &Path) -> io::Result<(u64, OsString)> {
        let parent = self.find(path.parent().unwrap_or(Path::new("")))?;
        match path.file_name() {
            _ if self.inodes[&parent].kind != Kind::Folder => error(libc::ENOTDIR),
            Some(name) => Ok((parent, name.to_owned())),
            None => error(libc::EINVAL),
        }
    }

    fn entries(&mut self, folder: u64) -> &mut BTreeMap<OsString, u64> {
        &mut self.inodes.get_mut(&folder).expect("it is there").entries
    }

    fn file(&mut self, (number, born_ns): &File) -> Option<&mut Inode> {
        let inode = self.inodes.get_mut(number);
        inode.filter(|inode| inode.born_ns == *born_ns)
    }

    /// Forget what no name leads to.
    fn sweep(&mut self, number: u64) {
        let is_named = |inode: &Inode| inode.entries.values().any(|entry| *entry == number);
        if !self.inodes.values().any(is_named) {
            self.inodes.remove(&number);
        }
    }

    /// What a step changes in the blocks that a file has had: `own_b` says up to where they are still its
    /// own. Its inode stays as it was.
    pub fn overwrite(&mut self, own_b: &mut BTreeMap<File, u64>, step: &Step) {
        let (Step::Write(file, ..) | Step::Truncate(file, _)) = step else {
            return;
        };
        let Some(inode) = self.file(file) else { return };
        let own_b = own_b.entry(*file).or_insert(inode.data.len() as u64);
        let within = |from: u64, to: u64| from.min(*own_b) as usize..to.min(*own_b) as usize;
        match step {
            Step::Write(_, offset, data) => {
                let there = within(*offset, offset + data.len() as u64);
                let length = there.len();
                inode.data[there].copy_from_slice(&data[..length]);
            }
            // The rest of the last block is of zeros, unless there is none.
            Step::Truncate(_, size) => {
                inode.data[within(*size, size.next_multiple_of(BLOCK_B))].fill(0);
                *own_b = (*size).min(*own_b);
            }
            _ => (),
        }
    }

    pub fn do_step(&mut self, at_ns: i64, step: &Step) -> io::Result<()> {
        match step {
            Step::Make(path, kind, mode) => {
                let (parent, name) = self.parent(path)?;
                if self.entries(parent).contains_key(&name) {
                    return error(libc::EEXIST);
                }
                let number = self.add(kind.clone(), *mode, at_ns);
                self.entries(parent).insert(name, number);
            }
            Step::Link(from, to) => {
                let number = self.find(from)?;
                let (parent, name) = self.parent(to)?;
                if self.inodes[&number].kind == Kind::Folder {
                    return error(libc::EPERM);
                }
                if self.entries(parent).contains_key(&name) {
                    return error(libc::EEXIST);
                }
                self.entries(parent).insert(name, number);
                self.touch(number, at_ns);
            }
            Step::Rename(from, to) => return self.rename(at_ns, from, to),
            Step::RemoveFile(path) => {
                let number = self.find(path)?;
                let (parent, name) = self.parent(path)?;
                if self.inodes[&number].kind == Kind::Folder {
                    return error(libc::EISDIR);
                }
                self.entries(parent).remove(&name);
                self.touch(number, at_ns);
                self.sweep(number);
            }
            Step::RemoveFolder(path) => {
                let number = self.find(path)?;
                let (parent, name) = self.parent(path)?;
                if self.inodes[&number].kind != Kind::Folder {
                    return error(libc::ENOTDIR);
                }
                if !self.inodes[&number].entries.is_empty() {
                    return error(libc::ENOTEMPTY);
                }
                self.entries(parent).remove(&name);
                self.sweep(number);
            }
            Step::Dress(path, attributes) => {
                let number = self.find(path)?;
                let inode = self.inodes.get_mut(&number).expect("it is there");
                if !matches!(inode.kind, Kind::Symlink(_)) {
                    inode.mode = attributes.mode;
                }
                if inode.kind == Kind::File {
                    inode.modified_ns = attributes.modified_ns;
                }
                inode.changed_ns = at_ns;
            }
            Step::Write(file, offset, data) => {
                let Some(inode) = self.file(file) else {
                    return Ok(());
                };
                let end = *offset as usize + data.len();
                inode.data.resize(inode.data.len().max(end), 0);
                inode.data[*offset as usize..end].copy_from_slice(data);
                (inode.modified_ns, inode.changed_ns) = (at_ns, at_ns);
            }
            Step::Truncate(file, size) => {
                let Some(inode) = self.file(file) else {
                    return Ok(());
                };
                inode.data.resize(*size as usize, 0);
                (inode.modified_ns, inode.changed_ns) = (at_ns, at_ns);
            }
        }
        Ok(())
    }

    fn rename(&mut self, at_ns: i64, from: &Path, to: &Path) -> io::Result<()> {
        let number = self.find(from)?;
        let (old_parent, old_name) = self.parent(from)?;
        let (new_parent, new_name) = self.parent(to)?;
        if to != from && to.starts_with(from) {
            return error(libc::EINVAL);
        }
        let replaced = self.entries(new_parent).get(&new_name).copied();
        if replaced == Some(number) {
            return Ok(());
        }
        let is_folder = self.inodes[&number].kind == Kind::Folder;
        if let Some(replaced) = replaced {
            let there = &self.inodes[&replaced];
            match (is_folder, there.kind == Kind::Folder) {
                (true, false) => return error(libc::ENOTDIR),
                (false, true) => return error(libc::EISDIR),
                _ if !there.entries.is_empty() => return error(libc::ENOTEMPTY),
                _ => (),
            }
        }
        self.entries(old_parent).remove(&old_name);
        self.entries(new_parent).insert(new_name, number);
        self.touch(number, at_ns);
        if let Some(replaced) = replaced {
            self.touch(replaced, at_ns);
            self.sweep(replaced);
        }
        Ok(())
    }

    fn touch(&mut self, number: u64, at_ns: i64) {
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.changed_ns = at_ns;
        }
    }
}
