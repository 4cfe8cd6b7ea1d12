//! A line that shows whether it is whole: CRC-32 of the rest in eight hexadecimal digits, a blank,
//! and JSON.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;

const SUM_DIGITS: usize = 8;

fn digits(json: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(json))
}

/// The line of a value, with its end.
pub fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(value)?;
    let mut line = digits(&json).into_bytes();
    line.push(b' ');
    line.extend(json);
    line.push(b'\n');
    Ok(line)
}

/// The value of a line without its end; none if the line is not whole.
pub fn value<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let (sum, rest) = line.split_at_checked(SUM_DIGITS)?;
    let json = rest.strip_prefix(b" ")?;
    if sum != digits(json).as_bytes() {
        return None;
    }
    serde_json::from_slice(json).ok()
}
