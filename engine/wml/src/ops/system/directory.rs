//! The entries of directories, without a buffer of the C library in between.

use super::call::{Fd, Result, checked, checked_int};
use super::paths;

/// Where the length of a record and the name stand in a `linux_dirent64`.
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 19;

/// Read records into the buffer; returns the part that was filled, empty at the end.
pub fn read_directory(fd: Fd, buffer: &mut [u8]) -> Result<&[u8]> {
    let length = checked(|| {
        // SAFETY: the buffer is valid for its length.
        unsafe {
            libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len()) as isize
        }
    })?;
    Ok(&buffer[..length])
}

/// The names in such records, each with its closing zero, without "." and "..".
pub fn entry_names(records: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = records;
    let next = move || {
        let length = rest.get(LENGTH_AT..LENGTH_AT + 2)?;
        let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
        let record = rest.get(..length).filter(|r| r.len() > NAME_AT)?;
        rest = &rest[length..];
        record[NAME_AT..].split_inclusive(|&byte| byte == 0).next()
    };
    std::iter::from_fn(next).filter(|name| !matches!(name, [b'.', 0] | [b'.', b'.', 0]))
}

/// Look at an entry of an open directory.
pub fn stat_at(directory: Fd, name: &[u8]) -> Result<()> {
    let name = paths::pointer(name);
    // SAFETY: zeros are a valid stat, and `pointer` has seen the zero byte.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        checked_int(|| libc::fstatat(directory, name, &raw mut found, flags)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::{close, open};
    use super::*;

    fn record(name: &str) -> Vec<u8> {
        let length = (NAME_AT + name.len() + 1).next_multiple_of(8);
        let mut record = vec![0; length];
        record[LENGTH_AT..LENGTH_AT + 2].copy_from_slice(&(length as u16).to_ne_bytes());
        record[NAME_AT..NAME_AT + name.len()].copy_from_slice(name.as_bytes());
        record
    }

    #[test]
    fn names_come_without_padding_and_without_the_directory_itself() {
        let records = [".", "..", "00000001", "a", ".hidden"].map(record).concat();
        let names: Vec<&[u8]> = entry_names(&records).collect();
        assert_eq!(names, [&b"00000001\0"[..], b"a\0", b".hidden\0"]);
    }

    #[test]
    fn broken_records_end_the_list_without_a_crash() {
        let whole = record("00000001");
        for cut in 0..whole.len() {
            assert_eq!(entry_names(&whole[..cut]).count(), 0);
        }
        assert_eq!(entry_names(&[0; 64]).count(), 0);
    }

    #[test]
    fn a_real_directory_lists_what_is_in_it() {
        let fd = open(b".\0", libc::O_RDONLY | libc::O_DIRECTORY).unwrap();
        let mut buffer = vec![0; 32768];
        let mut found = Vec::new();
        loop {
            let records = read_directory(fd, &mut buffer).unwrap();
            if records.is_empty() {
                break;
            }
            for name in entry_names(records) {
                stat_at(fd, name).unwrap();
                found.push(String::from_utf8_lossy(&name[..name.len() - 1]).into_owned());
            }
        }
        close(fd).unwrap();
        found.sort();
        let listed = std::fs::read_dir(".").unwrap();
        let mut expected: Vec<String> = listed
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        expected.sort();
        assert_eq!(found, expected);
    }
}
