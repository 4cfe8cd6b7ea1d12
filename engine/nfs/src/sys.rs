//! What the kernel offers and Rust's library does not: the only unsafe code of this crate.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done),
    }
}

/// Open a name in a folder, never through a symbolic link.
pub fn open_at(folder: impl AsFd, name: &CStr, flags: libc::c_int) -> io::Result<File> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the descriptor is open and the name a valid string; the new descriptor is ours.
    unsafe {
        let opened = libc::openat(folder.as_fd().as_raw_fd(), name.as_ptr(), flags);
        checked(opened).map(|fd| File::from_raw_fd(fd))
    }
}

/// The text of a symbolic link.
pub fn read_link(link: &File) -> io::Result<Vec<u8>> {
    let mut text = vec![0; libc::PATH_MAX as usize];
    let (fd, room) = (link.as_raw_fd(), text.as_mut_ptr().cast());
    // SAFETY: the descriptor is open, the name is a valid string, and there is as much room as said.
    match unsafe { libc::readlinkat(fd, c"".as_ptr(), room, text.len()) } {
        -1 => Err(io::Error::last_os_error()),
        length => {
            text.truncate(length as usize);
            Ok(text)
        }
    }
}

/// Read at an offset, behind what there is; say how much that was.
pub fn read_at(file: &File, into: &mut Vec<u8>, offset_b: u64, most_b: usize) -> io::Result<usize> {
    into.reserve(most_b);
    let room = into.spare_capacity_mut().as_mut_ptr().cast();
    let (fd, offset) = (file.as_raw_fd(), offset_b as libc::off64_t);
    // SAFETY: the descriptor is open, and there is as much room as said, of which the bytes that
    // are counted in are written.
    unsafe {
        match libc::pread64(fd, room, most_b, offset) {
            -1 => Err(io::Error::last_os_error()),
            got => {
                into.set_len(into.len() + got as usize);
                Ok(got as usize)
            }
        }
    }
}

/// Ask the kernel to do something about its cache of a file.
pub fn advise(file: &File, offset_b: u64, length_b: u64, advice: libc::c_int) -> io::Result<()> {
    let (offset, length) = (offset_b as libc::off64_t, length_b as libc::off64_t);
    // SAFETY: the descriptor is open.
    match unsafe { libc::posix_fadvise64(file.as_raw_fd(), offset, length, advice) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Sizes of the file system that a file is in.
pub fn file_system(file: &File) -> io::Result<libc::statvfs64> {
    let mut sizes = MaybeUninit::uninit();
    // SAFETY: the descriptor is open; what is returned was filled in.
    unsafe {
        checked(libc::fstatvfs64(file.as_raw_fd(), sizes.as_mut_ptr()))?;
        Ok(sizes.assume_init())
    }
}

/// Let this process open as many files as it may, and say how many.
pub fn most_open_files() -> io::Result<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit.
    unsafe {
        checked(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        checked(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit))?;
    }
    Ok(limit.rlim_cur as usize)
}

/// Let the kernel find out whether who is at the other end of a connection still is there.
pub fn keep_alive(socket: impl AsFd) -> io::Result<()> {
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 60),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 10),
    ];
    for (level, option, value) in options {
        let value: libc::c_int = value;
        let size = size_of_val(&value) as libc::socklen_t;
        let fd = socket.as_fd().as_raw_fd();
        // SAFETY: the descriptor is open; the value is an int, as these options have it.
        checked(unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), size) })?;
    }
    Ok(())
}

/// The signals by which a program is asked to end, kept from ending it at once. Threads that are
/// started from then on do so, too.
#[derive(Debug)]
pub struct Signals(libc::sigset_t);

impl Signals {
    pub fn hold() -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is emptied before it is used, and the signals exist.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut set = set.assume_init();
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            Self(set)
        }
    }

    pub fn wait(&self) {
        let mut signal = 0;
        // SAFETY: the set is valid.
        unsafe { libc::sigwait(&raw const self.0, &raw mut signal) };
    }
}

/// Which of many descriptors can be read from or written to. Each is told of once, until it is asked
/// for again.
#[derive(Debug)]
pub struct Poll(OwnedFd);

/// Something can be read, or something can be written.
pub const READABLE: u32 = libc::EPOLLIN as u32;
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;

impl Poll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: the new descriptor is ours.
        unsafe {
            let created = checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            Ok(Self(OwnedFd::from_raw_fd(created)))
        }
    }

    /// Begin to look at a descriptor, told of by its token.
    pub fn add(&self, of: impl AsFd, token: u64, events: u32) -> io::Result<()> {
        self.control(
            libc::EPOLL_CTL_ADD,
            of,
            token,
            events | libc::EPOLLONESHOT as u32,
        )
    }

    /// Ask for a descriptor again.
    pub fn again(&self, of: impl AsFd, token: u64, events: u32) -> io::Result<()> {
        self.control(
            libc::EPOLL_CTL_MOD,
            of,
            token,
            events | libc::EPOLLONESHOT as u32,
        )
    }

    /// Tell everyone of a descriptor, for as long as it can be read from.
    pub fn add_for_all(&self, of: impl AsFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, of, token, READABLE)
    }

    fn control(&self, what: libc::c_int, of: impl AsFd, u64: u64, events: u32) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64 };
        let (poll, fd) = (self.0.as_raw_fd(), of.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open and the event is valid.
        checked(unsafe { libc::epoll_ctl(poll, what, fd, &raw mut event) }).map(drop)
    }

    /// Wait for a token and what can be done.
    pub fn wait(&self) -> io::Result<(u64, u32)> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        loop {
            // SAFETY: there is room for one event.
            let result = unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, -1) };
            match checked(result) {
                Ok(_) => return Ok((event.u64, event.events)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }
}
