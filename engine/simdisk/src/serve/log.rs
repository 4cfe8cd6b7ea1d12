//! A table of all requests, for comparing what was planned with what happened.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use crate::device::{Action, Extent, LOG_HEAD};
use crate::serve::lateness::Moments;
use crate::serve::threads;
use crate::time::Ns;

/// One request that was answered; times of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The process, as the kernel names it; behind a loop device always one of its own.
    pub stream: u32,
    pub action: Action,
    pub extent: Extent,
    pub issued: Ns,
    pub moments: Moments,
}

/// Writes rows as CSV in a thread of its own, so that nobody waits for the file.
#[derive(Debug)]
pub struct Log {
    rows: Sender<Row>,
    writer: JoinHandle<io::Result<()>>,
}

impl Log {
    /// Begin a file; one that is there is replaced, a block device refused.
    pub fn begin(path: &Path) -> io::Result<Self> {
        if fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device()) {
            return Err(io::Error::other("its data would be lost"));
        }
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{LOG_HEAD}")?;
        let (rows, received) = mpsc::channel::<Row>();
        let writer = threads::named("log").spawn(move || {
            for row in received {
                write_row(&mut file, row)?;
            }
            file.flush()
        })?;
        Ok(Self { rows, writer })
    }

    pub fn note(&self, row: Row) {
        // A writer that has failed says so at the end.
        let _ = self.rows.send(row);
    }

    /// Write what is left.
    pub fn end(self) -> io::Result<()> {
        drop(self.rows);
        self.writer
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the writer of the log has failed")))
    }
}

fn write_row(file: &mut impl Write, row: Row) -> io::Result<()> {
    let (extent, moments) = (row.extent, row.moments);
    writeln!(
        file,
        "{},{},{},{},{},{},{},{}",
        row.stream,
        row.action.word(),
        extent.sector,
        extent.sectors,
        row.issued,
        moments.sent,
        moments.planned,
        moments.done
    )
}
