//! Writing copies of files, whose holes stay holes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Holes begin and end at multiples of so many bytes; few file systems have smaller ones.
const BLOCK_B: usize = 4096;

/// Write data to a place in a file. Behind its end, blocks that are all zeros are left out: they read the same.
///
/// # Errors
/// If no file has such a place, as `write_all_at`; or if writing fails.
pub fn write(file: &File, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
    let end = offset.checked_add(data.len() as u64);
    let end = end.filter(|end| i64::try_from(*end).is_ok());
    let end = end.ok_or(io::ErrorKind::InvalidInput)?;
    let size_b = file.metadata()?.len();
    let mut written_b = size_b;
    while !data.is_empty() {
        let (length, is_zeros) = run(offset, data);
        let (piece, rest) = data.split_at(length);
        let after = offset + length as u64;
        if !is_zeros || offset < size_b {
            file.write_all_at(piece, offset)?;
            written_b = written_b.max(after);
        }
        (offset, data) = (after, rest);
    }
    match written_b < end {
        true => file.set_len(end),
        false => Ok(()),
    }
}

/// How many bytes the first blocks have that are all zeros, or that all are not; and which of both.
fn run(offset: u64, data: &[u8]) -> (usize, bool) {
    let into_block = (offset % BLOCK_B as u64) as usize;
    let (first, others) = data.split_at(data.len().min(BLOCK_B - into_block));
    let of_zeros = is_zeros(first);
    let others = others.chunks(BLOCK_B);
    let others_b = others
        .take_while(|block| is_zeros(block) == of_zeros)
        .map(<[u8]>::len);
    (first.len() + others_b.sum::<usize>(), of_zeros)
}

fn is_zeros(block: &[u8]) -> bool {
    const ZEROS: [u8; BLOCK_B] = [0; BLOCK_B];
    block == &ZEROS[..block.len()]
}
