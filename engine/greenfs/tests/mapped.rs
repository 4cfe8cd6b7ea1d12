//! Memory that programs keep of files that they have closed: they read it, and change it, without a word.

mod common;

use std::ffi::{CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{Home, does, text};
use greenfs::branch::folder::{FRESH, Folder};
use greenfs::protocol::{NodeId, ROOT};
use greenfs::volume::{Flash, New};

const SIZE_B: usize = 1 << 20;

/// Memory that is shared with the kernel: all of a file, which is closed at once.
struct Memory(*mut u8, usize);

impl Memory {
    fn of(path: &Path, is_changed: bool) -> Self {
        let file = OpenOptions::new().read(true).write(is_changed).open(path);
        let file = file.expect("it is there");
        let access = match is_changed {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        let size_b = file.metadata().expect("it is open").len() as usize;
        let none = std::ptr::null_mut();
        // SAFETY: the kernel chooses a place where nothing is.
        let memory =
            unsafe { libc::mmap(none, size_b, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        Self(memory.cast(), size_b)
    }

    fn read(&self) -> Vec<u8> {
        // SAFETY: the memory is as large as that, and nobody changes it meanwhile.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }.to_vec()
    }

    fn write(&self, at: usize, byte: u8) {
        assert!(at < self.1);
        // SAFETY: it is within the memory, which was made to be changed.
        unsafe { self.0.add(at).write(byte) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it any more.
        unsafe { libc::munmap(self.0.cast(), self.1) };
    }
}

/// Write a file, and have the remote have it.
fn write(home: &Home, name: &str, byte: u8) {
    fs::write(home.mnt(name), vec![byte; SIZE_B]).expect("it is writable");
    File::open(home.mnt(name))
        .and_then(|file| file.sync_all())
        .expect("all are there");
}

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

/// The remote would keep for ever what the memory had when the new mount began, and `status` say that it holds all.
#[test]
fn what_memory_of_an_earlier_mount_changes_is_not_hidden() {
    let Some(mut home) = Home::new("outlived") else {
        return;
    };
    let options = ["--remote", "remote", "--patience", "1"];
    home.mount(&options);
    write(&home, "file", 0);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 2);
    // Else the kernel has memory of its own, which ends with the mount.
    if fs::read(home.at("flash/file")).expect("it is there")[0] != 2 {
        return eprintln!("skipped: needs root, and passthrough of FUSE (Linux 6.9)");
    }
    home.kill();
    mounting::place::detach(&home.mnt("")).expect("nobody serves it");
    thread::sleep(FRESH * 2);
    home.mount(&options);
    home.wait_for(": connected; holds all");
    memory.write(0, 3);
    drop(memory);
    write(&home, "later", 1);
    home.umount();
    home.same_trees("flash", "remote");

    // So long as the memory stays, the end of a mount is not the end of the changes.
    home.mount(&options);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 4);
    home.signal("TERM");
    home.wait_for_end();
    let mut status = home.greenfs("status");
    status.args(["--flash", "flash", "--remote", "remote"]);
    let said = text(&status.output().expect("it was built"));
    assert!(!said.contains("holds all"), "{said}");
    memory.write(0, 5);
    home.sync();
    home.same_trees("flash", "remote");

    // Nor is a synchronisation in between.
    home.mount(&options);
    home.wait_for(": connected; holds all");
    memory.write(0, 6);
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
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

/// Most programs open files so that they could change them: the remote would keep a version for each time.
#[test]
fn what_was_opened_and_not_changed_stays_as_it_is() {
    let Some(mut home) = Home::new("unchanged") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    thread::sleep(FRESH * 2);
    drop(Memory::of(&home.mnt("file"), true));
    write(&home, "later", 1);
    let history = home.at("remote/.greenfs/history/file");
    let versions = || fs::read_dir(&history).map(Iterator::count);
    assert!(versions().is_err(), "nothing was changed");
    let memory = Memory::of(&home.mnt("file"), true);
    assert!(memory.read() == vec![0; SIZE_B], "it is all there");
    memory.write(0, 1);
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
    assert!(versions().expect("there are some") > 0);
}

/// Memory of files in RAM leaves their times as they are: what it changes would never go to the remote.
#[test]
fn of_flash_that_does_not_tell_all_that_was_opened_is_brought() {
    let Some(mut home) = Home::new("untold") else {
        return;
    };
    if !does("mount", &["-t", "tmpfs", "none"], &home.at("flash")) {
        return eprintln!("skipped: needs root, to mount a tmpfs");
    }
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    thread::sleep(FRESH * 2);
    let memory = Memory::of(&home.mnt("file"), true);
    assert!(memory.read() == vec![0; SIZE_B], "it is all there");
    write(&home, "later", 1);
    memory.write(0, 1); // no time changes, as it was read before
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
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

/// Where times are whole seconds, as with small inodes of ext4, what memory changes in the second of the
/// last change would never go to the remote.
#[test]
fn what_memory_changes_within_a_second_is_brought() {
    let Some(mut home) = Home::new("second") else {
        return;
    };
    let image = home.at("image");
    let made = File::create(&image).and_then(|file| file.set_len(16 << 20));
    made.expect("it is writable");
    let of_image = ["-o", "loop", image.to_str().expect("it is text")];
    if !does("mkfs.ext4", &["-q", "-I", "128"], &image)
        || !does("mount", &of_image, &home.at("flash"))
    {
        return eprintln!(
            "skipped: needs root, loop devices and mkfs.ext4 (apt install e2fsprogs)"
        );
    }
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let past = since.expect("it is later").subsec_nanos();
    thread::sleep(Duration::from_secs(1) - Duration::from_nanos(past.into()));
    write(&home, "file", 1);
    thread::sleep(FRESH * 2);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 2);
    drop(memory);
    thread::sleep(FRESH * 2);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
}

/// What many programs did through memory, and let go of, would come to the remote long after an fsync.
#[test]
fn an_fsync_waits_for_all_memory_that_is_gone() {
    let Some(mut home) = Home::new("many") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "60"]);
    // The kernel is asked of fewer at once.
    let names = (0..300).map(|number| number.to_string());
    let memories: Vec<Memory> = names
        .map(|name| {
            fs::write(home.mnt(&name), "0").expect("it is writable");
            Memory::of(&home.mnt(&name), true)
        })
        .collect();
    // A remote that is catching up with so many writes is not waited for.
    home.wait_for(": connected; holds all");
    memories.iter().for_each(|memory| memory.write(0, 1));
    drop(memories);
    write(&home, "later", 1);
    home.same_trees("flash", "remote");
    home.umount();
}

fn opened(home: &Home) -> Flash<Folder> {
    let store = Folder::open(&home.at("flash")).expect("it is there");
    let flash = Flash::open(store, &home.at("flash"), &"0".repeat(32));
    flash.unwrap_or_else(|_| panic!("nobody else uses it"))
}

/// A new file that a program had open to change it, and has closed.
fn made(flash: &mut Flash<Folder>, name: &str) -> NodeId {
    let new = New {
        mode: 0o600,
        owner: None,
    };
    let id = flash.create(ROOT, OsStr::new(name), new);
    let id = id.expect("nothing is there");
    flash.begin_sharing(id).expect("it is there");
    flash.end_sharing(id).expect("it is there");
    id
}

/// One that is killed as it begins would hide that memory from the next.
#[test]
fn memory_is_found_whenever_flash_is_opened() {
    let home = Home::without_mount("opened");
    let id = made(&mut opened(&home), "file");
    let writer = OpenOptions::new().write(true).open(home.at("flash/file"));
    let writer = writer.expect("it is there");
    thread::sleep(FRESH * 2);
    drop(opened(&home));
    assert_eq!(opened(&home).closed(), [id]);
    drop(writer);
    // What another test is just starting has it open until it runs.
    while !opened(&home).closed().is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Files that the kernel says nothing of would be asked of at every look, and be remembered without end.
#[test]
fn what_the_kernel_does_not_know_is_asked_once_and_forgotten_with_the_file() {
    let home = Home::without_mount("asked");
    let mut flash = opened(&home);
    let ids = ["a", "b"].map(|name| made(&mut flash, name));
    assert_eq!(flash.closed(), ids);
    flash.stop_asking(ids[1]);
    assert_eq!(flash.closed(), ids[..1]);
    flash.end_mapping(ids[0]).expect("it is there");
    flash.unlink(ROOT, OsStr::new("b")).expect("it is there");
    assert_eq!(flash.closed(), ids[1..]);
    flash.end_mapping(ids[1]).expect("it was there");
    assert!(flash.closed().is_empty());
}
