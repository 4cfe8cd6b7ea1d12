//! read, readwholefile, write, writewholefile, appendfile, appendfilerand.
//!
//! One op is one system call unless it is larger than the thread's buffer or than the data to
//! write from; then it takes several. So does a write that the kernel cuts short.

use super::Worker;
use super::outcome::{Outcome, Undone, timed};
use super::pieces::{read_pieces, write_pieces};
use super::pools::Piece;
use super::slots::Slot;
use super::system;
use crate::model::Flowop;

impl<'a> Worker<'a> {
    /// What a flowop writes next: different data each time.
    pub(super) fn some_data(&mut self, fileset: usize, length: u64) -> &'a [u8] {
        let data = self.env.data;
        data.bytes(self.some_piece(fileset, length))
    }

    pub(super) fn some_piece(&mut self, fileset: usize, length: u64) -> Piece {
        let (way, stream) = (&mut self.way, &mut self.env.stream);
        self.env.data.piece(fileset, length, way, stream)
    }

    /// A random multiple of `iosize` within the working set of a file of `size_b` bytes.
    pub(super) fn random_offset(&mut self, flowop: &Flowop, iosize: u64, size_b: u64) -> u64 {
        let set = match flowop.workingset.draw(&mut self.env.stream) {
            0 => size_b,
            workingset => workingset.min(size_b),
        };
        self.env.stream.below((set / iosize.max(1)).max(1)) * iosize
    }

    pub(super) fn read(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = if flowop.random {
            Some(self.random_offset(flowop, iosize, file.size_b))
        } else {
            let turn = self.tally.of(nth).io_ops;
            (flowop.streams > 1).then(|| stream_offset(turn, flowop.streams, iosize, file.size_b))
        };
        if let Some(offset) = offset {
            let buffer = self.buffer.bytes_mut();
            return timed(|| {
                read_pieces(buffer, iosize, |piece, done| {
                    system::read_at(file.fd, piece, offset + done)
                })
            });
        }
        let buffer = self.buffer.bytes_mut();
        timed(|| {
            let bytes = read_pieces(buffer, iosize, |piece, _| system::read(file.fd, piece))?;
            if bytes == 0 && iosize > 0 {
                system::rewind(file.fd)?;
            }
            Ok(bytes)
        })
    }

    /// Read from the beginning to the end in pieces of `iosize`.
    pub(super) fn read_whole_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let iosize = flowop.iosize.draw(&mut self.env.stream) as usize;
        let buffer = self.buffer.bytes_mut();
        let length = match iosize {
            0 => buffer.len(),
            iosize => iosize.min(buffer.len()),
        };
        let buffer = &mut buffer[..length];
        timed(|| {
            if !file.is_fresh {
                system::rewind(file.fd)?;
            }
            let mut total = 0;
            loop {
                match system::read(file.fd, buffer)? as u64 {
                    0 => return Ok(total),
                    bytes => total += bytes,
                }
            }
        })
    }

    pub(super) fn write(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = flowop
            .random
            .then(|| self.random_offset(flowop, iosize, file.size_b));
        let data = self.some_data(file.fileset, iosize);
        timed(|| match offset {
            Some(offset) => write_pieces(data, iosize, |piece, done| {
                system::write_at(file.fd, piece, offset + done)
            }),
            None => write_pieces(data, iosize, |piece, _| system::write(file.fd, piece)),
        })
    }

    /// Write, in pieces of `iosize`, as many bytes as the layout gives the file of `srcfd`, else
    /// that of slot 0, else the file itself. A slot means its last file also when that is closed.
    pub(super) fn write_whole_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let source = self.slots.get(flowop.srcfd.unwrap_or(0));
        let size_b = match (source, flowop.srcfd) {
            (Slot::Open(source), _) => source.size_b,
            (Slot::Closed(source), _) => source.size_b,
            (_, Some(_)) => return Err(Undone::Skipped),
            (_, None) => file.size_b,
        };
        let iosize = match flowop.iosize.draw(&mut self.env.stream) {
            0 => size_b,
            iosize => iosize.min(size_b),
        };
        let data = self.some_data(file.fileset, iosize);
        timed(|| write_pieces(data, size_b, |piece, _| system::write(file.fd, piece)))
    }

    pub(super) fn append_file(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let length = flowop.iosize.draw(&mut self.env.stream);
        self.append(nth, flowop, length)
    }

    /// Append a number of bytes that is uniform in [0, iosize).
    pub(super) fn append_file_rand(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let length = self.env.stream.below(iosize);
        self.append(nth, flowop, length)
    }

    fn append(&mut self, nth: usize, flowop: &Flowop, length: u64) -> Outcome {
        let file = self.file(nth, flowop)?;
        let data = self.some_data(file.fileset, length);
        timed(|| write_pieces(data, length, |piece, _| system::append(file.fd, piece)))
    }
}

/// Where read number `turn` stands: the streams begin at equal parts of the file, take turns, and
/// begin anew at the end of their parts.
pub(super) fn stream_offset(turn: u64, streams: u64, iosize: u64, size_b: u64) -> u64 {
    let part_b = size_b / streams;
    let pieces = (part_b / iosize.max(1)).max(1);
    turn % streams * part_b + turn / streams % pieces * iosize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_take_turns_and_each_reads_its_part_in_order() {
        let offsets: Vec<u64> = (0..8).map(|turn| stream_offset(turn, 2, 8, 48)).collect();
        assert_eq!(offsets, [0, 24, 8, 32, 16, 40, 0, 24]);
        assert_eq!(stream_offset(5, 2, 100, 48), 24);
    }
}
