//! The names of files and directories: numbers from 1 of eight digits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub type Name = [u8; 8];

/// The name of a number, all of its digits at once: first the two halves of the number in the
/// halves of a word, then pairs of digits, then digits.
pub fn of(number: u32) -> Name {
    let number = u64::from(number);
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    // Multiply and shift is division by 100, by 10.
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let pairs = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x0f_000f_000f_000f;
    let digits = tens | ((pairs - 10 * tens) << 8);
    (digits + u64::from_ne_bytes([b'0'; 8])).to_le_bytes()
}

/// The number of a name, if it is one of ours.
pub fn number(name: &OsStr) -> Option<u32> {
    let name: Name = name.as_bytes().try_into().ok()?;
    let add = |number, digit| 10 * number + u32::from(digit - b'0');
    name.iter()
        .all(u8::is_ascii_digit)
        .then(|| name.into_iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_ENTRIES;

    #[test]
    fn numbers_become_eight_digits_and_back() {
        for value in (0..20_000)
            .chain((0..MAX_ENTRIES as u32).step_by(9973))
            .chain([MAX_ENTRIES as u32])
        {
            let name = of(value);
            assert_eq!(name, *format!("{value:08}").as_bytes());
            assert_eq!(number(OsStr::from_bytes(&name)), Some(value));
        }
        for foreign in [
            "",
            "0000001",
            "000000001",
            "0000001a",
            "thesis.t",
            "-0000001",
        ] {
            assert_eq!(number(OsStr::new(foreign)), None, "{foreign}");
        }
    }
}
