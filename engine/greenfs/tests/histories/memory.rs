//! A branch in memory that can lose power: what was not made durable may be gone then.
//!
//! Names and attributes are lost from the latest backwards, as by a journaling file system; the data
//! of each file are lost or not on their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use greenfs::branch::store::Store;
use greenfs::protocol::{Attributes, Found, Kind};

const ROOT: u64 = 2;

#[derive(Clone, Debug)]
struct Inode {
    /// When it was made: its number may have been another's before.
    born_ns: i64,
    kind: Kind,
    mode: u32,
    data: Vec<u8>,
    entries: BTreeMap<OsString, u64>,
    modified_ns: i64,
    changed_ns: i64,
}

#[derive(Clone, Debug)]
struct Tree {
    inodes: BTreeMap<u64, Inode>,
    next: u64,
}

/// A number, and when it was given.
type File = (u64, i64);

#[derive(Clone, Debug)]
enum Step {
    Make(PathBuf, Kind, u32),
    Link(PathBuf, PathBuf),
    Rename(PathBuf, PathBuf),
    RemoveFile(PathBuf),
    RemoveFolder(PathBuf),
    Dress(PathBuf, Attributes),
    Write(File, u64, Vec<u8>),
    Truncate(File, u64),
}

#[derive(Clone, Debug)]
pub struct Memory {
    now: Tree,
    durable: Tree,
    /// What is not durable yet, with when it was done.
    steps: Vec<(i64, Step)>,
    clock_ns: i64,
}

fn error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

impl Tree {
    fn new() -> Self {
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

    fn find(&self, path: &Path) -> io::Result<u64> {
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

    fn do_step(&mut self, at_ns: i64, step: &Step) -> io::Result<()> {
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

impl Memory {
    pub fn new() -> Self {
        Self {
            now: Tree::new(),
            durable: Tree::new(),
            steps: Vec::new(),
            clock_ns: 1_000_000_000,
        }
    }

    /// What would be left if power went now and took all that it can.
    pub fn durable(&self) -> Self {
        Self {
            now: self.durable.clone(),
            steps: Vec::new(),
            ..self.clone()
        }
    }

    /// Lose power. `luck` decides how much of what was not durable is there afterwards.
    pub fn cut_power(&mut self, luck: u64) {
        let steps = std::mem::take(&mut self.steps);
        let names_left = (luck % (steps.len() as u64 + 1)) as usize;
        for (index, (at_ns, step)) in steps.iter().enumerate() {
            let stays = match step {
                Step::Write((number, _), ..) | Step::Truncate((number, _), _) => {
                    (luck >> (number % 32)) & 1 == 0
                }
                _ => index < names_left,
            };
            if stays {
                let _ = self.durable.do_step(*at_ns, step);
            }
        }
        self.now = self.durable.clone();
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        self.clock_ns += 1_000_003;
        self.now.do_step(self.clock_ns, &step)?;
        self.steps.push((self.clock_ns, step));
        Ok(())
    }

    fn file(&self, path: &Path) -> io::Result<File> {
        let number = self.now.find(path)?;
        let inode = &self.now.inodes[&number];
        match inode.kind {
            Kind::File => Ok((number, inode.born_ns)),
            Kind::Folder => error(libc::EISDIR),
            _ => error(libc::ELOOP),
        }
    }
}

impl Store for Memory {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let number = self.now.find(folder)?;
        Ok(self.now.inodes[&number].entries.keys().cloned().collect())
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        let Ok(number) = self.now.find(path) else {
            return Ok(None);
        };
        let inode = &self.now.inodes[&number];
        let is_file = inode.kind == Kind::File;
        Ok(Some(Found {
            kind: inode.kind.clone(),
            attributes: Attributes {
                mode: inode.mode,
                uid: 0,
                gid: 0,
                size: inode.data.len() as u64,
                modified_ns: if is_file { inode.modified_ns } else { 0 },
            },
            inode: number,
            changed_ns: inode.changed_ns,
        }))
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        let data = &self.now.inodes[&self.file(path)?.0].data;
        Ok(data
            .iter()
            .skip(offset as usize)
            .take(most_b)
            .copied()
            .collect())
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.step(Step::Make(path.to_owned(), Kind::File, mode))
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        let file = self.file(path)?;
        self.step(Step::Write(file, offset, data.to_vec()))
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        let file = self.file(path)?;
        self.step(Step::Truncate(file, size_b))
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.step(Step::Make(path.to_owned(), Kind::Folder, mode))
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        let kind = Kind::Symlink(target.to_owned());
        self.step(Step::Make(path.to_owned(), kind, 0o777))
    }

    fn make_other(&mut self, _: &Path, _: u32, _: u64) -> io::Result<()> {
        error(libc::EPERM)
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Step::Link(from.to_owned(), to.to_owned()))
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Step::Rename(from.to_owned(), to.to_owned()))
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.step(Step::RemoveFile(path.to_owned()))
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.step(Step::RemoveFolder(path.to_owned()))
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.step(Step::Dress(path.to_owned(), *attributes))
    }

    /// Makes all names durable, too, as journaling file systems do, but the data of this file alone.
    fn sync(&mut self, path: &Path) -> io::Result<()> {
        let synced = self.now.find(path)?;
        for (at_ns, step) in std::mem::take(&mut self.steps) {
            match step {
                Step::Write((number, _), ..) | Step::Truncate((number, _), _)
                    if number != synced =>
                {
                    self.steps.push((at_ns, step));
                }
                step => drop(self.durable.do_step(at_ns, &step)),
            }
        }
        Ok(())
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.steps.clear();
        self.durable = self.now.clone();
        Ok(())
    }
}
