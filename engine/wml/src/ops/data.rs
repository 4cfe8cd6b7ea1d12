//! Flowops that read and write.

use super::system::{self, Fd};
use super::{Outcome, Worker, timed};
use crate::model::Flowop;

/// Places in the data where a write may begin; the rest is as long as the longest piece.
const ALIGNMENT: u64 = 4096;

impl Worker<'_> {
    /// Bytes to write: a different part of the data each time. At most half of it at once.
    pub(super) fn some_data(&mut self, length: u64) -> &'static [u8] {
        let half = self.env.data.len() as u64 / 2;
        let from = (self.env.stream.below(half / ALIGNMENT) * ALIGNMENT) as usize;
        &self.env.data[from..from + length.min(half) as usize]
    }

    /// A random multiple of `iosize` within the working set of a file.
    pub(super) fn random_offset(&mut self, flowop: &Flowop, iosize: u64, size_b: u64) -> u64 {
        let set = match flowop.workingset.draw(&mut self.env.stream) {
            0 => size_b,
            workingset => workingset.min(size_b),
        };
        self.env.stream.below((set / iosize.max(1)).max(1)) * iosize
    }

    pub(super) fn read(&mut self, flowop: &Flowop) -> Outcome {
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = flowop
            .random
            .then(|| self.random_offset(flowop, iosize, file.size_b));
        let buffer = self.buffer.bytes_mut();
        let length = (iosize as usize).min(buffer.len());
        let buffer = &mut buffer[..length];
        timed(|| match offset {
            Some(offset) => Ok(system::read_at(file.fd, buffer, offset)? as u64),
            None => {
                let bytes = system::read(file.fd, buffer)?;
                if bytes == 0 {
                    system::rewind(file.fd)?;
                }
                Ok(bytes as u64)
            }
        })
    }

    pub(super) fn read_whole_file(&mut self, flowop: &Flowop) -> Outcome {
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let iosize = flowop.iosize.draw(&mut self.env.stream) as usize;
        let buffer = self.buffer.bytes_mut();
        let length = if iosize == 0 {
            buffer.len()
        } else {
            iosize.min(buffer.len())
        };
        let buffer = &mut buffer[..length];
        timed(|| {
            system::rewind(file.fd)?;
            let mut total = 0;
            loop {
                match system::read(file.fd, buffer)? as u64 {
                    0 => return Ok(total),
                    bytes => total += bytes,
                }
            }
        })
    }

    pub(super) fn write(&mut self, flowop: &Flowop) -> Outcome {
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = flowop
            .random
            .then(|| self.random_offset(flowop, iosize, file.size_b));
        let data = self.some_data(iosize);
        timed(|| match offset {
            Some(offset) => write_all_at(file.fd, data, offset),
            None => write_all(file.fd, data),
        })
    }

    /// Write as many bytes as the layout gives the file of `srcfd`, or of the own slot.
    pub(super) fn write_whole_file(&mut self, flowop: &Flowop) -> Outcome {
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let size_b = match flowop.srcfd.map(|slot| self.slots.get(slot)) {
            Some(super::slots::Slot::Open(source)) => source.size_b,
            Some(_) => return Outcome::Skipped,
            None => file.size_b,
        };
        let iosize = match flowop.iosize.draw(&mut self.env.stream) {
            0 => size_b,
            iosize => iosize,
        };
        let data = self.some_data(iosize.min(size_b));
        timed(|| {
            let mut left = size_b as usize;
            while left > 0 {
                let piece = left.min(data.len());
                write_all(file.fd, &data[..piece])?;
                left -= piece;
            }
            Ok(size_b)
        })
    }

    pub(super) fn append_file(&mut self, flowop: &Flowop) -> Outcome {
        let length = flowop.iosize.draw(&mut self.env.stream);
        self.append(flowop, length)
    }

    /// Append a number of bytes that is uniform in [0, iosize).
    pub(super) fn append_file_rand(&mut self, flowop: &Flowop) -> Outcome {
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let length = self.env.stream.below(iosize);
        self.append(flowop, length)
    }

    fn append(&mut self, flowop: &Flowop, length: u64) -> Outcome {
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let data = self.some_data(length);
        timed(|| write_pieces(data, |piece, _| system::append(file.fd, piece)))
    }
}

fn write_all(fd: Fd, data: &[u8]) -> system::Result<u64> {
    write_pieces(data, |piece, _| system::write(fd, piece))
}

pub fn write_all_at(fd: Fd, data: &[u8], offset: u64) -> system::Result<u64> {
    write_pieces(data, |piece, done| {
        system::write_at(fd, piece, offset + done)
    })
}

/// Repeat a write that the kernel cuts short, as on a full disk, until it is done or fails.
fn write_pieces(
    data: &[u8],
    mut write: impl FnMut(&[u8], u64) -> system::Result<usize>,
) -> system::Result<u64> {
    let mut done = 0;
    while done < data.len() {
        done += write(&data[done..], done as u64)?;
    }
    Ok(done as u64)
}
