//! A branch whose every step is timed, so that others know when it does not answer.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::branch::store::Store;
use crate::protocol::{Attributes, Found};

/// Since when a step of a branch is being done.
#[derive(Clone)]
pub struct Steps {
    epoch: Instant,
    /// Milliseconds since the epoch, and one; 0 while nothing is being done.
    begun: Arc<AtomicU64>,
}

impl Steps {
    pub fn new() -> Self {
        Self {
            epoch: Instant::now(),
            begun: Arc::default(),
        }
    }

    /// Do a step of a branch.
    pub fn time<R>(&self, step: impl FnOnce() -> R) -> R {
        let now = self.epoch.elapsed().as_millis() as u64 + 1;
        self.begun.store(now, Ordering::Relaxed);
        let result = step();
        self.begun.store(0, Ordering::Relaxed);
        result
    }

    /// For how long the branch has not answered.
    pub fn waits(&self) -> Duration {
        match self.begun.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            begun => (self.epoch + Duration::from_millis(begun - 1)).elapsed(),
        }
    }
}

/// A branch whose steps are timed.
pub struct Timed<S> {
    pub inner: S,
    pub steps: Steps,
}

impl<S: Store> Store for Timed<S> {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.steps.time(|| self.inner.list(folder))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.steps.time(|| self.inner.look(path))
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.steps.time(|| self.inner.read(path, offset, most_b))
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.steps.time(|| self.inner.create(path, mode))
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.steps.time(|| self.inner.write(path, offset, data))
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.steps
            .time(|| self.inner.write_copy(path, offset, data))
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        self.steps.time(|| self.inner.truncate(path, size_b))
    }

    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        self.steps.time(|| self.inner.share(from, to, range))
    }

    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()> {
        self.steps.time(|| self.inner.punch(path, range))
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.steps.time(|| self.inner.make_folder(path, mode))
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        self.steps.time(|| self.inner.symlink(path, target))
    }

    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()> {
        self.steps
            .time(|| self.inner.make_other(path, mode, device))
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.steps.time(|| self.inner.link(from, to))
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.steps.time(|| self.inner.rename(from, to))
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.steps.time(|| self.inner.remove_file(path))
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.steps.time(|| self.inner.remove_folder(path))
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.steps.time(|| self.inner.dress(path, attributes))
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.steps.time(|| self.inner.sync(path))
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.steps.time(|| self.inner.sync_all())
    }
}
