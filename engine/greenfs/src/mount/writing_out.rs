//! Having files written to their device little by little.

use std::fs::File;
use std::io;

use crate::sys;

/// So much is written at a time. Bytes.
const AT_ONCE_B: u64 = 1 << 20;

/// What a small file counts at least. Bytes.
const BLOCK_B: u64 = 4096;

/// Have the data of files written, so that a flush of all has less to write at once: programs that use a slow device
/// wait for what is queued there.
///
/// # Errors
/// If something could not be written, now or before.
pub fn write_out(files: impl Iterator<Item = File>) -> io::Result<()> {
    let mut begun = Vec::new();
    let mut begun_b = 0;
    for file in files {
        let size_b = file.metadata()?.len();
        let mut from = 0;
        while from < size_b {
            sys::begin_writing(&file, from, AT_ONCE_B)?;
            begun_b += AT_ONCE_B.min(size_b - from).max(BLOCK_B);
            if begun_b >= AT_ONCE_B {
                sys::wait_for_writing(&file)?;
                begun
                    .drain(..)
                    .try_for_each(|other| sys::wait_for_writing(&other))?;
                begun_b = 0;
            }
            from += AT_ONCE_B;
        }
        if begun_b > 0 {
            begun.push(file);
        }
    }
    Ok(())
}
