//! What the threads of a mount share: flash, behind a lock that is held for a moment each time.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::branch::folder::Folder;
use crate::branch::own;
use crate::mount::attributes::opened;
use crate::mount::origins::Origins;
use crate::protocol::{NodeId, Role};
use crate::sys;
use crate::volume::{Access, Flash, JOURNAL, complete};

pub struct Shared {
    flash: Mutex<Flash<Folder>>,
    /// The root of flash, to make it durable without the lock.
    root: File,
    /// To make it durable without the lock.
    journal: File,
    origins: Arc<Origins>,
}

impl Shared {
    pub fn new(flash: Flash<Folder>, origins: Arc<Origins>) -> io::Result<Self> {
        Ok(Self {
            origins,
            root: flash.store().root()?,
            journal: File::open(opened(&flash.store().reach(&own(JOURNAL))?))?,
            flash: Mutex::new(flash),
        })
    }

    pub fn flash(&self) -> MutexGuard<'_, Flash<Folder>> {
        self.flash.lock().expect("a panic ends this process")
    }

    /// Make the journal durable up to a record, if there is one to wait for. Others go on meanwhile.
    pub fn make_durable(&self, record: Option<u64>) -> io::Result<()> {
        if let Some(record) = record {
            self.journal.sync_data()?;
            self.flash().note_durable(record);
        }
        Ok(())
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

    fn complete(&mut self, id: NodeId, but: Option<Role>) -> io::Result<()> {
        if self.flash().part(id).is_some() {
            self.origins.bring(*self, id, &(0..u64::MAX), but)?;
            complete(self, id)?;
        }
        Ok(())
    }
}
