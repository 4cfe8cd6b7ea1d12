//! System calls on files, with the errno as error. Interrupted calls are repeated.

use crate::failure::errno;

pub type Result<T> = std::result::Result<T, i32>;
pub type Fd = libc::c_int;

fn checked(mut call: impl FnMut() -> isize) -> Result<usize> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result as usize);
        }
        match errno() {
            libc::EINTR => {}
            errno => return Err(errno),
        }
    }
}

/// Open a path that ends in a zero byte.
pub fn open(path: &[u8], flags: libc::c_int) -> Result<Fd> {
    assert_eq!(path.last(), Some(&0));
    // SAFETY: the path ends in a zero byte.
    checked(|| unsafe { libc::open(path.as_ptr().cast(), flags | libc::O_CLOEXEC, 0o644) as isize })
        .map(|fd| fd as Fd)
}

/// Close a descriptor; it is gone whatever the result.
pub fn close(fd: Fd) -> Result<()> {
    // SAFETY: closing touches no memory.
    if unsafe { libc::close(fd) } == 0 {
        Ok(())
    } else {
        Err(errno())
    }
}

pub fn unlink(path: &[u8]) -> Result<()> {
    assert_eq!(path.last(), Some(&0));
    // SAFETY: the path ends in a zero byte.
    checked(|| unsafe { libc::unlink(path.as_ptr().cast()) as isize }).map(drop)
}

pub fn stat(path: &[u8]) -> Result<()> {
    assert_eq!(path.last(), Some(&0));
    // SAFETY: zeros are a valid stat, and the path ends in a zero byte.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        checked(|| libc::stat(path.as_ptr().cast(), &raw mut found) as isize).map(drop)
    }
}

pub fn fstat(fd: Fd) -> Result<()> {
    // SAFETY: zeros are a valid stat.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        checked(|| libc::fstat(fd, &raw mut found) as isize).map(drop)
    }
}

pub fn fsync(fd: Fd) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked(|| unsafe { libc::fsync(fd) as isize }).map(drop)
}

pub fn rewind(fd: Fd) -> Result<()> {
    // SAFETY: touches no memory of ours.
    checked(|| unsafe { libc::lseek(fd, 0, libc::SEEK_SET) as isize }).map(drop)
}

pub fn read(fd: Fd, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is valid for its length.
    checked(|| unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) })
}

pub fn read_at(fd: Fd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    // SAFETY: the buffer is valid for its length.
    checked(|| unsafe {
        libc::pread(
            fd,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            offset as libc::off_t,
        )
    })
}

pub fn write(fd: Fd, data: &[u8]) -> Result<usize> {
    // SAFETY: the data is valid for its length.
    checked(|| unsafe { libc::write(fd, data.as_ptr().cast(), data.len()) })
}

pub fn write_at(fd: Fd, data: &[u8], offset: u64) -> Result<usize> {
    // SAFETY: the data is valid for its length.
    checked(|| unsafe { libc::pwrite(fd, data.as_ptr().cast(), data.len(), offset as libc::off_t) })
}

/// Write at the end of the file in one step, so that appends of several threads never overlap.
pub fn append(fd: Fd, data: &[u8]) -> Result<usize> {
    let piece = libc::iovec {
        iov_base: data.as_ptr().cast_mut().cast(),
        iov_len: data.len(),
    };
    // SAFETY: the data is valid for its length and only read.
    let result =
        checked(|| unsafe { libc::pwritev2(fd, &raw const piece, 1, -1, libc::RWF_APPEND) });
    if !matches!(result, Err(libc::EOPNOTSUPP | libc::ENOSYS)) {
        return result;
    }
    // SAFETY: touches no memory of ours.
    checked(|| unsafe { libc::lseek(fd, 0, libc::SEEK_END) as isize })?;
    write(fd, data)
}
