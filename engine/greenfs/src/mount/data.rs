//! What programs do to the data of files.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fuser::INodeNo;

use crate::mount::attributes::opened;
use crate::mount::errors::error;
use crate::mount::handles::is_shared;
use crate::mount::mapped;
use crate::mount::tree::{Tree, node};
use crate::protocol::NodeId;
use crate::sys;

/// How much is copied at a time. Bytes.
const COPIED_AT_ONCE_B: u64 = 16 << 20;

impl Tree {
    /// Change a range of a file, and write that down before and after.
    fn writing<R>(
        &self,
        id: NodeId,
        range: &Range<u64>,
        change: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        let first = self.whole(id)?.begin_writing(id, range)?;
        let done = self.shared.make_durable(first).and_then(|()| change());
        self.shared.flash().end_writing(id, range)?;
        self.standings.poke();
        done
    }

    pub fn write(&self, handle: u64, offset: u64, data: &[u8]) -> io::Result<()> {
        let open = self.handles.file(handle)?;
        let range = offset..offset.saturating_add(data.len() as u64);
        self.writing(open.id, &range, || open.file.write_all_at(data, offset))
    }

    pub fn allocate(&self, handle: u64, mode: i32, offset: u64, length: u64) -> io::Result<()> {
        let open = self.handles.file(handle)?;
        // The kernel asks for no mode that moves what is behind.
        let range = offset..offset.saturating_add(length);
        self.writing(open.id, &range, || {
            sys::allocate(&open.file, mode, offset, length)
        })
    }

    /// Copy a range of one open file to another, at most `length` bytes. Returns how many were copied.
    ///
    /// # Errors
    /// `EOPNOTSUPP`, upon which the kernel reads and writes itself, if not all of it may be on flash, or each
    /// write must be durable before it ends.
    pub fn copy(&self, from: (u64, u64), to: (u64, u64), length: u64) -> io::Result<usize> {
        let (source, open) = (self.handles.file(from.0)?, self.handles.file(to.0)?);
        if source.is_part || open.is_synchronous {
            return Err(error(libc::EOPNOTSUPP));
        }
        source.read_ns.store(sys::tick_ns(), Ordering::Relaxed);
        let length = length.min(COPIED_AT_ONCE_B);
        let range = to.1..to.1.saturating_add(length);
        self.writing(open.id, &range, || {
            let (from, to) = ((&source.file, from.1), (&open.file, to.1));
            sys::copy(from, to, length as usize)
        })
    }

    /// Change the size of a file, and write that down before and after.
    pub fn cut(&self, id: NodeId, handle: Option<u64>, size_b: u64) -> io::Result<()> {
        let mut flash = match size_b {
            0 => self.shared.flash(),
            _ => self.whole(id)?,
        };
        let reached = self.reach(&flash, id)?;
        let first = flash.begin_cutting(id, size_b)?;
        let mut ready = Ok(());
        if first.is_some() {
            drop(flash);
            ready = self.shared.make_durable(first);
            flash = self.shared.flash();
        }
        let open = handle.and_then(|handle| self.handles.get(handle));
        let done = ready.and_then(|()| match open {
            Some(open) => open.file.set_len(size_b),
            None => sys::set_size(&opened(&reached), size_b),
        });
        flash.end_cutting(id, size_b, done)
    }

    pub fn seek(&self, handle: u64, offset: i64, whence: i32) -> io::Result<i64> {
        let open = self.handles.file(handle)?;
        match open.is_part {
            // What is not here is no hole.
            true => seek_whole(open.file.metadata()?.len(), offset, whence),
            false => sys::seek(&open.file, offset, whence),
        }
    }

    /// A program closes a file through which memory may have changed it: what it is now is written down.
    pub fn flush(&self, handle: u64) -> io::Result<()> {
        let open = self.handles.file(handle)?;
        let mut flash = self.shared.flash();
        flash.check_journal()?;
        flash.note_written(&[open.id])?;
        drop(flash);
        self.standings.poke();
        Ok(())
    }

    /// Nobody has this file open any more in this way.
    pub fn release(&self, handle: u64) -> io::Result<()> {
        let Some((open, way)) = self.handles.remove(handle) else {
            return Ok(());
        };
        let ended = match is_shared(&way, open.is_read_write) {
            true => self.shared.flash().end_sharing(open.id),
            false => Ok(()),
        };
        if open.is_for_writing {
            self.standings.poke();
        }
        let read_ns = open.read_ns.load(Ordering::Relaxed);
        if open.is_unnoted && read_ns > 0 {
            // Whoever listens ends with the mount.
            let _ = self.read.send((open.id, read_ns));
        }
        ended
    }

    /// Make a file or folder durable, and answer when flash and all connected branches have
    /// everything.
    pub fn when_durable(
        &self,
        inode: INodeNo,
        handle: Option<u64>,
        answer: impl FnOnce(io::Result<()>) + Send + 'static,
    ) {
        match self.make_durable(inode, handle) {
            Ok(record) => {
                let shared = Arc::clone(&self.shared);
                let done = move || {
                    // It may have turned out meanwhile that flash lost something.
                    let checked = shared.flash().check_journal();
                    answer(checked);
                };
                self.standings.answer_after(record, Box::new(done));
            }
            Err(error) => answer(Err(error)),
        }
    }

    /// Make a file or folder durable on flash. Returns the record up to which the branches must be
    /// brought up, if one is connected.
    fn make_durable(&self, inode: INodeNo, handle: Option<u64>) -> io::Result<u64> {
        let done = match handle {
            Some(handle) => self.handles.file(handle)?.file.sync_all(),
            None => {
                let reached = self.reach(&self.shared.flash(), node(inode)?)?;
                File::open(opened(&reached))?.sync_all()
            }
        };
        self.shared.flash().note_synced(done)?;
        mapped::let_go(&self.shared)?;
        let mut flash = self.shared.flash();
        flash.settle()?;
        Ok(flash.state().seq)
    }
}

/// Find data or a hole in a file that has no holes, as lseek(2).
fn seek_whole(size_b: u64, offset: i64, whence: i32) -> io::Result<i64> {
    match u64::try_from(offset).is_ok_and(|offset| offset < size_b) {
        true if whence == libc::SEEK_HOLE => Ok(size_b as i64),
        true => Ok(offset),
        false => Err(error(libc::ENXIO)),
    }
}
