//! What the kernel offers and Rust's library does not: the only unsafe code of the server.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::time::Ns;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        done => Ok(done),
    }
}

/// CLOCK_MONOTONIC.
pub fn now_ns() -> Ns {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Make bytes of a file a hole, which reads as zeros.
pub fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (offset, length) = (offset as libc::off64_t, length as libc::off64_t);
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fallocate64(file.as_raw_fd(), mode, offset, length) }).map(drop)
}

/// Let freed memory stay with this process, in one heap that holds this much from the start.
#[cfg(target_env = "gnu")]
pub fn keep_heap(size_b: usize) {
    // SAFETY: the options are known; what is allocated is written to within its size, and freed.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        let memory = libc::malloc(size_b);
        if !memory.is_null() {
            libc::memset(memory, 1, size_b);
            libc::free(memory);
        }
    }
}

/// Other C libraries have no such options.
#[cfg(not(target_env = "gnu"))]
pub fn keep_heap(_: usize) {}

/// Keep all memory of this process, also what it gets later, from being paged out.
pub fn lock_memory() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for the call; the other calls touch no memory.
    unsafe {
        checked(libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit))?;
        // Under a limit, locking succeeds now and allocations fail later.
        if libc::geteuid() != 0 && limit.rlim_cur != libc::RLIM_INFINITY {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        checked(libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE)).map(drop)
    }
}

fn prctl(option: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    let none: libc::c_ulong = 0;
    // SAFETY: the options used here take a number and touch no memory.
    checked(unsafe { libc::prctl(option, value, none, none, none) }).map(drop)
}

/// Let the kernel win memory for this process without writing to a file system, which may be one
/// that waits for this process (PR_SET_IO_FLUSHER).
pub fn never_wait_for_writeback() -> io::Result<()> {
    // linux/prctl.h; the libc crate does not have it yet.
    const PR_SET_IO_FLUSHER: libc::c_int = 57;
    prctl(PR_SET_IO_FLUSHER, 1)
}

/// Get SIGTERM when the thread that started this process ends.
pub fn end_with_parent() -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong)
}

/// Wake this thread, and those that it starts, as exactly as possible.
pub fn no_timer_slack() -> io::Result<()> {
    prctl(libc::PR_SET_TIMERSLACK, 1)
}

/// Run this thread before all normal ones (SCHED_RR), or as a normal one again.
pub fn set_realtime(priority: Option<i32>) -> io::Result<()> {
    let policy = priority.map_or(libc::SCHED_OTHER, |_| libc::SCHED_RR);
    let parameters = libc::sched_param {
        sched_priority: priority.unwrap_or(0),
    };
    // SAFETY: `parameters` is valid for the call.
    checked(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Give this thread descriptors of its own. What other threads open later, it does not hold open.
pub fn own_descriptors() -> io::Result<()> {
    // SAFETY: touches no memory; files that are open stay so in both tables.
    checked(unsafe { libc::unshare(libc::CLONE_FILES) }).map(drop)
}

/// Open for reads that the page cache does not answer.
pub fn open_direct(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_DIRECT);
    options.open(path)
}

/// `struct loop_config` of linux/loop.h, with the `loop_info64` in it.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    device_inode_rdevice: [u64; 3],
    offset: u64,
    size_limit: u64,
    number_encryption: [u32; 3],
    flags: u32,
    names: [u8; 64 + 64 + 32],
    init: [u64; 2],
    reserved: [u64; 8],
}

/// A loop device over a file, with direct I/O, to be read only; it goes when it is closed.
pub fn attach_loop(file: &File) -> io::Result<File> {
    const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
    const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
    const READ_ONLY_AUTOCLEAR_DIRECT_IO: u32 = 1 | 4 | 16;
    // SAFETY: all bytes zero is a valid value of this plain structure.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.fd = file.as_raw_fd() as u32;
    config.flags = READ_ONLY_AUTOCLEAR_DIRECT_IO;
    let control = File::options()
        .read(true)
        .write(true)
        .open("/dev/loop-control")?;
    let mut tries = 0;
    loop {
        // SAFETY: this request takes no argument.
        let number = checked(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) })?;
        let device = open_direct(Path::new(&format!("/dev/loop{number}")))?;
        // SAFETY: `config` is laid out as the request asks, and valid for the call.
        let made = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
        match checked(made) {
            Ok(_) => return Ok(device),
            // Another process was faster.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && tries < 10 => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
