//! What the media hold: a sparse file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::device::{Extent, SECTOR_B};
use crate::profile::Fault;
use crate::serve::sys;

/// The file that the media are. What it is given survives the end of this process, not of the
/// machine: it is never synced, because the machine that ends is not what is simulated.
#[derive(Debug)]
pub struct Store {
    file: File,
}

impl Store {
    /// Open or create the file of a device of this capacity, for this process alone.
    ///
    /// # Errors
    /// If it cannot be opened, another process has it, it was made for another capacity, or its file
    /// system cannot punch holes.
    pub fn open(path: &Path, sectors: u64) -> Result<Self, Fault> {
        let fault = |what: String, next: &str| Fault::new(what, path.display().to_string(), next);
        let failed = |error: io::Error| {
            fault(
                format!("the store cannot be used: {error}"),
                "give --store a file on a file system with sparse files and enough space",
            )
        };
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(failed)?;
        mounting::place::lock(&file).map_err(|_| {
            fault(
                "another server uses this store".to_owned(),
                "end that one, or give another --store",
            )
        })?;
        let (length_b, size_b) = (file.metadata().map_err(failed)?.len(), sectors * SECTOR_B);
        if length_b == 0 {
            file.set_len(size_b).map_err(failed)?;
        } else if length_b != size_b {
            return Err(fault(
                format!("the store has {length_b} bytes, the disk {size_b}: it is of another disk"),
                "give the disk that it was made for, or remove it",
            ));
        }
        // Behind the end of the file there is nothing to lose.
        sys::punch(&file, size_b, SECTOR_B).map_err(|error| {
            fault(
                format!("its file system cannot give space back, as a discard asks: {error}"),
                "give a --store on ext4, xfs, btrfs or in memory",
            )
        })?;
        Ok(Self { file })
    }

    /// Fill a buffer with the sectors from this one on.
    pub fn read(&self, sector: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(data, sector * SECTOR_B)
    }

    pub fn write(&self, sector: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, sector * SECTOR_B)
    }

    /// Hold nothing here any more; it reads as zeros.
    pub fn drop_extent(&self, extent: Extent) -> io::Result<()> {
        sys::punch(
            &self.file,
            extent.sector * SECTOR_B,
            extent.sectors * SECTOR_B,
        )
    }
}
