//! Versions as people look at them and get them back.

mod common;

use std::fs::{self, File, Permissions};
use std::io::{Error, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{Home, text};

/// A mounted volume whose file `paper` had two versions, the first until the time that is returned.
fn with_two_versions(name: &str) -> Option<(Home, String)> {
    let mut home = Home::new(name)?;
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    write(&home, "first");
    let first = home.last(&["mnt"]);
    write(&home, "the second");
    Some((home, first))
}

fn write(home: &Home, data: &str) {
    fs::write(home.mnt("paper"), data).expect("it is writable");
    File::open(home.mnt("paper"))
        .and_then(|file| file.sync_all())
        .expect("flash and remote are there");
}

/// What was overwritten or removed would be gone, or could be changed.
#[test]
fn versions_are_browsed_and_cannot_be_changed() {
    let Some((home, first)) = with_two_versions("browse") else {
        return;
    };
    fs::remove_file(home.mnt("paper")).expect("it is there");
    File::open(home.mnt(""))
        .and_then(|root| root.sync_all())
        .expect("flash and remote are there");
    let then = home.mnt(".greenfs/history").join(&first);
    assert_eq!(fs::read(then.join("paper")).expect("it was kept"), b"first");
    let names: Vec<_> = fs::read_dir(&then)
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    assert_eq!(names, ["paper"]);
    assert!(!home.mnt("paper").exists());

    let refused = |done: std::io::Result<()>| {
        let error = done.expect_err("the past cannot be changed");
        let code = error.raw_os_error();
        assert!(matches!(code, Some(libc::EROFS | libc::EACCES)), "{error}");
    };
    refused(fs::write(then.join("paper"), "other"));
    refused(fs::write(then.join("new"), "other"));
    refused(fs::remove_file(then.join("paper")));
    refused(fs::create_dir(then.join("folder")));
    refused(fs::rename(then.join("paper"), home.mnt("paper")));
    assert_eq!(fs::read(then.join("paper")).expect("it was kept"), b"first");
    let never = home.mnt(".greenfs/history/1999-12-31");
    assert!(!never.exists(), "nothing is known of that time");
}

/// A person would have to know how versions are kept to get one back.
#[test]
fn one_command_brings_a_version_back() {
    let Some((home, first)) = with_two_versions("restore") else {
        return;
    };
    let versions = text(
        &home
            .greenfs("history")
            .arg("mnt/paper")
            .output()
            .expect("it was built"),
    );
    assert!(versions.contains("file, 5 B"), "{versions}");
    assert!(versions.trim_end().ends_with("file, 10 B"), "{versions}");

    let restore = |more: &[&str]| {
        let mut greenfs = home.greenfs("restore");
        greenfs.args(["--at", &first]).args(more);
        greenfs.output().expect("it was built")
    };
    let said = text(&restore(&["mnt/paper", "--to", "before"]));
    assert!(said.contains(": 1 file, 5 B"), "{said}");
    assert_eq!(fs::read(home.at("before")).expect("it is there"), b"first");

    let refused = restore(&["mnt/paper"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && why.contains("something is there already"),
        "{why}"
    );
    assert_eq!(
        fs::read(home.mnt("paper")).expect("it is there"),
        b"the second"
    );
    fs::remove_file(home.mnt("paper")).expect("it is there");
    text(&restore(&["mnt/paper"]));
    assert_eq!(fs::read(home.mnt("paper")).expect("it is there"), b"first");
    let brought = fs::read(home.at("remote/paper"));
    assert_eq!(brought.expect("it was said to be restored"), b"first");
    let kept = fs::read_dir(home.at("remote/.greenfs/history")).expect("it is there");
    let kept: Vec<_> = kept
        .map(|name| name.expect("it can be read").file_name())
        .collect();
    assert_eq!(kept, ["paper"]);
}

/// Others would read what stood in a folder that was closed to them, once that is open.
#[test]
fn whoever_mounted_looks_at_what_was_and_nobody_else() {
    let Some((home, first)) = with_two_versions("privacy") else {
        return;
    };
    let own = fs::metadata(home.mnt(".greenfs")).expect("it is there");
    assert_eq!(own.permissions().mode() & 0o7777, 0o500);
    home.as_plain_user(&format!(
        "cat mnt/paper
        for closed in mnt/.greenfs mnt/.greenfs/remote mnt/.greenfs/history/{first}; do
            if ls $closed/ 2>&1; then exit 1; fi
        done
        if cat mnt/.greenfs/history/{first}/paper; then exit 1; fi",
    ));
}

/// When flash and mount are lost, the versions on the remote would be lost with them.
#[test]
fn the_remote_alone_is_enough() {
    let Some((mut home, first)) = with_two_versions("remote-alone") else {
        return;
    };
    home.umount();
    fs::remove_dir_all(home.at("flash")).expect("it is there");
    let from_remote = ["--remote", "remote"];
    let restored = home
        .greenfs("restore")
        .args(from_remote)
        .args(["--at", &first, "paper", "--to", "before"])
        .output();
    text(&restored.expect("it was built"));
    assert_eq!(fs::read(home.at("before")).expect("it is there"), b"first");

    for (wrong, said) in [
        (["--at", "1999-12-31", "paper"], "versions are known since"),
        (["--at", "yesterday", "paper"], "yesterday is no time"),
        (["--at", &first, "papers"], "nothing was there"),
        (["--at", &first, "../paper"], "no path in the volume"),
    ] {
        let output = home
            .greenfs("restore")
            .args(from_remote)
            .args(wrong)
            .args(["--to", "other"])
            .output()
            .expect("it was built");
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(why.contains(said) && why.contains("next:"), "{why}");
    }
    assert!(!home.at("other").exists());
}

/// What was is a file of the remote: it would be run with the rights of its owner of then, or programs
/// that open it for looking would be told of errors.
#[test]
fn programs_look_at_what_was_as_at_any_file() {
    let Some((home, first)) = with_two_versions("look") else {
        return;
    };
    fs::set_permissions(home.mnt("paper"), Permissions::from_mode(0o4755)).expect("it is there");
    write(&home, "the third");
    fs::set_permissions(home.mnt("paper"), Permissions::from_mode(0o4755)).expect("it is there");
    File::open(home.mnt("paper"))
        .and_then(|file| file.sync_all())
        .expect("flash and remote are there");
    let now = fs::metadata(home.mnt("paper")).expect("it is there");
    assert_eq!(now.permissions().mode() & 0o7777, 0o4755);
    let last = home.last(&["mnt"]);
    let history = home.mnt(".greenfs/history");
    let then = fs::metadata(history.join(last).join("paper")).expect("it is there");
    assert_eq!(then.permissions().mode() & 0o7777, 0o555);

    let mut paper = File::open(history.join(&first).join("paper")).expect("it was kept");
    paper.sync_all().expect("it does not change");
    File::open(history.join(&first))
        .and_then(|folder| folder.sync_all())
        .expect("it does not change");
    // SAFETY: the descriptor is open.
    let hole = unsafe { libc::lseek(paper.as_raw_fd(), 0, libc::SEEK_HOLE) };
    assert_eq!(hole, 5, "{}", Error::last_os_error());
    let mut data = String::new();
    paper.seek(SeekFrom::Start(1)).expect("it is open");
    paper.read_to_string(&mut data).expect("it is open");
    assert_eq!(data, "irst");
    for (own, code) in [(".greenfs", libc::EPERM), (".greenfs/history", libc::EROFS)] {
        let refused = fs::remove_dir(home.mnt(own)).expect_err("it cannot be removed");
        assert_eq!(refused.raw_os_error(), Some(code), "{own}");
    }
}

/// A folder where nothing is mounted would be shown as a volume that held nothing.
#[test]
fn a_remote_that_is_not_there_has_no_history() {
    let Some((home, first)) = with_two_versions("not-there") else {
        return;
    };
    fs::rename(home.at("remote"), home.at("elsewhere")).expect("it is there");
    fs::create_dir(home.at("remote")).expect("it is writable");
    let is_away = || {
        for place in [first.as_str(), "."] {
            let listed = fs::read_dir(home.mnt(".greenfs/history").join(place));
            let refused = listed.and_then(|mut entries| entries.next().transpose());
            let refused = refused.expect_err("it is not there");
            assert_eq!(refused.raw_os_error(), Some(libc::EHOSTDOWN), "{place}");
        }
    };
    is_away();
    fs::remove_dir(home.at("remote")).expect("it is empty");
    is_away();
    let names = fs::read_dir(home.mnt(".greenfs")).expect("it needs no remote");
    assert_eq!(names.count(), 2);
}

/// Who looks at what was would wait for ever for somebody to write to it.
#[test]
fn a_pipe_in_the_place_of_a_version_is_none() {
    let Some((home, first)) = with_two_versions("pipe") else {
        return;
    };
    let place = home.at("remote/.greenfs/history/paper");
    let entries = fs::read_dir(&place).expect("it is there");
    let mut versions = entries.map(|entry| entry.expect("it can be read").path());
    let version = versions.find(|path| fs::read(path).is_ok_and(|data| data == b"first"));
    let version = version.expect("it was kept");
    fs::remove_file(&version).expect("it is there");
    let made = Command::new("mkfifo").arg(&version).status();
    assert!(made.expect("mkfifo is there").success());
    let then = home.mnt(".greenfs/history").join(&first);
    assert!(!then.join("paper").exists());
    assert_eq!(fs::read_dir(&then).expect("it is a folder").count(), 0);
}

/// Nobody could see what may be removed on a remote where there is no room any more.
#[test]
fn a_full_remote_shows_its_history() {
    let Some(mut home) = Home::new("full") else {
        return;
    };
    let remote = home.at("remote");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "greenfs-test"])
        .arg(&remote)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: needs root to mount a small file system");
    }
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    write(&home, "first");
    write(&home, "the second");
    fs::write(home.mnt("large"), vec![1; 2 << 20]).expect("flash has room");
    home.wait_for("earlier versions in .greenfs/history");
    let listed = fs::read_dir(home.mnt(".greenfs/history")).expect("it is there");
    assert!(listed.count() > 0);
    let versions = home.greenfs("history").arg("mnt/paper").output();
    let versions = text(&versions.expect("it was built"));
    assert!(versions.contains("file, 5 B"), "{versions}");
}
