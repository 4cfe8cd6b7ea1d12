//! No process of the workload outlives the one that started it.

use crate::failure::Failure;

/// Have the kernel kill this process when the one that started it ends, however it ends.
pub fn die_with_parent() -> Result<(), Failure> {
    // SAFETY: touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } == 0 {
        return Ok(());
    }
    Err(Failure::io(
        "cannot tie this process to its caller",
        &std::io::Error::last_os_error(),
    ))
}
