//! Calls on an open file, and opening it.

use super::call::{Fd, Result, checked, checked_int, checked_long};
use super::paths::pointer;
use crate::failure::errno;

/// Offsets are passed in one register.
const _: () = assert!(usize::BITS == 64, "only 64-bit machines are supported");

/// Open a path that ends in a zero byte.
pub fn open(path: &[u8], flags: libc::c_int) -> Result<Fd> {
    let (path, flags) = (pointer(path), flags | libc::O_CLOEXEC);
    // SAFETY: `pointer` has seen the zero byte.
    checked_long(|| unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, 0o644) })
        .map(|fd| fd as Fd)
}

/// Close a descriptor; it is gone whatever the result.
pub fn close(fd: Fd) -> Result<()> {
    // SAFETY: closing touches no memory.
    if unsafe { libc::syscall(libc::SYS_close, fd) } == 0 {
        Ok(())
    } else {
        Err(errno())
    }
}

/// Bytes of the file.
pub fn size_of_file(fd: Fd) -> Result<u64> {
    // SAFETY: zeros are a valid stat, and the pointer is valid for the call.
    let (result, found) = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        (checked_int(|| libc::fstat(fd, &raw mut found)), found)
    };
    result.map(|_| found.st_size as u64)
}

pub fn fsync(fd: Fd) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked_long(|| unsafe { libc::syscall(libc::SYS_fsync, fd) }).map(drop)
}

pub fn fdatasync(fd: Fd) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked_long(|| unsafe { libc::syscall(libc::SYS_fdatasync, fd) }).map(drop)
}

pub fn resize(fd: Fd, length: u64) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked_int(|| unsafe { libc::ftruncate(fd, length as libc::off_t) }).map(drop)
}

/// Allocate a range of the file, which grows if the range ends behind it.
pub fn allocate(fd: Fd, offset: u64, length: u64) -> Result<()> {
    let (offset, length) = (offset as libc::off_t, length as libc::off_t);
    // SAFETY: touches no memory of ours.
    checked_int(|| unsafe { libc::fallocate(fd, 0, offset, length) }).map(drop)
}

/// Tell the kernel that reads are random, so that it does not read ahead.
pub fn advise_random(fd: Fd) {
    // SAFETY: touches no memory of ours. A refusal leaves the read-ahead as it is.
    unsafe { libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_RANDOM) };
}

pub fn rewind(fd: Fd) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked(|| unsafe { libc::lseek(fd, 0, libc::SEEK_SET) as isize }).map(drop)
}

pub fn read(fd: Fd, buffer: &mut [u8]) -> Result<usize> {
    let (start, length) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the buffer is valid for its length.
    checked_long(|| unsafe { libc::syscall(libc::SYS_read, fd, start, length) })
}

pub fn read_at(fd: Fd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let (start, length) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the buffer is valid for its length.
    checked_long(|| unsafe { libc::syscall(libc::SYS_pread64, fd, start, length, offset) })
}

pub fn write(fd: Fd, data: &[u8]) -> Result<usize> {
    let (start, length) = (data.as_ptr(), data.len());
    // SAFETY: the data is valid for its length.
    checked_long(|| unsafe { libc::syscall(libc::SYS_write, fd, start, length) })
}

pub fn write_at(fd: Fd, data: &[u8], offset: u64) -> Result<usize> {
    let (start, length) = (data.as_ptr(), data.len());
    // SAFETY: the data is valid for its length.
    checked_long(|| unsafe { libc::syscall(libc::SYS_pwrite64, fd, start, length, offset) })
}

/// Write at the end of the file in one step, so that appends of several threads never overlap.
pub fn append(fd: Fd, data: &[u8]) -> Result<usize> {
    let piece = libc::iovec {
        iov_base: data.as_ptr().cast_mut().cast(),
        iov_len: data.len(),
    };
    let (here, flags) = (-1 as libc::c_long, libc::RWF_APPEND);
    // SAFETY: the data is valid for its length and only read.
    let result = checked_long(|| unsafe {
        libc::syscall(
            libc::SYS_pwritev2,
            fd,
            &raw const piece,
            1,
            here,
            here,
            flags,
        )
    });
    if !matches!(result, Err(libc::EOPNOTSUPP | libc::ENOSYS)) {
        return result;
    }
    // SAFETY: touches no memory of ours.
    checked(|| unsafe { libc::lseek(fd, 0, libc::SEEK_END) as isize })?;
    write(fd, data)
}

/// Copy within the kernel, from an offset of one file to the same offset of another.
pub fn copy_range(from: Fd, to: Fd, offset: u64, length: usize) -> Result<usize> {
    let (mut read, mut write) = (offset as libc::off64_t, offset as libc::off64_t);
    // SAFETY: the offsets are valid for the call.
    checked(|| unsafe { libc::copy_file_range(from, &raw mut read, to, &raw mut write, length, 0) })
}
