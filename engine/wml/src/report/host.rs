//! Where it ran: the kernel and its processors.

use std::ffi::CStr;

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Host {
    pub kernel: String,
    /// Processors that this program may use.
    pub cpus_count: usize,
}

impl Host {
    pub fn here() -> Self {
        // SAFETY: zeros are a valid utsname; the call leaves texts that end in zero.
        let kernel = unsafe {
            let mut system: libc::utsname = std::mem::zeroed();
            libc::uname(&raw mut system);
            CStr::from_ptr(system.release.as_ptr())
                .to_string_lossy()
                .into_owned()
        };
        Self {
            kernel,
            cpus_count: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
