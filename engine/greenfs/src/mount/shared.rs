//! What the threads of a mount share: flash, behind a lock that is held for a moment each time.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use crate::branch::folder::Folder;
use crate::branch::own;
use crate::mount::attributes::opened;
use crate::mount::origins::Origins;
use crate::mount::writing_out::write_out;
use crate::protocol::{NodeId, Role};
use crate::sys;
use crate::volume::{Access, Flash, JOURNAL, complete};

/// When nobody waits for it, the journal is not made durable again for so many times as long as it took.
const REST: u32 = 10;

pub struct Shared {
    flash: Mutex<Flash<Folder>>,
    /// The root of flash, to make it durable without the lock. Whoever has the lock before it is known behind
    /// it what came of that makes flash durable by an opening of its own, and is told of a failure, too.
    root: File,
    /// Who makes all of it durable, one after the other: the kernel tells only one of them of a failure,
    /// and the next one has to know.
    turn: Mutex<()>,
    /// To make it durable without the lock; one after the other, too.
    journal: Mutex<File>,
    /// Records up to which it is to be made durable soon.
    soon: Sender<u64>,
    origins: Arc<Origins>,
}

impl Shared {
    /// Also returns what `keep_durable` takes.
    pub fn new(flash: Flash<Folder>, origins: Arc<Origins>) -> io::Result<(Self, Receiver<u64>)> {
        let (soon, asked) = channel();
        let shared = Self {
            origins,
            root: flash.store().root()?,
            turn: Mutex::new(()),
            journal: Mutex::new(File::open(opened(&flash.store().reach(&own(JOURNAL))?))?),
            soon,
            flash: Mutex::new(flash),
        };
        Ok((shared, asked))
    }

    pub fn flash(&self) -> MutexGuard<'_, Flash<Folder>> {
        self.flash.lock().expect("a panic ends this process")
    }

    /// Make the journal durable up to a record, if there is one to wait for. Others go on meanwhile.
    ///
    /// # Errors
    /// If that fails, or anything of flash could not be made durable before.
    pub fn make_durable(&self, record: Option<u64>) -> io::Result<()> {
        let Some(record) = record else { return Ok(()) };
        let journal = self.journal.lock().expect("a panic ends this process");
        let flash = self.flash();
        flash.check_journal()?;
        if flash.is_durable(record) {
            return Ok(()); // with what another one waited for
        }
        let last = flash.state().seq;
        drop(flash);
        let done = journal.sync_data();
        let mut flash = self.flash();
        flash.note_synced(done)?;
        flash.note_durable(last);
        Ok(())
    }

    /// Have the journal made durable up to a record, if there is one, without waiting for it.
    pub fn make_durable_soon(&self, record: Option<u64>) {
        if let Some(record) = record {
            // Only at the end of the process does nobody listen.
            let _ = self.soon.send(record);
        }
    }

    /// Make the journal durable when that is asked for. Flash is busy with it for a small part of the time.
    pub fn keep_durable(&self, asked: &Receiver<u64>) {
        while let Ok(record) = asked.recv() {
            let last = asked.try_iter().fold(record, u64::max);
            let begun = Instant::now();
            // If it fails, nobody waits for it who could be told; whoever comes next is.
            let _ = self.make_durable(Some(last));
            thread::sleep(begun.elapsed() * REST);
        }
    }

    /// Open a file on flash, where `path` says. What is no file any more makes nobody wait.
    pub fn open_to_read(
        &self,
        path: impl FnOnce(&Flash<Folder>) -> io::Result<PathBuf>,
    ) -> io::Result<File> {
        let flash = self.flash();
        let flags = libc::O_RDONLY | libc::O_NONBLOCK;
        path(&flash).and_then(|path| flash.store().open_file(&path, flags))
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
        let _turn = self.turn.lock().expect("a panic ends this process");
        self.flash().check_journal()?;
        let done = sys::sync_file_system(&self.root);
        self.flash().note_synced(done)
    }

    fn write_out(&mut self, files: impl Iterator<Item = NodeId>) {
        let opened = |id| self.open_to_read(|flash| flash.path(id)).ok();
        let done = write_out(files.filter_map(opened));
        let _ = self.flash().note_synced(done);
    }

    fn complete(&mut self, id: NodeId, but: Option<Role>) -> io::Result<()> {
        if self.flash().part(id).is_some() {
            self.origins.bring(*self, id, &(0..u64::MAX), but)?;
            complete(self, id)?;
        }
        Ok(())
    }
}
