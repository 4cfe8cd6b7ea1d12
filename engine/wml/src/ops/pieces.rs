//! Reads and writes that take several system calls.

use super::system;

/// Read `length` bytes, or up to the end of the file, in pieces of at most the buffer's size.
pub fn read_pieces(
    buffer: &mut [u8],
    length: u64,
    mut read: impl FnMut(&mut [u8], u64) -> system::Result<usize>,
) -> system::Result<u64> {
    let mut done = 0;
    loop {
        let asked = buffer.len().min((length - done) as usize);
        let bytes = read(&mut buffer[..asked], done)?;
        done += bytes as u64;
        if bytes < asked || done == length {
            return Ok(done);
        }
    }
}

/// Write `length` bytes, the data over and over, until it is done or fails. The kernel may cut a
/// write short, as on a full disk.
pub fn write_pieces(
    data: &[u8],
    length: u64,
    mut write: impl FnMut(&[u8], u64) -> system::Result<usize>,
) -> system::Result<u64> {
    let mut done = 0;
    while done < length {
        let from = (done % data.len() as u64) as usize;
        let left = (length - done).min((data.len() - from) as u64) as usize;
        done += write(&data[from..from + left], done)? as u64;
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reads_take_several_calls_and_end_at_the_end_of_the_file() {
        let mut buffer = [0; 10];
        for (length, file, expected) in [
            (10, 100, vec![(10, 0)]),
            (25, 100, vec![(10, 0), (10, 10), (5, 20)]),
            (25, 20, vec![(10, 0), (10, 10), (5, 20)]),
            (25, 13, vec![(10, 0), (10, 10)]),
            (5, 0, vec![(5, 0)]),
        ] {
            let mut calls = Vec::new();
            let read = read_pieces(&mut buffer, length, |piece, done| {
                calls.push((piece.len(), done));
                Ok(piece.len().min(file - done as usize))
            });
            assert_eq!(read, Ok(length.min(file as u64)));
            assert_eq!(calls, expected);
        }
    }

    #[test]
    fn long_writes_repeat_their_data_and_short_ones_are_completed() {
        let data: Vec<u8> = (0..10).collect();
        let mut written = Vec::new();
        let result = write_pieces(&data, 25, |piece, done| {
            assert_eq!(done as usize, written.len());
            let taken = piece.len().min(7);
            written.extend_from_slice(&piece[..taken]);
            Ok(taken)
        });
        assert_eq!(result, Ok(25));
        let expected: Vec<u8> = (0..25).map(|at| at % 10).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn a_failed_write_ends_with_its_errno_and_an_empty_one_makes_no_call() {
        let fail = |_: &[u8], _| Err(libc::ENOSPC);
        assert_eq!(write_pieces(&[1], 5, fail), Err(libc::ENOSPC));
        assert_eq!(write_pieces(&[], 0, fail), Ok(0));
    }
}
