//! A branch that is a folder here, or one that a server serves.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::branch::folder::Folder;
use crate::branch::sparse;
use crate::branch::store::{PIECE_B, Store};
use crate::fault::Fault;
use crate::net::client::Client;
use crate::pool::tenants;
use crate::protocol::{Attributes, Found};

/// The address of a branch on a server is this and `HOST:PORT`.
pub const SCHEME: &str = "greenfs://";

pub enum Site {
    Here(Folder),
    There(Client),
}

impl Site {
    /// Use a branch that no other process uses; a server that is silent for `patience` is away.
    ///
    /// # Errors
    /// If it cannot be reached, or another process uses it.
    pub fn claim(place: &Path, patience: Duration) -> Result<Self, Fault> {
        match address(place) {
            Some(address) => Client::connect(address, place, true, patience).map(Self::There),
            None => {
                tenants::expect_plain(place)?;
                Folder::claim(place).map(Self::Here)
            }
        }
    }

    /// Look at a branch, whoever uses it.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub fn open(place: &Path, patience: Duration) -> io::Result<Self> {
        match address(place) {
            Some(address) => Client::connect(address, place, false, patience)
                .map(Self::There)
                .map_err(|fault| io::Error::other(fault.what)),
            None => {
                let plain = tenants::expect_plain(place);
                plain.map_err(|fault| io::Error::other(fault.what))?;
                Folder::open(place).map(Self::Here)
            }
        }
    }

    fn store(&self) -> &dyn Store {
        match self {
            Self::Here(folder) => folder,
            Self::There(client) => client,
        }
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        match self {
            Self::Here(folder) => folder,
            Self::There(client) => client,
        }
    }
}

fn address(place: &Path) -> Option<&str> {
    place.to_str()?.strip_prefix(SCHEME)
}

/// A copy of a file that has no name and goes when it is closed.
///
/// # Errors
/// If the file cannot be read, or there is no room for temporary files.
pub fn copied(branch: &impl Store, path: &Path) -> io::Result<File> {
    let copy = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .mode(0o600)
        .open(std::env::temp_dir())?;
    let mut offset = 0;
    loop {
        let piece = branch.read(path, offset, PIECE_B)?;
        sparse::write(&copy, offset, &piece)?;
        offset += piece.len() as u64;
        if piece.len() < PIECE_B {
            return Ok(copy);
        }
    }
}

impl Store for Site {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.store().list(folder)
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.store().look(path)
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.store().read(path, offset, most_b)
    }

    fn may_be_written(&self, path: &Path) -> io::Result<bool> {
        self.store().may_be_written(path)
    }

    fn free_b(&self) -> io::Result<u64> {
        self.store().free_b()
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
