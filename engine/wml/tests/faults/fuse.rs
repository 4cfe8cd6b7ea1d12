//! A file system in which every file can be opened and none be read: just enough of the kernel's
//! protocol (linux/fuse.h, version 7.31) for one fileset of one directory.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const RELEASE: u32 = 18;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const RELEASEDIR: u32 = 29;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

/// The nodes: the root of the mount, the fileset, its only directory, and all files alike.
const FILE: u64 = 4;
const FILE_B: u64 = 8192;
const REQUEST_B: usize = 1 << 17;

pub fn mount(directory: &Path) -> io::Result<File> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
    let target = CString::new(directory.as_os_str().as_bytes())?;
    let fd = device.as_raw_fd();
    let options = format!("fd={fd},rootmode=40755,user_id=0,group_id=0");
    let options = CString::new(options)?;
    // SAFETY: all texts end in a zero byte and outlive the call.
    let result = unsafe {
        libc::mount(
            c"broken".as_ptr(),
            target.as_ptr(),
            c"fuse".as_ptr(),
            libc::MS_NOSUID | libc::MS_NODEV,
            options.as_ptr().cast(),
        )
    };
    match result {
        0 => Ok(device),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Answer until the file system is unmounted.
pub fn serve(mut device: File) {
    let mut request = vec![0; REQUEST_B];
    while let Ok(length) = device.read(&mut request) {
        let u32_at = |at: usize| u32::from_ne_bytes(request[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_ne_bytes(request[at..at + 8].try_into().unwrap());
        assert!(length >= 40, "a request is at least its header");
        let (opcode, unique, node) = (u32_at(4), u64_at(8), u64_at(16));
        let answer = match opcode {
            FORGET | BATCH_FORGET | INTERRUPT => continue,
            INIT => Ok(init()),
            LOOKUP if node < FILE => Ok(entry(node + 1)),
            LOOKUP => Err(libc::ENOENT),
            GETATTR => Ok([vec![0; 16], attributes(node)].concat()),
            OPEN | OPENDIR => Ok(vec![0; 16]),
            FLUSH | RELEASE | RELEASEDIR => Ok(Vec::new()),
            READ | WRITE => Err(libc::EIO),
            _ => Err(libc::ENOSYS),
        };
        let (error, body) = match answer {
            Ok(body) => (0, body),
            Err(errno) => (-errno, Vec::new()),
        };
        let mut reply = Vec::new();
        reply.extend((16 + body.len() as u32).to_ne_bytes());
        reply.extend(error.to_ne_bytes());
        reply.extend(unique.to_ne_bytes());
        reply.extend(body);
        let _ = device.write_all(&reply);
    }
}

fn init() -> Vec<u8> {
    let (major, minor, readahead, flags) = (7_u32, 31_u32, 0_u32, 0_u32);
    let mut body: Vec<u8> = [major, minor, readahead, flags]
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    body.extend([0; 4]); // background requests: the default
    body.extend(4096_u32.to_ne_bytes()); // the largest write
    body.resize(64, 0);
    body
}

/// A name's node, cached for no time.
fn entry(node: u64) -> Vec<u8> {
    let mut body = node.to_ne_bytes().to_vec();
    body.resize(40, 0);
    body.extend(attributes(node));
    body
}

fn attributes(node: u64) -> Vec<u8> {
    let (mode, size) = if node == FILE {
        (libc::S_IFREG | 0o644, FILE_B)
    } else {
        (libc::S_IFDIR | 0o755, 0)
    };
    let mut body = Vec::new();
    for word in [node, size, size / 512, 0, 0, 0] {
        body.extend(word.to_ne_bytes());
    }
    for word in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        body.extend(word.to_ne_bytes());
    }
    body
}
