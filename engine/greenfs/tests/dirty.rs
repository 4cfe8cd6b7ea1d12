//! A file that changed in part: what of it goes to a server, and what is there then.

mod common;

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use common::Home;
use common::serving::Server;
use common::tapping::Tap;

const SIZE_B: usize = 16 << 20;

/// So much is written at once, and so often.
const WRITTEN_B: usize = 64 << 10;
const TIMES: usize = 16;

/// What goes over the network may be so many times what was written.
const MOST: f64 = 1.2;

/// Bytes that differ from place to place, and from time to time.
fn bytes(seed: usize, size_b: usize) -> Vec<u8> {
    let word = |nth: usize| (nth as u64 + seed as u64 * 77).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = (0..size_b / 8).map(word);
    words.flat_map(u64::to_le_bytes).collect()
}

/// Write here and there in a file that is not cut.
fn write_in(home: &Home, seed: usize) {
    let file = OpenOptions::new().write(true).open(home.mnt("image"));
    let file = file.expect("it is there");
    for nth in 0..TIMES {
        let offset = nth * SIZE_B / TIMES + seed * 1009;
        let data = bytes(seed + nth, WRITTEN_B);
        file.write_all_at(&data, offset as u64)
            .expect("it is writable");
    }
}

fn fsync(home: &Home) {
    let root = File::open(home.mnt(""));
    root.and_then(|root| root.sync_all())
        .expect("all are there");
}

fn is_little(passed_b: u64) {
    let times = passed_b as f64 / (TIMES * WRITTEN_B) as f64;
    assert!(
        (1.0..MOST).contains(&times),
        "{times} times what was written"
    );
}

/// A change in a large file would take the network for as long as the whole file.
#[test]
fn what_did_not_change_stays_where_it_is() {
    let Some(mut home) = Home::new("dirty") else {
        return;
    };
    fs::create_dir(home.at("pool")).expect("it is writable");
    for options in [&[][..], &["--pool", "pool"]] {
        let mut server = Server::new(&home, options);
        let tap = Tap::to(&server.address);
        let url = tap.url();
        let mount = ["--patience", "120", "--remote", &url];
        home.mount(&mount);
        home.wait_for(": connected; holds all");
        fs::write(home.mnt("image"), bytes(0, SIZE_B)).expect("it is writable");
        fsync(&home);
        assert!(tap.passed_b() > SIZE_B as u64);

        let before_b = tap.passed_b();
        write_in(&home, 1);
        fsync(&home);
        is_little(tap.passed_b() - before_b);

        // Also what was changed while the server was away, and the volume then unmounted.
        server.kill();
        home.umount();
        home.mount(&[]);
        write_in(&home, 2);
        home.umount();
        let address = server.address.clone();
        server = Server::at(&home, &address, options);
        let before_b = tap.passed_b();
        home.mount(&mount);
        home.wait_for(": connected; holds all");
        is_little(tap.passed_b() - before_b);
        home.umount();

        let all = ["--remote", &url, "--at", &home.last(&["--remote", &url])];
        let mut restore = home.greenfs("restore");
        restore.args(all).args(["image", "--to", "back"]);
        common::text(&restore.output().expect("it was built"));
        let [here, back] = ["flash/image", "back"].map(|file| fs::read(home.at(file)));
        assert!(here.expect("it is there") == back.expect("it was restored"));
        server.kill();
        for folder in ["flash", "remote"] {
            fs::remove_dir_all(home.at(folder)).expect("it is there");
            fs::create_dir(home.at(folder)).expect("it is writable");
        }
        fs::remove_file(home.at("back")).expect("it was restored");
        fs::remove_dir_all(home.at("keys")).expect("they are there");
    }
}

/// Memory that a program shares with the kernel: all of a file.
fn mapped(file: &File) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let none = std::ptr::null_mut();
    // SAFETY: the kernel chooses a place where nothing is.
    let memory = unsafe { libc::mmap(none, SIZE_B, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    memory.cast()
}

fn open(home: &Home) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(home.mnt("image"));
    file.expect("it is there")
}

/// A mount with a file, and the server that has it.
fn with_image(name: &str) -> Option<(Home, Server)> {
    let mut home = Home::new(name)?;
    let server = Server::new(&home, &[]);
    home.mount(&["--patience", "120", "--remote", &server.url()]);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("image"), bytes(0, SIZE_B)).expect("it is writable");
    fsync(&home);
    Some((home, server))
}

/// Through memory that a program shares with the kernel, greenfs may hear of no write: the server
/// would never get it.
#[test]
fn what_changed_through_memory_goes_too() {
    let Some((mut home, _server)) = with_image("memory") else {
        return;
    };

    let file = open(&home);
    let memory = mapped(&file);
    // SAFETY: the mapping is as large as the file, and nothing else uses it.
    unsafe {
        memory.add(SIZE_B / 2).write(251);
        file.write_all_at(b"beside", 0).expect("it is writable");
        fsync(&home);
        memory.add(SIZE_B / 4).write(251);
        libc::munmap(memory.cast(), SIZE_B);
    }
    drop(file);
    fs::write(home.mnt("next"), "so that something follows").expect("it is writable");
    home.umount();
    home.same_trees("flash", "remote");
    let image = fs::read(home.at("remote/image")).expect("it is there");
    assert_eq!([image[SIZE_B / 2], image[SIZE_B / 4]], [251, 251]);
}

/// Memory stays shared when the file is closed, as most programs do at once: of a file that is then
/// written to elsewhere, or renamed, the server would keep for ever what the memory had before.
#[test]
fn what_changed_through_memory_of_a_closed_file_goes_too() {
    let Some(mut home) = Home::new("closed") else {
        return;
    };
    let server = Server::new(&home, &[]);
    home.mount(&["--patience", "120", "--remote", &server.url()]);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("image"), bytes(0, SIZE_B)).expect("it is writable");
    // SAFETY: the mapping is as large as the file, and nothing else uses it.
    let change = |memory: *mut u8, to: u8| unsafe {
        memory.add(SIZE_B / 2).write(to);
        libc::munmap(memory.cast(), SIZE_B);
    };
    let memory = mapped(&open(&home));
    fsync(&home);
    let beside = OpenOptions::new().write(true).open(home.mnt("image"));
    let beside = beside.expect("it is there");
    beside.write_all_at(b"one", 0).expect("it is writable");
    change(memory, 251);
    beside.write_all_at(b"two", 0).expect("it is writable");
    drop(beside);
    let memory = mapped(&open(&home));
    fsync(&home);
    home.same_trees("flash", "remote");
    change(memory, 252);
    fs::rename(home.mnt("image"), home.mnt("renamed")).expect("it is there");
    fsync(&home);
    home.same_trees("flash", "remote");
    home.umount();
}

/// What memory changes while the file is copied may lie in the copy in part: the server would keep that for
/// ever, although nobody has the memory any more.
#[test]
fn what_changed_through_memory_goes_once_more_when_that_is_gone() {
    let Some((mut home, _server)) = with_image("gone") else {
        return;
    };
    let memory = mapped(&open(&home));
    fsync(&home);
    // SAFETY: the mapping is as large as the file, and nothing else uses it.
    unsafe {
        memory.add(SIZE_B / 2).write(251);
        libc::munmap(memory.cast(), SIZE_B);
    }
    // Another file is enough for somebody to look.
    fs::write(home.mnt("next"), "something").expect("it is writable");
    let is_there = || {
        let image = File::open(home.at("remote/image")).expect("it is there");
        let mut byte = [0];
        let read = image.read_exact_at(&mut byte, SIZE_B as u64 / 2);
        read.expect("it is as large");
        byte == [251]
    };
    while !is_there() {
        thread::sleep(Duration::from_millis(20));
    }
    home.umount();
    home.same_trees("flash", "remote");
}

/// Nobody is to change flash beside a mount. Where it is done all the same, a write elsewhere in the file
/// would hide it for good.
#[test]
fn what_changed_beside_the_mount_goes_with_the_next_write() {
    let Some((home, _server)) = with_image("beside") else {
        return;
    };
    for (place, at) in [(home.at("flash/image"), SIZE_B / 2), (home.mnt("image"), 0)] {
        let file = OpenOptions::new().write(true).open(place);
        let written = file.and_then(|file| file.write_all_at(b"other", at as u64));
        written.expect("it is writable");
    }
    fsync(&home);
    home.same_trees("flash", "remote");
}
