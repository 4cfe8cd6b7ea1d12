//! A mounted volume as people use it: with branches that hang, vanish and come back.

mod common;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use common::{Home, same_trees, why_not_as_plain_user};

const REMOTE: [&str; 2] = ["--remote", "remote"];

/// A volume whose remote is in another one, and that other one, whose daemon can be stopped.
fn with_server(name: &str) -> Option<(Home, Home)> {
    let mut server = Home::new(&format!("{name}-server"))?;
    let mut home = Home::new(name)?;
    server.mount(&[]);
    fs::create_dir(server.mnt("client")).expect("it is writable");
    let remote = server.mnt("client");
    let remote = remote.to_str().expect("it is text");
    home.mount(&["--remote", remote, "--patience", "0.5"]);
    Some((server, home))
}

/// Begin to read a folder.
fn look(folder: PathBuf) -> io::Result<()> {
    let mut names = fs::read_dir(folder)?;
    names.next().transpose().map(drop)
}

/// A program's fsync would promise what the remote does not have.
#[test]
fn what_fsync_acknowledges_is_on_the_remote() {
    let Some(mut home) = Home::new("fsync") else {
        return;
    };
    home.mount(&REMOTE);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("precious"), "data").expect("it is writable");
    fs::create_dir(home.mnt("folder")).expect("it is writable");
    fs::rename(home.mnt("precious"), home.mnt("folder/renamed")).expect("it is there");
    File::open(home.mnt("folder/renamed"))
        .and_then(|file| file.sync_all())
        .expect("flash and remote are there");
    home.same_trees("mnt", "remote");
    home.umount();
    home.same_trees("flash", "remote");
}

/// Of a laptop that works for days without a remote, files would count as changed after a crash, all of each.
#[test]
fn what_is_closed_is_written_down_without_being_asked_for() {
    let Some(mut home) = Home::new("closed") else {
        return;
    };
    home.mount(&[]);
    fs::write(home.mnt("closed"), "").expect("it is writable");
    let reader = File::open(home.mnt("closed")).expect("it is there");
    fs::write(home.mnt("closed"), [0; 4711]).expect("it is writable");
    let says_its_size = || {
        let journal = fs::read_to_string(home.at("flash/.greenfs/journal"));
        journal.expect("it is text").contains("\"size\":4711")
    };
    while !says_its_size() {
        thread::sleep(Duration::from_millis(20));
    }
    drop(reader);
    home.umount();
}

/// Programs would wait for a server that does not answer, or their work would be lost to it.
#[test]
fn nobody_waits_for_a_remote_that_hangs() {
    let Some((server, mut home)) = with_server("hangs") else {
        return;
    };
    fs::write(home.mnt("old"), "old").expect("it is writable");
    home.wait_for(": connected; holds all");

    server.signal("STOP");
    let history = home.mnt(".greenfs/history");
    let looks = thread::spawn(move || look(history));
    let file = File::create(home.mnt("new")).expect("flash is there");
    fs::remove_file(home.mnt("old")).expect("it is there");
    file.sync_all().expect("flash has it");
    drop(file);
    home.wait_for("away (has not answered");
    fs::write(home.mnt("later"), "later").expect("it is writable");
    let own = fs::read_dir(home.mnt(".greenfs")).expect("it needs no remote");
    assert_eq!(own.count(), 2);

    server.signal("CONT");
    let _ = looks.join().expect("it was answered");
    home.wait_for(": connected; holds all");
    home.umount();
    same_trees(&home.at("flash"), &server.mnt("client"));
}

/// Who looks at what was would wait for ever, once somebody else does.
#[test]
fn nobody_queues_for_a_remote_that_hangs() {
    let Some((server, mut home)) = with_server("queue") else {
        return;
    };
    fs::write(home.mnt("old"), "old").expect("it is writable");
    home.wait_for(": connected; holds all");
    let history = home.mnt(".greenfs/history");
    let old = history.join(home.last(&["mnt"])).join("old");
    let mut open = File::open(&old).expect("it was brought");

    server.signal("STOP");
    let (answers, answered) = channel();
    let mut lookers = Vec::new();
    let refused = loop {
        // Those who look before it is known that the remote hangs do wait.
        let (history, answers) = (history.clone(), answers.clone());
        lookers.push(thread::spawn(move || answers.send(look(history))));
        if let Ok(Err(error)) = answered.recv_timeout(Duration::from_millis(100)) {
            break error;
        }
    };
    assert_eq!(refused.raw_os_error(), Some(libc::EHOSTDOWN));
    // SAFETY: the descriptor is open.
    let hole = unsafe { libc::lseek(open.as_raw_fd(), 0, libc::SEEK_HOLE) };
    let refused = io::Error::last_os_error();
    assert_eq!((hole, refused.raw_os_error()), (-1, Some(libc::EHOSTDOWN)));
    open.read_to_end(&mut Vec::new())
        .expect_err("the remote hangs");
    drop(open);

    server.signal("CONT");
    for looker in lookers {
        let _ = looker.join().expect("it was answered");
    }
    while fs::read(&old).is_err() {
        thread::sleep(Duration::from_millis(20));
    }
    home.umount();
}

/// What was removed and renamed while a server was away would come back.
#[test]
fn a_remote_that_vanished_catches_up() {
    let Some((mut server, mut home)) = with_server("gone") else {
        return;
    };
    fs::write(home.mnt("removed"), "x").expect("it is writable");
    fs::write(home.mnt("renamed"), "y").expect("it is writable");
    home.wait_for(": connected; holds all");

    server.kill();
    fs::remove_file(home.mnt("removed")).expect("it is there");
    fs::rename(home.mnt("renamed"), home.mnt("other")).expect("it is there");
    File::create(home.mnt("new"))
        .and_then(|file| file.sync_all())
        .expect("flash has it");
    home.wait_for(": away (");
    server.mount(&[]);
    home.wait_for(": connected; holds all");
    home.umount();
    let names = |folder| {
        let entries = fs::read_dir(folder).expect("it is there");
        let names = entries.map(|entry| entry.expect("it is there").file_name());
        let mut names: Vec<_> = names.filter(|name| name != ".greenfs").collect();
        names.sort();
        names
    };
    assert_eq!(names(server.mnt("client")), ["new", "other"]);
}

/// The disk would be woken by every change, or never get them.
#[test]
fn the_disk_sleeps_until_there_is_a_reason() {
    let Some(mut home) = Home::new("disk") else {
        return;
    };
    fs::write(home.at("flash/first"), "x").expect("it is writable");
    home.mount(&["--disk", "disk"]);
    home.wait_for("asleep; holds all");
    home.same_trees("flash", "disk");
    fs::write(home.mnt("second"), "y").expect("it is writable");
    File::open(home.mnt("second"))
        .and_then(|file| file.sync_all())
        .expect("flash has it");
    assert!(!home.at("disk/second").exists(), "it was woken");
    let said = home.status();
    assert!(
        said.contains("because it held nothing yet, 1 of 4"),
        "{said}"
    );
    home.umount();
    home.same_trees("flash", "disk");

    for used in 2..5 {
        home.mount(&["--disk", "disk"]);
        home.wait_for(&format!("{used} of 4"));
        fs::write(home.mnt("again"), used.to_string()).expect("it is writable");
        home.umount();
    }
    let on_disk = fs::read_to_string(home.at("disk/again")).expect("it was brought up");
    assert_eq!(on_disk, "3", "the fifth spin-up of a day");
}

/// After a crash nobody could mount again, or changes would be lost.
#[test]
fn a_dead_mount_is_taken_away() {
    let Some(mut home) = Home::new("dead") else {
        return;
    };
    home.mount(&REMOTE);
    fs::write(home.mnt("file"), "x").expect("it is writable");
    home.kill();
    assert!(fs::metadata(home.mnt("file")).is_err());
    home.mount(&REMOTE);
    assert_eq!(
        fs::read_to_string(home.mnt("file")).expect("it is there"),
        "x"
    );
    home.umount();
    home.same_trees("flash", "remote");
}

/// A mount would be made where it hides a branch, or a rehearsal would change something.
#[test]
fn wrong_places_are_refused_and_a_rehearsal_changes_nothing() {
    let Some(home) = Home::new("places") else {
        return;
    };
    fs::create_dir(home.at("flash/in")).expect("it is writable");
    fs::create_dir_all(home.at("full/of")).expect("it is writable");
    let refusals = [
        ("flash/in", "mount on a folder of its own"),
        ("full", "this folder is not empty"),
        ("none", "mkdir -p"),
        (".", "mount on a folder of its own"),
    ];
    for (at, said) in refusals {
        let mut greenfs = home.greenfs("mount");
        let output = greenfs
            .args(["--flash", "flash", at])
            .output()
            .expect("it was built");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(said),
            "{errors}"
        );
    }
    let mut greenfs = home.greenfs("mount");
    let rehearsal = ["--dry-run", "--flash", "flash", "--remote", "remote", "mnt"];
    let output = greenfs.args(rehearsal).output().expect("it was built");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("would mount on") && said.contains("no branch yet"),
        "{said}"
    );
    assert!(!home.at("flash/.greenfs").exists() && !home.at("remote/.greenfs").exists());
}

/// Students without root could not use it.
#[test]
fn a_plain_user_mounts_and_unmounts() {
    let Some(home) = Home::new("plain") else {
        return;
    };
    if let Some(why) = why_not_as_plain_user() {
        return eprintln!("skipped: {why}");
    }
    home.give();
    home.as_plain_user(
        "./greenfs mount --flash flash --remote remote mnt
        echo hers >mnt/file && chmod 400 mnt/file && mkdir mnt/folder
        sync mnt/file && ./greenfs umount mnt && cat remote/file",
    );
    home.same_trees("flash", "remote");
}

/// A compiler looks for thousands of files that are not there: each look would cost a request. But what
/// comes to be there must be seen.
#[test]
fn what_is_not_there_is_asked_for_once() {
    let Some(mut home) = Home::new("nothing") else {
        return;
    };
    home.mount(&[]);
    let none = home.mnt("none");
    let look = || fs::symlink_metadata(&none).map_err(|error| error.kind());
    let Some(before) = home.reads() else {
        return;
    };
    for _ in 0..2000 {
        assert_eq!(look().map(|_| ()), Err(io::ErrorKind::NotFound));
    }
    let asked = home.reads().expect("it was counted before") - before;
    assert!(asked < 500, "{asked} requests");

    let other = home.mnt("other");
    fs::write(&other, "x").expect("it is writable");
    let ways: [&dyn Fn() -> io::Result<()>; 6] = [
        &|| fs::write(&none, "x"),
        &|| fs::create_dir(&none),
        &|| std::os::unix::fs::symlink("target", &none),
        &|| fs::hard_link(&other, &none),
        &|| File::create_new(&none).map(drop),
        &|| fs::rename(&other, &none),
    ];
    for make in ways {
        make().expect("nothing is there");
        let found = look().expect("it was made");
        match found.is_dir() {
            true => fs::remove_dir(&none).expect("it is there"),
            false => fs::remove_file(&none).expect("it is there"),
        }
        assert_eq!(look().map(|_| ()), Err(io::ErrorKind::NotFound));
    }
    home.umount();
}
