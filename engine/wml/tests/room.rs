//! A tree that has no room is refused before memory is taken for its files.

mod common;

use std::ffi::CString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, reader};

const MOST_KIB: i64 = 200 << 10;

/// Exit status, what was said, and the most memory of a command.
fn ended(mut command: Command) -> (i32, String, i64) {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    let mut status = 0;
    // SAFETY: zeros are a valid rusage.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: our own child, not yet waited for; both pointers are valid for the call.
    unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut used) };
    (libc::WEXITSTATUS(status), said, used.ru_maxrss)
}

/// Files of such sizes, more than fit, are refused with these words and without much memory.
fn refused(place: &Place, entries: u64, size: &str, words: &str) {
    let huge = reader("entries=20, size=8k", &format!("entries={entries}, {size}"));
    let (status, said, most_kib) = ended(place.command("run", &huge, &[]));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains(words) && said.contains("next:"), "{said}");
    assert!(most_kib < MOST_KIB, "{most_kib} KiB for {entries}, {size}");
}

/// How many files of a block, and of nothing, a file system has room for; None where it does not
/// say how many inodes it has.
fn room(place: &Place) -> (u64, Option<u64>) {
    let path = CString::new(place.dir().as_os_str().as_bytes()).unwrap();
    // SAFETY: zeros are a valid statvfs, which the call fills in.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    assert_eq!(unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) }, 0);
    (disk.f_bavail, (disk.f_files > 0).then_some(disk.f_favail))
}

const MOST: u64 = 99_999_999;

#[test]
fn a_hundred_million_files_without_room_take_no_memory() {
    let place = Place::new("room");
    refused(&place, MOST, "size=1t", "no space for");
    let (blocks, inodes) = room(&place);
    let small = if blocks < MOST {
        "no space for"
    } else {
        "no inodes for"
    };
    if inodes.is_some_and(|inodes| inodes >= MOST) && blocks >= MOST {
        eprintln!("skipped: there is room for {MOST} files; run the tests on a smaller disk");
        return;
    }
    refused(&place, MOST, "size=100", small);
    match inodes {
        Some(inodes) if inodes < MOST => refused(&place, MOST, "size=0", "no inodes for"),
        _ => eprintln!("skipped: no lack of inodes here; run the tests on ext4"),
    }
    if 2 * blocks < MOST {
        let random = "size=randvar(type=uniform, mean=100, min=1)";
        refused(&place, MOST, random, "no space for");
    }
}

/// A file system in memory, unmounted at the end.
struct Mounted(PathBuf);

impl Mounted {
    /// None, with a word to people, where this user may not make one.
    fn on(folder: &Path, options: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]);
        let done = mount.arg(folder).stderr(Stdio::null()).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("skipped: nothing can be mounted here; run the tests as root");
            return None;
        }
        Some(Self(folder.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn prepared(place: &Place, change: &str) {
    let text = reader("entries=20, size=8k", change);
    let (status, said, _) = ended(place.command("prepare", &text, &[]));
    assert_eq!(status, 0, "{change}: {said}");
}

#[test]
fn inodes_are_counted_before_files_and_what_an_old_tree_holds_is_free() {
    let place = Place::new("room-mounted");
    let Some(_mounted) = Mounted::on(&place.dir(), "size=8m,nr_inodes=200") else {
        return;
    };
    refused(&place, MOST, "size=0", "no inodes for");
    refused(&place, MOST, "size=0, prealloc=1", "no inodes for");
    // Twice as many have no room beside the old ones.
    for _ in 0..2 {
        prepared(&place, "entries=100, size=64k");
        prepared(&place, "entries=150, size=4k");
    }
    refused(&place, MOST, "size=0", "no inodes for");
}

#[test]
fn a_trusted_tree_is_taken_as_it_is_and_a_foreign_one_named_as_such() {
    let place = Place::new("room-again");
    prepared(&place, "entries=20, size=8k");
    refused(&place, MOST, "size=1t", "no space for");
    prepared(&place, "entries=20, size=1000t, trusttree");
    fs::write(place.dir().join("files/thesis.txt"), "years").unwrap();
    refused(&place, MOST, "size=1t", "was not made by this program");
}
