//! The least that an operation costs: a loop around the system calls, nothing recorded.
//!
//! Usage: bare_loop stat|open|read DIRECTORY SECONDS; prints operations per second.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

fn files(directory: &Path, found: &mut Vec<CString>) {
    for item in std::fs::read_dir(directory).expect("a directory") {
        let path = item.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(CString::new(path.as_os_str().as_bytes()).expect("no zero byte"));
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, directory, seconds] = arguments.as_slice() else {
        panic!("bare_loop stat|open|read DIRECTORY SECONDS");
    };
    let duration = Duration::from_secs_f64(seconds.parse().expect("seconds"));
    let mut paths = Vec::new();
    files(Path::new(directory), &mut paths);
    let mut buffer = [0u8; 4096];
    // SAFETY: the paths end in a zero byte, and the buffers are valid for the calls.
    let once: Box<dyn FnMut(&CString)> = match what.as_str() {
        "stat" => Box::new(|path| unsafe {
            let mut found = std::mem::zeroed();
            assert_eq!(libc::stat(path.as_ptr(), &raw mut found), 0);
        }),
        "open" => Box::new(|path| unsafe {
            let fd = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            assert_eq!(libc::close(fd), 0);
        }),
        _ => {
            // SAFETY: as above.
            let fd = unsafe { libc::open(paths[0].as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
            Box::new(move |_| unsafe {
                let read = libc::pread(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0);
                assert!(read > 0);
            })
        }
    };
    println!("{:.0}", rate(&paths, duration, once));
}

/// Passes over the files until the time is over, looked at once a pass.
fn rate(paths: &[CString], duration: Duration, mut once: impl FnMut(&CString)) -> f64 {
    let start = Instant::now();
    let mut passes = 0;
    while start.elapsed() < duration {
        paths.iter().for_each(&mut once);
        passes += 1;
    }
    (passes * paths.len()) as f64 / start.elapsed().as_secs_f64()
}
