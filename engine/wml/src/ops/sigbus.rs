//! Surviving an access to mapped memory that has no file behind it any more.
//!
//! The kernel tells this by SIGBUS: the file was cut off, the disk is full, or it cannot be read.
//! The handler puts anonymous memory in place of the mapping, so that the access goes on, and
//! notes it, so that it counts as failed.

use std::sync::Once;
use std::sync::atomic::compiler_fence;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

/// The memory that this thread accesses now, and whether it was replaced.
struct Guard {
    start: AtomicUsize,
    length: AtomicUsize,
    hit: AtomicBool,
}

thread_local! {
    static GUARD: Guard = const {
        Guard {
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            hit: AtomicBool::new(false),
        }
    };
}

/// Handle SIGBUS from now on in this process.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
        // SAFETY: zeros are a valid sigaction; the handler has the signature of SA_SIGINFO and
        // does only what is allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// Access a mapping of `length` bytes; false if it had to be replaced, after which it must not be
/// used any more.
pub fn guarded(start: *mut u8, length: usize, access: impl FnOnce()) -> bool {
    GUARD.with(|guard| {
        guard.length.store(length, Relaxed);
        guard.start.store(start as usize, Relaxed);
        guard.hit.store(false, Relaxed);
        // The handler runs in this thread, so that only the compiler could get in the way.
        compiler_fence(SeqCst);
        access();
        compiler_fence(SeqCst);
        guard.length.store(0, Relaxed);
        !guard.hit.load(Relaxed)
    })
}

extern "C" fn handle(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo of a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let replaced = GUARD.with(|guard| {
        let (start, length) = (guard.start.load(Relaxed), guard.length.load(Relaxed));
        if address.wrapping_sub(start) >= length {
            return false;
        }
        guard.hit.store(true, Relaxed);
        // SAFETY: replaces only the mapping that this thread accesses now and then gives up.
        let result = unsafe {
            libc::mmap(
                start as *mut libc::c_void,
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        result != libc::MAP_FAILED
    });
    if !replaced {
        // SAFETY: the access is repeated on return, and ends the process as without a handler.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
}
