//! Having files written to their device little by little.

use std::fs::File;
use std::io;

use crate::sys;

/// So much is written at a time. Bytes.
const AT_ONCE_B: u64 = 1 << 20;

/// A small file counts as so much, so that few are open. Bytes.
const LEAST_B: u64 = 32 << 10;

/// Of a larger file, it takes too long to ask for each part whether it is written. Bytes.
const LARGEST_B: u64 = 64 << 20;

/// Have the data of files written, so that a flush of all has less to write at once: programs that use a slow device
/// wait for what is queued there. Large files are left to the flush.
///
/// # Errors
/// If something could not be written, now or before.
pub fn write_out(files: impl Iterator<Item = File>) -> io::Result<()> {
    let mut begun = Vec::new();
    let mut begun_b = 0;
    for file in files {
        let size_b = file.metadata()?.len();
        if !(1..=LARGEST_B).contains(&size_b) {
            continue;
        }
        for from in (0..size_b).step_by(AT_ONCE_B as usize) {
            sys::begin_writing(&file, from, AT_ONCE_B)?;
            begun_b += (size_b - from).clamp(LEAST_B, AT_ONCE_B);
            if begun_b >= AT_ONCE_B {
                begun.iter().try_for_each(sys::wait_for_writing)?;
                sys::wait_for_writing(&file)?;
                begun.clear();
                begun_b = 0;
            }
        }
        begun.push(file);
    }
    Ok(())
}
