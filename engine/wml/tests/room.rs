//! A tree that has no room is refused before memory is taken for its files.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, reader};

const MOST_KIB: i64 = 200 << 10;

/// Exit status, what was said, and the most memory of a command. KiB.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
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

const MOST: u64 = 99_999_999;

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
fn what_small_and_empty_files_take_is_counted_before_they_take_memory() {
    let place = Place::new("room-small");
    let Some(_mounted) = Mounted::on(&place.dir(), "size=8m,nr_inodes=200") else {
        return;
    };
    refused(&place, MOST, "size=100", "no space for");
    let random = "size=randvar(type=uniform, mean=100, min=1)";
    refused(&place, MOST, random, "no space for");
    refused(&place, MOST, "size=0", "no inodes for");
    refused(&place, MOST, "size=0, prealloc=1", "no inodes for");
    // Twice as many would have no room.
    for _ in 0..2 {
        prepared(&place, "entries=100, size=64k");
        prepared(&place, "entries=150, size=4k");
    }
    refused(&place, MOST, "size=0", "no inodes for");
}

#[test]
fn check_warns_of_files_that_no_file_system_has_the_space_for() {
    let place = Place::new("room-check");
    let warned = |place_of: &str, files: &str, with: &str| {
        let text = reader("entries=20, size=8k", files).replace("$dir", place_of);
        let text = text.replace("run\n", &format!("echo $dir\n{with}"));
        let (status, said, _) = ended(place.command("check", &text, &[]));
        assert_eq!(status, 0, "{said}");
        said
    };
    let there = place.dir().display().to_string();
    let nowhere = place.0.join("nowhere").display().to_string();
    for with in ["run\n", ""] {
        let told = [
            (&there, format!(" and {there} has ")),
            (&nowhere, ", and the largest local file system, ".to_owned()),
        ];
        for (place_of, told) in told {
            let said = warned(place_of, "entries=10000000, size=8t", with);
            assert!(
                said.contains("warning: not on this machine: no space for"),
                "{said}"
            );
            assert!(
                said.contains("it needs 78125.0 PiB") && said.contains(&told),
                "{said}"
            );
        }
    }
    for place_of in [&there, &nowhere] {
        assert!(!warned(place_of, "entries=20, size=8k", "run\n").contains("no space"));
    }
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
