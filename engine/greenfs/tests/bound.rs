//! A mounted volume whose flash may have only so much: what is given up is read from elsewhere.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::{Home, text, why_not_as_plain_user};

const MIB: usize = 1 << 20;
const REMOTE: [&str; 4] = ["--flash-mib", "0", "--remote", "remote"];
const ALL: [&str; 6] = ["--flash-mib", "0", "--remote", "remote", "--disk", "disk"];

/// Data that no part of another file looks like.
fn data(seed: usize, length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at / 512 * 31 + at + seed * 7) as u8)
        .collect()
}

/// A number of `greenfs stats`.
fn stat(home: &Home, name: &str) -> u64 {
    let mut stats = home.greenfs("stats");
    let said = text(
        &stats
            .args(["--flash", "flash"])
            .output()
            .expect("it was built"),
    );
    let stats: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    stats[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {said}"))
}

fn wait_for_parts(home: &Home, count: u64) {
    while stat(home, "parts") != count {
        thread::sleep(Duration::from_millis(20));
    }
}

/// A volume of which `file` is on the branches, and in part on flash.
fn with_part(name: &str, length: usize, options: &[&str]) -> Option<Home> {
    let mut home = Home::new(name)?;
    fs::write(home.at("flash/file"), data(1, length)).expect("it is writable");
    fs::set_permissions(home.at("flash/file"), fs::Permissions::from_mode(0o640))
        .expect("it is ours");
    thread::sleep(Duration::from_millis(60));
    home.mount(options);
    wait_for_parts(&home, 1);
    Some(home)
}

/// What programs see of a file that is away would be another file, or somebody who copies flash would
/// take zeros for data.
#[test]
fn what_is_given_up_looks_whole_and_cannot_be_copied_from_flash() {
    let Some(mut home) = with_part("looks", 3 * MIB, &ALL) else {
        return;
    };
    let look = |file: PathBuf| fs::metadata(file).expect("it is there");
    // It is a part from the moment that this is written down; its room is freed after that.
    while look(home.at("flash/file")).blocks() != 0 {
        thread::sleep(Duration::from_millis(20));
    }
    let (seen, there) = (look(home.mnt("file")), look(home.at("flash/file")));
    assert_eq!((seen.len(), seen.mode() & 0o7777), (3 * MIB as u64, 0o640));
    let remote = fs::metadata(home.at("remote/file")).expect("it is there");
    let modified = |of: &fs::Metadata| (of.mtime(), of.mtime_nsec());
    assert_eq!(modified(&seen), modified(&remote));
    assert_eq!(there.mode() & 0o7777, 0o1000);
    let copied = Command::new("cp")
        .arg("-a")
        .args([home.at("flash/file"), home.at("copy")])
        .output();
    match copied.expect("cp is there").status.success() {
        false => assert!(fs::read(home.at("copy")).is_err(), "half a copy"),
        true => {
            let copy = fs::metadata(home.at("copy")).expect("root copied it");
            assert_eq!(
                copy.mode() & 0o7777,
                0o1000,
                "a copy of zeros that does not say so"
            );
        }
    }
    assert_eq!(
        fs::read(home.mnt("file")).expect("the remote has it"),
        data(1, 3 * MIB)
    );
    assert_eq!(stat(&home, "from_remote_b"), 3 * MIB as u64);
    assert_eq!(stat(&home, "from_disk_b"), 0);
    home.umount();
}

/// Programs would change a file of zeros, or the remote would get one.
#[test]
fn what_is_changed_is_whole_first() {
    let Some(mut home) = with_part("changed", 2 * MIB + 5, &REMOTE) else {
        return;
    };
    let mut should = data(1, 2 * MIB + 5);
    let file = OpenOptions::new()
        .write(true)
        .open(home.mnt("file"))
        .expect("it is there");
    file.write_all_at(b"here", 70_000)
        .expect("the remote has the rest");
    should[70_000..70_004].copy_from_slice(b"here");
    file.sync_all().expect("all are there");
    assert_eq!(
        fs::read(home.at("remote/file")).expect("it is there"),
        should
    );
    drop(file);

    wait_for_parts(&home, 1);
    fs::set_permissions(home.mnt("file"), fs::Permissions::from_mode(0o604)).expect("it is ours");
    fs::rename(home.mnt("file"), home.mnt("renamed")).expect("it is there");
    let file = OpenOptions::new()
        .write(true)
        .open(home.mnt("renamed"))
        .expect("it is there");
    file.set_len(MIB as u64 + 1).expect("the remote has it");
    should.truncate(MIB + 1);
    drop(file);
    assert_eq!(fs::read(home.mnt("renamed")).expect("it is there"), should);
    wait_for_parts(&home, 1);
    let mut file = File::create(home.mnt("renamed")).expect("it is emptied");
    file.seek(SeekFrom::Start(9)).expect("it is open");
    file.write_all(b"new").expect("it is whole");
    drop(file);
    home.umount();
    let found = fs::read(home.at("remote/renamed")).expect("it was brought");
    assert_eq!(found, b"\0\0\0\0\0\0\0\0\0new");
    let mode = fs::metadata(home.at("remote/renamed"))
        .expect("it is there")
        .mode();
    assert_eq!(mode & 0o777, 0o604);
    home.same_trees("flash", "remote");
}

/// A file would be unreadable without the server although the disk has it, or a program would wait for
/// ever, or read zeros, when nobody has it.
#[test]
fn the_disk_gives_what_the_remote_does_not() {
    let Some(mut home) = with_part("disk-gives", 2 * MIB, &ALL) else {
        return;
    };
    fs::write(home.mnt("second"), data(2, MIB)).expect("it is writable");
    home.kill();
    fs::rename(home.at("remote"), home.at("gone")).expect("it is there");
    fs::create_dir(home.at("remote")).expect("it is writable");
    home.mount(&ALL);
    home.wait_for("away (");
    assert_eq!(
        fs::read(home.mnt("file")).expect("the disk has it"),
        data(1, 2 * MIB)
    );
    assert_eq!(stat(&home, "from_disk_b"), 2 * MIB as u64);
    let said = home.status();
    assert!(
        said.contains("read 0 B from the remote, 2.1 MB from the disk"),
        "{said}"
    );
    home.umount();

    // The second is whole here: only flash has it.
    fs::remove_dir(home.at("remote")).expect("nothing was made there");
    fs::rename(home.at("gone"), home.at("remote")).expect("it is there");
    home.mount(&REMOTE[2..]);
    home.wait_for(": connected; holds all");
    assert_eq!(
        fs::read(home.at("remote/second")).expect("it was brought"),
        data(2, MIB)
    );
    home.umount();
}

/// See that what nobody gives is an error.
#[test]
fn what_nobody_gives_is_an_error_and_never_zeros() {
    let Some(mut home) = with_part("nobody", 2 * MIB, &ALL) else {
        return;
    };
    home.umount();
    home.mount(&[]);
    let refused = fs::read(home.mnt("file")).expect_err("only the remote and the disk have it");
    assert_eq!(refused.raw_os_error(), Some(libc::EHOSTDOWN));
    let file = OpenOptions::new()
        .append(true)
        .open(home.mnt("file"))
        .expect("it is there");
    (&file)
        .write_all(b"more")
        .expect_err("the rest would be lost");
    drop(file);
    home.umount();
    let mut sync = home.greenfs("sync");
    fs::create_dir(home.at("other")).expect("it is writable");
    let output = sync
        .args(["--flash", "flash", "--disk", "other", "--anew"])
        .output();
    let said = String::from_utf8_lossy(&output.expect("it was built").stdout).into_owned();
    assert!(
        said.contains("only a part of this file is on flash"),
        "{said}"
    );
    assert!(!home.at("other/file").exists(), "zeros");

    let mut sync = home.greenfs("sync");
    let whole = ["--flash", "flash", "--remote", "remote", "--whole"];
    text(&sync.args(whole).output().expect("it was built"));
    assert_eq!(
        fs::read(home.at("flash/file")).expect("it is whole"),
        data(1, 2 * MIB)
    );
    let found = fs::metadata(home.at("flash/file")).expect("it is there");
    assert_eq!(found.mode() & 0o7777, 0o640);
    home.same_trees("flash", "remote");

    // It is as it was: no branch gets it again.
    let mut again = home.greenfs("sync");
    let said = text(&again.args(whole).output().expect("it was built"));
    assert!(said.contains("holds all; 0 B copied"), "{said}");
}

/// A file larger than flash could not be read, or all of it would be brought for a few bytes.
#[test]
fn of_a_large_file_a_part_is_here() {
    let Some(mut home) = Home::new("large") else {
        return;
    };
    let should = data(3, 24 * MIB);
    fs::write(home.at("flash/large"), &should).expect("it is writable");
    thread::sleep(Duration::from_millis(60));
    home.mount(&["--remote", "remote", "--flash-mib", "18"]);
    wait_for_parts(&home, 1);
    let present_b = stat(&home, "flash_b");
    assert!(
        (16 << 20..=18 << 20).contains(&present_b),
        "{present_b} are here"
    );
    let file = File::open(home.mnt("large")).expect("it is there");
    let mut piece = vec![0; 100];
    file.read_exact_at(&mut piece, 23 * MIB as u64 + 7)
        .expect("the remote has it");
    assert_eq!(piece, should[23 * MIB + 7..][..100]);
    let brought_b = stat(&home, "from_remote_b");
    assert!(
        brought_b > 0 && brought_b <= 2 << 20,
        "{brought_b} were brought"
    );
    drop(file);
    home.kill();
    home.mount(&["--remote", "remote", "--flash-mib", "18"]);
    home.wait_for("connected");
    assert_eq!(
        fs::read(home.mnt("large")).expect("the remote has the rest"),
        should
    );
    while stat(&home, "flash_b") > 18 << 20 {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        fs::read(home.mnt("large")).expect("the remote has the rest"),
        should
    );
    home.umount();
}

/// What only flash has would be given up.
#[test]
fn what_a_branch_lacks_stays() {
    let Some(mut home) = Home::new("stays") else {
        return;
    };
    home.mount(&[&ALL[..], &["--spin-ups", "0"]].concat());
    home.wait_for("connected; holds all");
    fs::write(home.mnt("file"), data(4, MIB)).expect("it is writable");
    File::open(home.mnt("file"))
        .and_then(|file| file.sync_all())
        .expect("the remote is there");
    fs::write(home.mnt("later"), data(5, MIB)).expect("it is writable");
    home.wait_for("connected; holds all");
    thread::sleep(Duration::from_millis(600));
    assert_eq!(stat(&home, "parts"), 0, "the disk lacks it");
    home.umount();
    home.mount(&REMOTE);
    wait_for_parts(&home, 2);
    home.umount();
}

/// A bound without a remote would have nowhere to give anything up to.
#[test]
fn a_bound_needs_a_remote() {
    let home = Home::without_mount("needs-remote");
    let mut greenfs = home.greenfs("mount");
    let refused = greenfs.args([
        "--flash",
        "flash",
        "--disk",
        "disk",
        "--flash-mib",
        "9",
        "mnt",
    ]);
    let refused = refused.output().expect("it was built");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && said.contains("needs a --remote"),
        "{said}"
    );
    assert!(!Path::new(&home.at("flash/.greenfs")).exists());
}

/// A plain user could not open what is marked as not whole.
#[test]
fn a_plain_user_reads_what_was_given_up() {
    let Some(home) = Home::new("plain-part") else {
        return;
    };
    if let Some(why) = why_not_as_plain_user() {
        return eprintln!("skipped: {why}");
    }
    fs::write(home.at("flash/file"), data(6, MIB)).expect("it is writable");
    home.give();
    home.as_plain_user(
        "./greenfs mount --flash flash --remote remote --flash-mib 0 mnt
        until ./greenfs stats --flash flash | grep -q '\"parts\":1'; do sleep 0.05; done
        ! cp flash/file copy 2>said && grep -q 'Permission denied' said
        cmp mnt/file remote/file && echo more >>mnt/file && cmp mnt/file remote/file || sync mnt/file
        ./greenfs umount mnt && cmp flash/file remote/file || ./greenfs sync --flash flash --remote remote --whole
        cmp flash/file remote/file",
    );
}
