//! Versions as people look at them and get them back.

mod common;

use std::fs::{self, File};
use std::process::Output;

use common::Home;

/// A mounted volume whose file `paper` had two versions, the first until the time that is returned.
fn with_two_versions(name: &str) -> Option<(Home, String)> {
    let mut home = Home::new(name)?;
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    write(&home, "first");
    let span = text(
        &home
            .greenfs("history")
            .arg("mnt")
            .output()
            .expect("it was built"),
    );
    let last = span.trim().rsplit(' ').next().expect("it names a time");
    write(&home, "the second");
    Some((home, last.to_owned()))
}

fn write(home: &Home, data: &str) {
    fs::write(home.mnt("paper"), data).expect("it is writable");
    File::open(home.mnt("paper"))
        .and_then(|file| file.sync_all())
        .expect("flash and remote are there");
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("it prints text")
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
