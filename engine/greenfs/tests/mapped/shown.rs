//! What programs see of files that memory changes.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::Home;
use crate::{Memory, SIZE_B, write};

fn wait_until_given_up(home: &Home, name: &str) {
    let mode = || fs::metadata(home.at("flash").join(name)).map(|found| found.permissions().mode());
    while mode().expect("it is there") & 0o7777 != 0o1000 {
        thread::sleep(Duration::from_millis(20));
    }
}

/// A program would run on zeros: its code is memory of files that the loader has closed.
#[test]
fn what_somebody_has_in_memory_is_not_given_up() {
    let Some(mut home) = Home::new("mapped") else {
        return;
    };
    home.mount(&["--flash-mib", "0", "--remote", "remote"]);
    write(&home, "program", 1);
    let memory = Memory::of(&home.mnt("program"), false);
    write(&home, "later", 2);
    wait_until_given_up(&home, "later");
    assert!(memory.read() == vec![1; SIZE_B], "other bytes");
    drop(memory);
    // Nothing is done here: it is looked again.
    wait_until_given_up(&home, "program");
    let read = fs::read(home.mnt("program"));
    assert!(read.expect("the remote has it") == vec![1; SIZE_B]);
    home.umount();
}

/// What is read again the kernel keeps, with its attributes: it would go on showing what was.
#[test]
fn what_is_read_again_shows_what_memory_and_programs_changed() {
    let Some(mut home) = Home::new("again") else {
        return;
    };
    home.mount(&[]);
    let file = home.mnt("file");
    fs::write(&file, [0; 8192]).expect("it is writable");
    let read = || {
        let read = [(); 3].map(|()| fs::read(&file).expect("it is there"));
        assert!(read.iter().all(|again| *again == read[0]));
        read[0].clone()
    };
    for byte in 1..4 {
        assert_eq!(read()[0], byte - 1);
        let memory = Memory::of(&file, true);
        for change in [byte, byte + 50, byte] {
            memory.write(0, change);
            // Without root, the kernel asks for all, and memory is a part of that.
            assert_eq!(read()[0], change);
        }
        drop(memory);
        assert_eq!(read()[0], byte);
        let program = OpenOptions::new().write(true).open(&file);
        let program = program.expect("it is writable");
        for change in [byte + 10, byte + 20] {
            program.write_all_at(&[change], 5000).expect("it is");
            assert_eq!(read()[5000], change);
        }
        drop(program);
        assert_eq!(read()[5000], byte + 20);
    }
    home.umount();
}

/// The time of the last change alone: asked for more, the kernel asks again after any read.
fn modified_ns(path: &Path) -> i64 {
    let path = CString::new(path.as_os_str().as_bytes()).expect("it is a path");
    // SAFETY: all of it are numbers, and the path ends with a zero.
    let found = unsafe {
        let mut found: libc::statx = std::mem::zeroed();
        let told = libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            0,
            libc::STATX_MTIME,
            &raw mut found,
        );
        assert_eq!(told, 0);
        found
    };
    found.stx_mtime.tv_sec * 1_000_000_000 + i64::from(found.stx_mtime.tv_nsec)
}

/// What was built of it would not be built again.
#[test]
fn the_time_is_shown_at_which_memory_changed_a_file() {
    let Some(mut home) = Home::new("time") else {
        return;
    };
    home.mount(&[]);
    let (file, on_flash) = (home.mnt("file"), home.at("flash/file"));
    fs::write(&file, [0; 8192]).expect("it is writable");
    // The kernel asks once more for attributes of what was just made.
    thread::sleep(Duration::from_secs(2));
    let before = modified_ns(&file);
    let memory = Memory::of(&file, true);
    memory.write(4096, 1);
    if modified_ns(&on_flash) == before {
        return eprintln!(
            "skipped: needs root, passthrough of FUSE (Linux 6.9), and flash in no tmpfs"
        );
    }
    // It keeps attributes of others for twice as long as this.
    let is_shown = (0..300).any(|_| {
        thread::sleep(Duration::from_secs(1));
        modified_ns(&file) == modified_ns(&on_flash)
    });
    assert!(is_shown);
    drop(memory);
    home.umount();
}

/// A copy would have what the kernel had copied of the file before, and not what a program put there since.
#[test]
fn a_copy_has_what_memory_changed() {
    let Some(mut home) = Home::new("copied") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    write(&home, "file", 0);
    let options = || OpenOptions::new().read(true).write(true).to_owned();
    let file = options().open(home.mnt("file")).expect("it is there");
    let to = options().create(true).open(home.mnt("copy"));
    let to = to.expect("it is writable");
    let memory = Memory::of(&home.mnt("file"), true);
    for byte in 0..3 {
        memory.write(0, byte);
        let (mut start, mut end) = (0, 0);
        // SAFETY: both are open, and the offsets are those of this call.
        let copied = unsafe {
            let (file, to) = (file.as_raw_fd(), to.as_raw_fd());
            libc::copy_file_range(file, &raw mut start, to, &raw mut end, SIZE_B, 0)
        };
        assert_eq!(copied, SIZE_B as isize);
        assert!(fs::read(home.mnt("copy")).expect("it is there") == memory.read());
    }
    drop((memory, file, to));
    home.umount();
    home.same_trees("flash", "remote");
}

/// What goes into a pipe or over a network without a copy would stay for ever as it was the first time.
#[test]
fn what_is_sent_shows_what_memory_changed() {
    let Some(mut home) = Home::new("sent") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    write(&home, "file", 0);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(home.mnt("file"));
    let file = file.expect("it is there");
    let memory = Memory::of(&home.mnt("file"), true);
    let sent = || {
        let (mut from, to) = std::io::pipe().expect("there are some left");
        let mut start = 0;
        // SAFETY: both are open, and the offset is that of this call.
        let sent = unsafe { libc::sendfile(to.as_raw_fd(), file.as_raw_fd(), &raw mut start, 1) };
        assert_eq!(sent, 1);
        let mut byte = [0];
        from.read_exact(&mut byte).expect("it was sent");
        byte[0]
    };
    for byte in 0..3 {
        memory.write(0, byte);
        // The kernel forgets what it copied a moment after that.
        while sent() != byte {
            thread::sleep(Duration::from_millis(1));
        }
    }
    drop((memory, file));
    home.umount();
}
