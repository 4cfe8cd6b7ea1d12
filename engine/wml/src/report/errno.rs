//! Names of errors.

/// The symbol of an errno that file operations give, or its number.
pub fn errno_name(errno: i32) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match errno {
                0 => return "other".to_owned(),
                $(libc::$name => stringify!($name),)*
                _ => return format!("errno {errno}"),
            }
        };
    }
    names!(
        EACCES EAGAIN EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINVAL EIO EISDIR ELOOP EMFILE EMLINK
        ENAMETOOLONG ENFILE ENODATA ENODEV ENOENT ENOMEM ENOSPC ENOSYS ENOTDIR ENOTEMPTY ENXIO
        EOPNOTSUPP EOVERFLOW EPERM ERANGE EROFS ESTALE ETIMEDOUT ETXTBSY EXDEV
    )
    .to_owned()
}
