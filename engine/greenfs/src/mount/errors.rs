//! Errors as the kernel numbers them.

use std::io;

use fuser::Errno;

pub fn error(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

/// Nothing has this name or number.
pub fn gone() -> io::Error {
    error(libc::ENOENT)
}

pub fn errno(error: &io::Error) -> Errno {
    let code = error.raw_os_error().unwrap_or_else(|| code(error.kind()));
    Errno::from_i32(code)
}

/// The number of what was found without asking the kernel.
fn code(kind: io::ErrorKind) -> i32 {
    use io::ErrorKind::{
        AlreadyExists, InvalidInput, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
        StorageFull,
    };
    match kind {
        NotFound => libc::ENOENT,
        PermissionDenied => libc::EACCES,
        AlreadyExists => libc::EEXIST,
        InvalidInput => libc::EINVAL,
        NotADirectory => libc::ENOTDIR,
        ReadOnlyFilesystem => libc::EROFS,
        StorageFull => libc::ENOSPC,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs would take a file that is not there for a broken device.
    #[test]
    fn errors_without_a_number_get_that_of_their_kind() {
        for (kind, number) in [
            (io::ErrorKind::NotFound, Errno::ENOENT),
            (io::ErrorKind::PermissionDenied, Errno::EACCES),
            (io::ErrorKind::AlreadyExists, Errno::EEXIST),
            (io::ErrorKind::Other, Errno::EIO),
        ] {
            assert_eq!(errno(&kind.into()), number);
            assert_eq!(errno(&io::Error::new(kind, "why")), number);
        }
        assert_eq!(errno(&error(libc::EHOSTDOWN)), Errno::EHOSTDOWN);
    }
}
