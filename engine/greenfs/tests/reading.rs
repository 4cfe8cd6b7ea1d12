//! When files were read last: programs such as those for mail ask that, and so does a mount with a bound.

mod common;

use std::fs::{self, File, FileTimes, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use common::Home;

/// Longer than a tick of the kernel, by which it dates what programs do.
const TICK: Duration = Duration::from_millis(50);

/// Whether a file was read after it was changed last.
fn is_read(file: &Path) -> bool {
    let found = fs::metadata(file).expect("it is there");
    (found.atime(), found.atime_nsec()) > (found.mtime(), found.mtime_nsec())
}

/// Folders, not mounted yet. None, with the reason printed, where reads could not be noted.
fn home(name: &str) -> Option<Home> {
    let home = Home::new(name)?;
    let probe = home.at("probe");
    fs::write(&probe, "probe").expect("it is writable");
    thread::sleep(TICK);
    fs::read(&probe).expect("it is there");
    if !is_read(&probe) {
        eprintln!("skipped: temporary files are on what is mounted with noatime: set TMPDIR");
        return None;
    }
    Some(home)
}

/// Nobody waits for that but this test.
fn wait_until_read(file: &Path) {
    while !is_read(file) {
        thread::sleep(TICK);
    }
}

/// Write a file in a mount, open it to be read and written, and read it.
fn open_and_read(file: &Path) -> File {
    fs::write(file, "new").expect("it is writable");
    thread::sleep(TICK);
    let open = OpenOptions::new().read(true).write(true).open(file);
    let open = open.expect("it is there");
    open.read_exact_at(&mut [0; 3], 0).expect("it is there");
    open
}

/// A program that reads what it has just written would wait for the disk each time, and find no new mail if nothing
/// were noted at all.
#[test]
fn reading_is_noted_when_a_file_is_closed() {
    let Some(mut home) = home("reading-noted") else {
        return;
    };
    home.mount(&[]);
    let on_flash = home.at("flash/file");
    let open = open_and_read(&home.mnt("file"));
    assert!(!is_read(&on_flash), "noted while it is open");
    assert!(!is_read(&home.mnt("file")), "noted while it is open");
    drop(open);
    wait_until_read(&home.mnt("file")); // what the kernel was told before does not last
    assert!(is_read(&on_flash));
}

/// A program that reads a mailbox and puts the time back, or adds a mail, would leave nothing new to be found.
#[test]
fn what_comes_after_a_reading_stays() {
    let Some(mut home) = home("reading-stays") else {
        return;
    };
    home.mount(&[]);
    let times = FileTimes::new().set_accessed(UNIX_EPOCH);
    let open = open_and_read(&home.mnt("put-back"));
    open.set_times(times).expect("it is ours");
    drop(open);
    drop(open_and_read(&home.mnt("put-back-later")));
    let open = OpenOptions::new()
        .write(true)
        .open(home.mnt("put-back-later"));
    let open = open.expect("it is there");
    open.set_times(times).expect("it is ours");
    drop(open);
    let open = open_and_read(&home.mnt("added-to"));
    open.write_all_at(b"newer", 3).expect("it is writable");
    drop(open);
    // What is closed later is noted later.
    drop(open_and_read(&home.mnt("later")));
    wait_until_read(&home.at("flash/later"));
    for file in ["put-back", "put-back-later", "added-to"] {
        assert!(!is_read(&home.at("flash").join(file)), "{file}");
    }
}

/// Each file would count as read by whoever wrote it, as soon as branches have it.
#[test]
fn copying_to_branches_is_no_reading() {
    let Some(mut home) = home("reading-copied") else {
        return;
    };
    home.mount(&["--remote", "remote", "--disk", "disk"]);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("file"), "new").expect("it is writable");
    thread::sleep(TICK);
    home.umount();
    for branch in ["remote", "disk"] {
        assert!(home.at(branch).join("file").exists(), "{branch}");
    }
    assert!(!is_read(&home.at("flash/file")));
}
