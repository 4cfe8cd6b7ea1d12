//! Branches whose data are in a pool, beside a flash of plain files.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;

use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;
use greenfs::pool::Pool;
use greenfs::pool::pooled::Pooled;
use greenfs::pool::tenants::Tenant;
use greenfs::protocol::{Attributes, Found};

pub enum Place<'a> {
    Plain(Folder),
    Pooled(Box<Pooled<'a>>),
}

impl<'a> Place<'a> {
    pub fn pooled(folder: &Path, pool: &'a Pool) -> Self {
        Tenant::served(folder).enter(pool).expect("it is empty");
        let folder = Folder::open(folder).expect("it is there");
        Self::Pooled(Box::new(Pooled::new(folder, pool)))
    }

    fn store(&self) -> &dyn Store {
        match self {
            Self::Plain(folder) => folder,
            Self::Pooled(pooled) => pooled.as_ref(),
        }
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        match self {
            Self::Plain(folder) => folder,
            Self::Pooled(pooled) => pooled.as_mut(),
        }
    }
}

/// A pool that has no key.
pub fn pool(folder: &Path) -> Pool {
    Pool::serve(folder, None).expect("it is empty")
}

impl Store for Place<'_> {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.store().list(folder)
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.store().look(path)
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.store().read(path, offset, most_b)
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.store_mut().create(path, mode)
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.store_mut().write(path, offset, data)
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.store_mut().write_copy(path, offset, data)
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        self.store_mut().truncate(path, size_b)
    }

    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        self.store_mut().share(from, to, range)
    }

    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()> {
        self.store_mut().punch(path, range)
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.store_mut().make_folder(path, mode)
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        self.store_mut().symlink(path, target)
    }

    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()> {
        self.store_mut().make_other(path, mode, device)
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.store_mut().link(from, to)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.store_mut().rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.store_mut().remove_file(path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.store_mut().remove_folder(path)
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.store_mut().dress(path, attributes)
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.store_mut().sync(path)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.store_mut().sync_all()
    }
}
