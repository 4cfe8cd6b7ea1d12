//! What the threads of a mount share: flash, behind a lock that is held for a moment each time.

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard};

use crate::branch::folder::Folder;
use crate::sys;
use crate::volume::{Access, Flash};

pub struct Shared {
    flash: Mutex<Flash<Folder>>,
    /// The root of flash, to make it durable without the lock.
    root: File,
}

impl Shared {
    pub fn new(flash: Flash<Folder>) -> io::Result<Self> {
        Ok(Self {
            root: flash.store().root()?,
            flash: Mutex::new(flash),
        })
    }

    pub fn flash(&self) -> MutexGuard<'_, Flash<Folder>> {
        self.flash.lock().expect("a panic ends this process")
    }

    /// The file system below.
    pub fn root(&self) -> &File {
        &self.root
    }
}

impl Access<Folder> for &Shared {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<Folder>) -> R) -> R {
        act(&mut self.flash())
    }

    fn sync(&mut self) -> io::Result<()> {
        sys::sync_file_system(&self.root)
    }
}
