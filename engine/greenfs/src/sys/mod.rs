//! What the kernel offers and Rust's library does not: with `crypt::kernel`, the only unsafe code of
//! the crate.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Child;
use std::time::{SystemTime, UNIX_EPOCH};

mod calls;
mod names;

use calls::{c_path, checked};
pub use names::{
    link_node, look_at, make_node, open_at, open_below, open_name, rename_to_free, status,
};

/// Make all of a file system durable.
pub fn sync_file_system(folder: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::syncfs(folder.as_raw_fd()) })
}

/// Have a piece of a file written to its device, without waiting for that. The file system notes nothing of it.
pub fn begin_writing(file: &File, from: u64, length: u64) -> io::Result<()> {
    let (from, length) = (from as libc::off64_t, length as libc::off64_t);
    let flags = libc::SYNC_FILE_RANGE_WRITE;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::sync_file_range(file.as_raw_fd(), from, length, flags) })
}

/// Wait until what of a file is being written to its device is written.
///
/// # Errors
/// If something of it could not be written. The kernel does not tell that to who opens the file afterwards.
pub fn wait_for_writing(file: &File) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) })
}

/// Set when a file was changed, in nanoseconds since 1970; not through a symbolic link.
pub fn set_modified(path: &Path, modified_ns: i64) -> io::Result<()> {
    let path = c_path(path)?;
    let keep = libc::timespec {
        tv_sec: 0,
        tv_nsec: libc::UTIME_OMIT,
    };
    let time = libc::timespec {
        tv_sec: modified_ns.div_euclid(1_000_000_000),
        tv_nsec: modified_ns.rem_euclid(1_000_000_000),
    };
    let times = [keep, time];
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the path is a valid string, and there are two times.
    checked(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) })
}

/// A time of a file as it is to be.
pub enum Time {
    Keep,
    Now,
    /// Seconds since 1970 and nanoseconds.
    At((i64, i64)),
}

/// Set when a node was read and changed.
pub fn set_times(node: &File, times: [Time; 2]) -> io::Result<()> {
    let times = times.map(|time| {
        let (tv_sec, tv_nsec) = match time {
            Time::Keep => (0, libc::UTIME_OMIT),
            Time::Now => (0, libc::UTIME_NOW),
            Time::At(at) => at,
        };
        libc::timespec { tv_sec, tv_nsec }
    });
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: the descriptor is open, the path is an empty string, and there are two times.
    checked(unsafe { libc::utimensat(node.as_raw_fd(), c"".as_ptr(), times.as_ptr(), flags) })
}

/// Set the owner of a node; none keeps what is.
pub fn set_owner(node: &File, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let (uid, gid) = (uid.unwrap_or(u32::MAX), gid.unwrap_or(u32::MAX));
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: the descriptor is open, and the path is an empty string.
    checked(unsafe { libc::fchownat(node.as_raw_fd(), c"".as_ptr(), uid, gid, flags) })
}

/// Set the size of a file that need not be open for writing.
pub fn set_size(path: &Path, size_b: u64) -> io::Result<()> {
    let path = c_path(path)?;
    let size = i64::try_from(size_b).map_err(io::Error::other)?;
    // SAFETY: the path is a valid string.
    checked(unsafe { libc::truncate64(path.as_ptr(), size) })
}

/// What space a file system has.
pub fn space(root: &File) -> io::Result<libc::statvfs64> {
    // SAFETY: zeros are a valid structure, which the call fills in.
    let mut space: libc::statvfs64 = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the structure is valid for the call.
    checked(unsafe { libc::fstatvfs64(root.as_raw_fd(), &raw mut space) })?;
    Ok(space)
}

/// Whether a file system is one of those that give a file a new time of change when memory of a page of
/// it is first written to. Others, as that in RAM, do not, or have the files elsewhere.
pub fn tells_of_memory(root: &File) -> io::Result<bool> {
    // SAFETY: zeros are a valid structure, which the call fills in.
    let mut system: libc::statfs64 = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the structure is valid for the call.
    checked(unsafe { libc::fstatfs64(root.as_raw_fd(), &raw mut system) })?;
    let told = [
        libc::EXT4_SUPER_MAGIC,
        libc::XFS_SUPER_MAGIC,
        libc::BTRFS_SUPER_MAGIC,
        libc::F2FS_SUPER_MAGIC,
    ];
    Ok(told.contains(&system.f_type))
}

/// Allocate or free space of a file, as fallocate(2).
pub fn allocate(file: &File, mode: i32, offset: u64, length: u64) -> io::Result<()> {
    let (offset, length) = (offset as i64, length as i64);
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fallocate64(file.as_raw_fd(), mode, offset, length) })
}

/// Copy up to `length` bytes of one file into another, as copy_file_range(2) does where it is told. Returns how many.
pub fn copy(from: (&File, u64), to: (&File, u64), length: usize) -> io::Result<usize> {
    let (mut start, mut end) = (from.1 as i64, to.1 as i64);
    // SAFETY: both descriptors are open, and the offsets are those of this call.
    let copied = unsafe {
        let (from, to) = (from.0.as_raw_fd(), to.0.as_raw_fd());
        libc::copy_file_range(from, &raw mut start, to, &raw mut end, length, 0)
    };
    usize::try_from(copied).map_err(|_| io::Error::last_os_error())
}

/// Have a range of a file on the same blocks as that of another one. Returns whether that could be.
pub fn share_blocks(from: &File, to: &File, offset: u64, length: u64) -> io::Result<bool> {
    let range = libc::file_clone_range {
        src_fd: from.as_raw_fd().into(),
        src_offset: offset,
        src_length: length,
        dest_offset: offset,
    };
    // SAFETY: both descriptors are open, and the structure is that of this call.
    let shared = unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONERANGE, &raw const range) };
    match checked(shared) {
        // So says a file system that has no such blocks, or larger ones.
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EINVAL | libc::EXDEV)
            ) =>
        {
            Ok(false)
        }
        shared => shared.map(|()| true),
    }
}

/// Find data or a hole in a file, as lseek(2).
pub fn seek(file: &File, offset: i64, whence: i32) -> io::Result<i64> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::lseek64(file.as_raw_fd(), offset, whence) } {
        -1 => Err(io::Error::last_os_error()),
        found => Ok(found),
    }
}

/// When the kernel's last tick was, by which it dates what is done to files: in nanoseconds since 1970.
pub fn tick_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

/// Let reads of an open file leave alone when it was read last.
///
/// # Errors
/// If the file is another user's.
pub fn begin_unnoted_reads(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    let status = status | libc::O_NOATIME;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, status) })
}

/// Have the file system note that a file was read now, if it notes that at all.
pub fn note_read(file: &File) -> io::Result<()> {
    let end = file.metadata()?.len();
    file.read_at(&mut [0], end).map(drop)
}

/// Let files have the modes that are asked for.
pub fn no_mask() {
    // SAFETY: it touches no memory.
    unsafe { libc::umask(0) };
}

/// Whether somebody else may have a file open to write to it, as whoever can change it through memory has.
///
/// # Errors
/// If the kernel gives no lease on it, to nobody or not to this process: it does not know.
pub fn may_be_written(file: &File) -> io::Result<bool> {
    is_refused(file, libc::F_RDLCK)
}

/// Whether somebody else may have a file open at all, as whoever has memory of it has.
///
/// # Errors
/// As [`may_be_written`].
pub fn may_be_open(file: &File) -> io::Result<bool> {
    is_refused(file, libc::F_WRLCK)
}

/// Whether a lease on a file that is open for reading is refused because of others; one that is given
/// ends with the descriptor.
fn is_refused(file: &File, lease: i32) -> io::Result<bool> {
    // SAFETY: the descriptor is open.
    match checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, lease) }) {
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(true),
        asked => asked.map(|()| false),
    }
}

/// Go on when somebody wants to write to a file that is leased at that moment.
pub fn ignore_ends_of_leases() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
}

/// Whether this process acts as root.
pub fn is_root() -> bool {
    // SAFETY: it touches no memory.
    unsafe { libc::geteuid() == 0 }
}

/// A time as year, month and so on, in UTC or in the zone of this machine.
pub fn calendar(seconds: i64, is_utc: bool) -> libc::tm {
    // SAFETY: zeros are a valid structure, which the call fills in.
    let mut time: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are valid for the call.
    unsafe {
        match is_utc {
            true => libc::gmtime_r(&raw const seconds, &raw mut time),
            false => libc::localtime_r(&raw const seconds, &raw mut time),
        }
    };
    time
}

/// Seconds since 1970 of year, month and so on, in UTC or in the zone of this machine.
pub fn since_1970(mut time: libc::tm, is_utc: bool) -> i64 {
    time.tm_isdst = -1;
    // SAFETY: the structure is valid for the call.
    unsafe {
        match is_utc {
            true => libc::timegm(&raw mut time),
            false => libc::mktime(&raw mut time),
        }
    }
}

fn local(at: SystemTime) -> libc::tm {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |s| s.as_secs());
    calendar(seconds as i64, false)
}

/// A time as `2026-11-25 20:31:09`, in the zone of this machine.
pub fn local_time(at: SystemTime) -> String {
    let time = local(at);
    let (year, month) = (time.tm_year + 1900, time.tm_mon + 1);
    format!(
        "{year}-{month:02}-{:02} {:02}:{:02}:{:02}",
        time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec
    )
}

/// The hour of the day, 0 to 23.
pub fn hour(at: SystemTime) -> u32 {
    local(at).tm_hour as u32
}

/// Take the lock of an open file or folder together with others who do, or fail if somebody has it alone.
pub fn share_lock(file: &impl AsFd) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::flock(file.as_fd().as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) })
}

/// Kill a program that was started in a group of its own, with all that is in it.
pub fn kill_group(leader: &Child) -> io::Result<()> {
    // SAFETY: it touches no memory. The number is that of the group as long as nobody has waited for
    // its leader.
    checked(unsafe { libc::killpg(leader.id() as libc::pid_t, libc::SIGKILL) })
}

/// Let the kernel end a connection whose other side has been silent for 5 s, as when a cable is out.
pub fn notice_silence(socket: &impl AsFd) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    for (level, option, value) in [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 2),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 3),
        // Nothing is probed while data are on the way.
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, 5000),
    ] {
        let value: libc::c_int = value;
        let size = size_of_val(&value) as libc::socklen_t;
        // SAFETY: the descriptor is open; the value is an int, as these options have it.
        checked(unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), size) })?;
    }
    Ok(())
}

/// Wait until a socket has something to read, or an error, or its other side is gone.
pub fn wait_to_read(socket: &impl AsFd) -> io::Result<()> {
    let mut asked = libc::pollfd {
        fd: socket.as_fd().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        // SAFETY: there is one descriptor, and it is open.
        if unsafe { libc::poll(&raw mut asked, 1, -1) } != -1 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
