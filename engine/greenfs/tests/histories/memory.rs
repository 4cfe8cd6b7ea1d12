//! A branch in memory that can lose power: what was not made durable may be gone then.
//!
//! Names and attributes are lost from the latest backwards, as by a journaling file system; the data
//! of each file are lost or not on their own, or are there before its time and size are.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;

use greenfs::branch::store::Store;
use greenfs::protocol::{Attributes, Found, Kind};

use crate::tree::{File, Step, Tree, error};

mod mapped;

#[derive(Clone, Debug)]
pub struct Memory {
    now: Tree,
    durable: Tree,
    /// What is not durable yet, with when it was done.
    steps: Vec<(i64, Step)>,
    pub clock_ns: i64,
    /// How a version is refused that is a further name of its file; none if it is not.
    refuses_links: Option<i32>,
    /// The next time that something is to be made durable fails, and takes what it was with it: as with a
    /// kernel, the time after that tells nothing of it.
    pub fails_next: bool,
    /// Bytes that all files may have together; none if there is no end.
    pub room_b: Option<u64>,
    /// Bytes that were ever written.
    pub written_b: u64,
    /// Whether it says how much of that is free: a quota does not.
    pub tells_room: bool,
    /// Whether its owner is a plain user, who is bound by modes.
    is_plain: bool,
    /// Files that programs have memory of, and whether they have changed it.
    mapped: BTreeMap<File, bool>,
}

impl Memory {
    pub fn new() -> Self {
        Self {
            now: Tree::new(),
            durable: Tree::new(),
            steps: Vec::new(),
            clock_ns: 1_000_000_000,
            refuses_links: None,
            fails_next: false,
            room_b: None,
            written_b: 0,
            tells_room: true,
            is_plain: false,
            mapped: BTreeMap::new(),
        }
    }

    pub fn without_links(refused: i32) -> Self {
        Self {
            refuses_links: Some(refused),
            ..Self::new()
        }
    }

    /// The same, of a plain user or of root.
    pub fn of_plain_user(self, is_plain: bool) -> Self {
        Self { is_plain, ..self }
    }

    fn check_mode(&self, number: u64, needed: u32) -> io::Result<()> {
        match self.is_plain && self.now.inodes[&number].mode & needed != needed {
            true => error(libc::EACCES),
            false => Ok(()),
        }
    }

    fn fail_if_due(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.fails_next) {
            true => {
                self.steps.clear();
                error(libc::EIO)
            }
            false => Ok(()),
        }
    }

    /// The number of a path, if the folders above let its owner through.
    fn reach(&self, path: &Path) -> io::Result<u64> {
        for folder in path.ancestors().skip(1) {
            let number = self.now.find(folder)?;
            if self.now.inodes[&number].kind == Kind::Folder {
                self.check_mode(number, 0o100)?;
            }
        }
        self.now.find(path)
    }

    /// Whether the folders let their owner do it.
    fn check_step(&self, step: &Step) -> io::Result<()> {
        let (reached, changed) = match step {
            Step::Make(path, ..) | Step::RemoveFile(path) | Step::RemoveFolder(path) => {
                (None, vec![path])
            }
            Step::Link(from, to) => (Some(from), vec![to]),
            Step::Rename(from, to) => (None, vec![from, to]),
            Step::Dress(path, _) => (Some(path), vec![]),
            Step::Write(..) | Step::Truncate(..) => (None, vec![]),
        };
        if let Some(path) = reached {
            self.reach(path)?;
        }
        for path in changed {
            let parent = self.reach(path.parent().unwrap_or(Path::new("")))?;
            self.check_mode(parent, 0o300)?;
        }
        match step {
            Step::Rename(from, to) if from.parent() != to.parent() => {
                let moved = self.reach(from)?;
                match self.now.inodes[&moved].kind {
                    Kind::Folder => self.check_mode(moved, 0o200),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Bytes that files have.
    pub fn used_b(&self) -> u64 {
        let inodes = self.now.inodes.values();
        inodes.map(|inode| inode.data.len() as u64).sum()
    }

    fn room_left_b(&self) -> u64 {
        self.room_b
            .map_or(u64::MAX, |room_b| room_b.saturating_sub(self.used_b()))
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
        self.mapped.clear();
        let steps = std::mem::take(&mut self.steps);
        let names_left = (luck % (steps.len() as u64 + 1)) as usize;
        let mut own_b = BTreeMap::new();
        for (index, (at_ns, step)) in steps.iter().enumerate() {
            let is_so = |bit: u64| (luck >> bit) & 1 == 1;
            let does_step = match step {
                Step::Write(file, ..) | Step::Truncate(file, _) => {
                    let is_lost = is_so(file.0 % 32);
                    // Its blocks got there before its inode, and no other ones.
                    let is_ahead = is_so(32 + file.0 % 32);
                    if is_ahead && !is_lost {
                        self.durable.overwrite(&mut own_b, step);
                    }
                    !is_lost && !is_ahead
                }
                _ => index < names_left,
            };
            if does_step {
                let _ = self.durable.do_step(*at_ns, step);
            }
        }
        self.now = self.durable.clone();
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        self.check_step(&step)?;
        self.clock_ns += 1_000_003;
        self.now.do_step(self.clock_ns, &step)?;
        self.steps.push((self.clock_ns, step));
        Ok(())
    }

    fn file(&self, path: &Path) -> io::Result<File> {
        let number = self.reach(path)?;
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
        let number = self.reach(folder)?;
        self.check_mode(number, 0o500)?;
        Ok(self.now.inodes[&number].entries.keys().cloned().collect())
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        let number = match self.reach(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            Err(_) => return Ok(None),
            Ok(number) => number,
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
        let (number, _) = self.file(path)?;
        self.check_mode(number, 0o400)?;
        let data = &self.now.inodes[&number].data;
        let rest = data.get(offset as usize..).unwrap_or_default();
        Ok(rest[..rest.len().min(most_b)].to_vec())
    }

    fn may_be_written(&self, path: &Path) -> io::Result<bool> {
        Ok(self.is_mapped(path))
    }

    fn tells_of_memory(&self) -> bool {
        true
    }

    fn free_b(&self) -> io::Result<u64> {
        match self.tells_room {
            true => Ok(self.room_left_b()),
            false => Ok(u64::MAX),
        }
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.step(Step::Make(path.to_owned(), Kind::File, mode))
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        let file = self.file(path)?;
        let size_b = self.now.inodes[&file.0].data.len() as u64;
        let most_b = size_b.saturating_add(self.room_left_b());
        let fits_b = most_b.saturating_sub(offset).min(data.len() as u64) as usize;
        if fits_b > 0 || data.is_empty() {
            self.step(Step::Write(file, offset, data[..fits_b].to_vec()))?;
            self.written_b += fits_b as u64;
        }
        match fits_b == data.len() {
            true => Ok(()),
            false => error(libc::ENOSPC),
        }
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(path, offset, data)
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        let file = self.file(path)?;
        self.step(Step::Truncate(file, size_b))
    }

    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        let length = (range.end - range.start) as usize;
        let data = self.read(from, range.start, length)?;
        assert_eq!(data.len(), length, "{} ends before that", from.display());
        self.write(to, range.start, &data).map(|()| true)
    }

    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()> {
        let zeros = vec![0; (range.end - range.start) as usize];
        self.write(path, range.start, &zeros)
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
        if let Some(refused) = self.refuses_links {
            if to.starts_with(".greenfs/history") {
                return error(refused);
            }
        }
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
        self.fail_if_due()?;
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
        self.fail_if_due()?;
        self.steps.clear();
        self.durable = self.now.clone();
        Ok(())
    }
}
