//! A branch that ends after so many changes: its process is killed, or its cable is pulled.

use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use greenfs::branch::store::Store;
use greenfs::protocol::{Attributes, Found};

/// How many changes are still made.
#[derive(Clone, Default)]
pub struct Life(Rc<Cell<Option<u64>>>);

impl Life {
    /// Go on for so many changes; for ever without a number.
    pub fn set(&self, changes: Option<u64>) {
        self.0.set(changes);
    }

    pub fn is_over(&self) -> bool {
        self.0.get() == Some(0)
    }

    fn spend(&self) -> bool {
        let is_over = self.is_over();
        self.0.set(self.0.get().map(|left| left.saturating_sub(1)));
        !is_over
    }
}

/// What stays when the volume goes that uses it.
pub struct Mortal<S> {
    pub inner: Rc<RefCell<S>>,
    /// Of the process.
    pub life: Life,
    /// Of the connection to this branch.
    pub cable: Life,
}

impl<S: Store> Mortal<S> {
    fn alive(&self) -> io::Result<()> {
        match self.life.is_over() || self.cable.is_over() {
            true => Err(io::Error::other("gone")),
            false => Ok(()),
        }
    }

    fn change(&mut self, make: impl FnOnce(&mut S) -> io::Result<()>) -> io::Result<()> {
        match self.life.spend() && self.cable.spend() {
            true => make(&mut self.inner.borrow_mut()),
            false => Err(io::Error::other("gone")),
        }
    }

    /// The last change before the end is cut in half.
    fn change_data(
        &mut self,
        data: &[u8],
        make: impl FnOnce(&mut S, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (life, cable) = (self.life.clone(), self.cable.clone());
        self.change(|store| match life.is_over() || cable.is_over() {
            true => make(store, &data[..data.len() / 2]),
            false => make(store, data),
        })?;
        self.alive()
    }
}

impl<S: Store> Store for Mortal<S> {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.alive()?;
        self.inner.borrow().list(folder)
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.alive()?;
        self.inner.borrow().look(path)
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.alive()?;
        self.inner.borrow().read(path, offset, most_b)
    }

    fn may_be_written(&self, path: &Path) -> io::Result<bool> {
        self.alive()?;
        self.inner.borrow().may_be_written(path)
    }

    fn tells_of_memory(&self) -> bool {
        self.inner.borrow().tells_of_memory()
    }

    fn free_b(&self) -> io::Result<u64> {
        self.alive()?;
        self.inner.borrow().free_b()
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.change(|store| store.create(path, mode))
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change_data(data, |store, data| store.write(path, offset, data))
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change_data(data, |store, data| store.write_copy(path, offset, data))
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        self.change(|store| store.truncate(path, size_b))
    }

    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        let mut done = false;
        self.change(|store| {
            done = store.share(from, to, range)?;
            Ok(())
        })?;
        Ok(done)
    }

    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()> {
        self.change(|store| store.punch(path, range))
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.change(|store| store.make_folder(path, mode))
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        self.change(|store| store.symlink(path, target))
    }

    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()> {
        self.change(|store| store.make_other(path, mode, device))
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|store| store.link(from, to))
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|store| store.rename(from, to))
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.change(|store| store.remove_file(path))
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.change(|store| store.remove_folder(path))
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.change(|store| store.dress(path, attributes))
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.alive()?;
        self.inner.borrow_mut().sync(path)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.alive()?;
        self.inner.borrow_mut().sync_all()
    }
}
