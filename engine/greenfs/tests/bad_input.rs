//! Folders that are not what they should be, and names that are unusual.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::serving::Server;
use common::{Home, does, text};

/// Run a command with flash and these branches.
fn run(home: &Home, command: &str, branches: &[&str]) -> Output {
    let mut greenfs = home.greenfs(command);
    greenfs.args(["--flash", "flash"]).args(branches);
    greenfs.output().expect("it was built")
}

/// What it says, when it refuses.
fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("next:"), "{said}");
    said
}

/// A volume whose remote holds a file.
fn synchronised(name: &str) -> Home {
    let home = Home::without_mount(name);
    fs::write(home.at("flash/file"), "precious").expect("it is writable");
    home.sync();
    home
}

/// A tree would be brought into itself, or two branches be one that is lost at once.
#[test]
fn folders_that_are_one_or_in_each_other_are_refused() {
    let home = Home::without_mount("bad-same");
    fs::write(home.at("flash/file"), "precious").expect("it is writable");
    symlink(home.at("flash"), home.at("link")).expect("it is writable");
    fs::create_dir(home.at("flash/in")).expect("it is writable");
    let sets: [&[&str]; 5] = [
        &["--remote", "flash"],
        &["--remote", "link"],
        &["--disk", "flash/in"],
        &["--disk", "."],
        &["--remote", "remote", "--disk", "remote"],
    ];
    for branches in sets {
        for command in ["sync", "status", "fsck"] {
            let said = refusal(&run(&home, command, branches));
            assert!(said.contains("name folders apart"), "{branches:?}: {said}");
        }
        let mut mount = home.greenfs("mount");
        mount.args(["--flash", "flash"]).args(branches).arg("mnt");
        let said = refusal(&mount.output().expect("it was built"));
        assert!(said.contains("name folders apart"), "{branches:?}: {said}");
    }
    for folder in ["flash", "remote", "."] {
        assert!(!home.at(folder).join(".greenfs").exists(), "{folder}");
    }
}

/// Everything would go to a folder that is not the branch, or only a part be named as missing.
#[test]
fn a_branch_that_is_missing_is_named_and_the_other_brought() {
    let home = synchronised("bad-missing");
    let said = refusal(&run(&home, "sync", &["--disk", "none"]));
    assert!(said.contains("none") && said.contains("mkdir -p"), "{said}");
    assert!(!home.at("none").exists());
}

/// Trees of two people would be mixed.
#[test]
fn a_branch_of_another_client_is_refused() {
    let home = synchronised("bad-other");
    let other = synchronised("bad-another");
    fs::write(other.at("flash/file"), "other").expect("it is writable");
    let theirs = home.at("remote");
    let theirs = theirs.to_str().expect("it is text");
    for command in ["sync", "fsck"] {
        let said = refusal(&run(&other, command, &["--remote", theirs]));
        assert!(said.contains("of another volume"), "{said}");
    }
    let file = fs::read_to_string(home.at("remote/file"));
    assert_eq!(file.expect("it is there"), "precious");
}

/// It would count as protected, or stay away for ever.
#[test]
fn a_branch_that_cannot_be_written_is_named_and_gets_all_later() {
    let home = synchronised("bad-read-only");
    let remote = home.at("remote");
    let kept = home.at("kept");
    fs::rename(&remote, &kept).expect("it is writable");
    fs::create_dir(&remote).expect("it is writable");
    let is_there = does("mount", &["-t", "tmpfs", "none"], &remote)
        && does("cp", &["-a", &format!("{}/.", kept.display())], &remote)
        && does("mount", &["-o", "remount,ro"], &remote);
    if !is_there {
        return eprintln!("skipped: needs root to mount a file system read-only");
    }
    fs::write(home.at("flash/file"), "more precious").expect("it is writable");
    let said = refusal(&run(&home, "sync", &["--remote", "remote"]));
    assert!(said.contains("Read-only file system"), "{said}");
    assert!(said.contains("see who may read and write there"), "{said}");
    assert!(does("mount", &["-o", "remount,rw"], &remote));
    home.sync();
    home.same_trees("flash", "remote");
}

/// What was done since would be taken for the work of others, or never be brought again.
#[test]
fn a_remote_that_serves_old_data_gets_all_again() {
    let home = synchronised("bad-old");
    fs::write(home.at("flash/gone"), "gone").expect("it is writable");
    home.sync();
    assert!(does(
        "cp",
        &["-a", home.at("remote").to_str().expect("it is text")],
        &home.at("old")
    ));
    fs::write(home.at("flash/file"), "more precious").expect("it is writable");
    fs::write(home.at("flash/new"), "new").expect("it is writable");
    fs::remove_file(home.at("flash/gone")).expect("it is there");
    home.sync();
    fs::rename(home.at("remote"), home.at("newer")).expect("it is there");
    fs::rename(home.at("old"), home.at("remote")).expect("it is there");
    let output = run(&home, "sync", &["--remote", "remote"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for path in ["file", "gone"] {
        let kept = format!("kept what others made of {path}");
        assert!(said.contains(&kept), "{said}");
    }
    home.same_trees("flash", "remote");
}

/// Names as they may be: no text, with what separates lines, or with what names are encoded by.
fn unusual() -> Vec<PathBuf> {
    let names: [&[u8]; 5] = [b"\xff\xfe", b"line\nline", b"%ff", b" blank ", b"-rf"];
    names
        .map(|name| PathBuf::from(OsStr::from_bytes(name)))
        .into()
}

/// Files with names of other encodings would be lost, or become others.
#[test]
fn names_are_any_bytes() {
    let Some(mut home) = Home::new("bad-names") else {
        return;
    };
    let mut server = Server::new(&home, &[]);
    home.mount(&["--remote", &server.url(), "--disk", "disk"]);
    home.wait_for(": connected; holds all");
    for name in unusual() {
        let folder = home.at("mnt").join(&name);
        fs::create_dir(&folder).expect("it is a name");
        fs::write(folder.join(&name), "first").expect("it is a name");
        symlink(&name, folder.join("link")).expect("it is a name");
    }
    home.umount();
    home.same_trees("flash", "remote");
    home.same_trees("flash", "disk");
    for name in unusual() {
        fs::write(home.at("flash").join(&name).join(&name), "second").expect("it is there");
    }
    text(&run(&home, "sync", &["--remote", &server.url()]));
    server.kill();
    home.same_trees("flash", "remote");
    for name in unusual() {
        let path = Path::new(&name).join(&name);
        let mut history = home.greenfs("history");
        history.args(["--remote", "remote", "--"]).arg(&path);
        let said = text(&history.output().expect("it was built"));
        assert!(said.contains("file, 5 B"), "{path:?}: {said}");
    }
}

/// Who looks whether all is well would have to scroll.
#[test]
fn a_status_is_one_screen() {
    let Some(mut home) = Home::new("bad-status") else {
        return;
    };
    home.mount(&["--remote", "remote", "--disk", "disk", "--flash-mib", "1"]);
    home.wait_for(": connected; holds all");
    Command::new("mkfifo")
        .arg(home.mnt("pipe"))
        .status()
        .expect("mkfifo is there");
    fs::write(home.at("remote/other"), "theirs").expect("it is writable");
    for number in 0..40 {
        fs::write(home.mnt(&number.to_string()), "x").expect("it is writable");
    }
    let said = home.status();
    assert!(said.lines().count() <= 24, "{said}");
    home.umount();
}

/// What a program wrote on the last bytes of flash would be lost with the journal.
#[test]
fn flash_that_is_full_is_said_and_outlived() {
    let Some(mut home) = Home::new("bad-full") else {
        return;
    };
    let flash = home.at("flash");
    if !does("mount", &["-t", "tmpfs", "-o", "size=4m", "none"], &flash) {
        return eprintln!("skipped: needs root to mount a small file system");
    }
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("filler"), vec![1; 1 << 20]).expect("there is room");
    let mut written = Vec::new();
    for number in 0.. {
        let path = format!("file-{number}");
        match fs::write(home.mnt(&path), vec![2; 100_000]) {
            Ok(()) => written.push(path),
            Err(_) => break,
        }
    }
    let made_room = fs::remove_file(home.mnt("filler")).is_ok();
    home.leave();
    let is_in_order = home.ends_well();
    if !made_room {
        fs::remove_file(home.at("flash/filler")).expect("it is there");
    }
    assert!(is_in_order || !made_room, "there was room for the journal");
    home.mount(&["--remote", "remote"]);
    for path in &written {
        let data = fs::read(home.mnt(path)).expect("it was written");
        assert_eq!(data, vec![2; 100_000], "{path}");
    }
    home.umount();
    home.same_trees("flash", "remote");
}
