//! Keys in files: random bytes as hexadecimal digits, which only their owner can read.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use ring::rand::{SecureRandom, SystemRandom};

use crate::fault::Fault;

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.as_bytes().iter().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// The key in a file, which nobody else can read. `next` says what to do if it holds none.
///
/// # Errors
/// If it cannot be read, others can read it, too, or it holds no key of that size.
pub fn read<const N: usize>(file: &Path, next: &str) -> Result<[u8; N], Fault> {
    let failed =
        |error: io::Error| Fault::new(format!("the key cannot be read: {error}"), file, next);
    let mode = fs::metadata(file).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        let next = format!("chmod 600 {}", file.display());
        return Err(Fault::new("others can read this key", file, next));
    }
    let text = fs::read(file).map_err(failed)?;
    let key = std::str::from_utf8(&text).ok();
    let key = key.and_then(|text| from_hex(text.trim_end()));
    key.ok_or_else(|| Fault::new("this is no key", file, next))
}

/// Make a key of N bytes in a new file.
///
/// # Errors
/// If the file is there, or cannot be written.
pub fn make<const N: usize>(file: &Path) -> Result<(), Fault> {
    let failed = |error: io::Error| {
        let what = format!("no key can be made there: {error}");
        Fault::new(what, file, "name a file that is not there yet")
    };
    let mut key = [0; N];
    let random = SystemRandom::new().fill(&mut key);
    random.map_err(|_| failed(io::Error::other("there are no random numbers")))?;
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(file);
    let mut to = opened.map_err(failed)?;
    let written = to.write_all(format!("{}\n", hex(&key)).as_bytes());
    written.and_then(|()| to.sync_all()).map_err(failed)?;
    let above = file.parent().filter(|above| *above != Path::new(""));
    let above = File::open(above.unwrap_or(Path::new(".")));
    above.and_then(|above| above.sync_all()).map_err(failed)
}
