//! What goes over the wire: the length of a head and that of a tail, four bytes each, the high byte
//! first; the head, which is JSON; the tail, which is bytes.
//!
//! No length is believed: room is made for what has arrived.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Two paths with every byte escaped, several times as long as the kernel takes one.
pub const HEAD_MOST_B: usize = 256 << 10;

/// A piece of a file.
pub const TAIL_MOST_B: usize = 1 << 20;

/// # Errors
/// If the other side takes nothing, or the frame would be larger than it may be.
pub fn write(to: &mut impl Write, head: &impl Serialize, tail: &[u8]) -> io::Result<()> {
    let text = serde_json::to_vec(head)?;
    if text.len() > HEAD_MOST_B || tail.len() > TAIL_MOST_B {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut frame = Vec::with_capacity(8 + text.len() + tail.len());
    for length in [text.len(), tail.len()] {
        frame.extend_from_slice(&(length as u32).to_be_bytes());
    }
    frame.extend_from_slice(&text);
    frame.extend_from_slice(tail);
    // At once: each write is a record of TLS of its own, and wakes the other side.
    to.write_all(&frame)?;
    to.flush()
}

/// # Errors
/// If the other side sends nothing more, or no frame.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    let head_b = length(from, HEAD_MOST_B)?;
    let tail_b = length(from, TAIL_MOST_B)?;
    let head = serde_json::from_slice(&bytes(from, head_b)?)?;
    Ok((head, bytes(from, tail_b)?))
}

fn length(from: &mut impl Read, most_b: usize) -> io::Result<usize> {
    let mut word = [0; 4];
    from.read_exact(&mut word)?;
    let length = u32::from_be_bytes(word) as usize;
    match length <= most_b {
        true => Ok(length),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{length} bytes are too many for a part of a frame"),
        )),
    }
}

fn bytes(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
