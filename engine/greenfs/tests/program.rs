//! The program as people use it.

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A flash folder and its branches, gone at the end.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let home = std::env::temp_dir().join(format!("greenfs-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        for folder in ["flash", "remote", "disk"] {
            fs::create_dir_all(home.join(folder)).expect("there is a folder for temporary files");
        }
        Self(home)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).expect("it is writable");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Run `greenfs COMMAND` with flash and these branches.
    fn run(&self, command: &str, branches: &[&str]) -> Output {
        let mut greenfs = Command::new(env!("CARGO_BIN_EXE_greenfs"));
        greenfs.arg(command).arg("--flash").arg(self.at("flash"));
        for branch in branches {
            greenfs.arg(format!("--{branch}")).arg(self.at(branch));
        }
        greenfs.output().expect("it was built")
    }

    /// What it prints, when all went well.
    fn done(&self, command: &str, branches: &[&str]) -> String {
        let output = self.run(command, branches);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("it prints text")
    }

    fn same_trees(&self, one: &str, other: &str) {
        common::same_trees(&self.at(one), &self.at(other));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What was removed and renamed while a branch was away would come back, or be copied again.
#[test]
fn a_branch_that_was_away_catches_up() {
    let home = Home::new("away");
    fs::create_dir(home.at("flash/papers")).expect("it is writable");
    home.write("flash/papers/long", &"x".repeat(100_000));
    home.write("flash/draft", "one");
    let first = home.done("sync", &["remote", "disk"]);
    assert!(first.contains("100.0 kB copied"), "{first}");
    home.same_trees("flash", "remote");
    home.same_trees("flash", "disk");

    fs::rename(home.at("flash/papers"), home.at("flash/published")).expect("it is there");
    // The other way round, the new file may have the number of the old one, and be it.
    home.write("flash/next", "two");
    fs::remove_file(home.at("flash/draft")).expect("it is there");
    let said = home.done("status", &["remote"]);
    assert!(
        said.contains("lacks changes of 3 files and folders, 3 B to copy"),
        "{said}"
    );
    assert!(
        said.contains("disk    not named; lacks changes of 3"),
        "{said}"
    );
    home.done("sync", &["remote"]);
    home.same_trees("flash", "remote");
    assert!(home.at("disk/draft").exists(), "the disk is away");

    let long = home
        .at("disk/papers/long")
        .metadata()
        .expect("it is there")
        .ino();
    let caught_up = home.done("sync", &["disk"]);
    assert!(caught_up.contains("holds all; 3 B copied"), "{caught_up}");
    home.same_trees("flash", "disk");
    let moved = home
        .at("disk/published/long")
        .metadata()
        .expect("it was moved")
        .ino();
    assert_eq!(moved, long, "it was copied");
    let said = home.done("status", &["remote", "disk"]);
    assert_eq!(said.matches("holds all").count(), 2, "{said}");
    assert!(said.contains(" 0 changed since"), "{said}");
}

/// Somebody's work would be overwritten, or nobody would hear of it.
#[test]
fn what_others_wrote_is_kept_and_named() {
    let home = Home::new("others");
    home.write("flash/shared", "mine");
    home.done("sync", &["remote"]);
    home.write("remote/shared", "theirs, later");
    home.write("remote/new", "theirs");
    home.write("flash/shared", "mine, later");
    let output = home.run("sync", &["remote"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        text(&output.stdout).contains("kept what others made of shared"),
        "{output:?}"
    );
    assert_eq!(home.read("remote/shared"), "mine, later");

    let output = home.run("fsck", &["remote"]);
    assert!(
        text(&output.stdout).contains("kept what others made of new"),
        "{output:?}"
    );
    home.same_trees("flash", "remote");
    let kept = home.at("remote/.greenfs/kept");
    let found = Command::new("find")
        .arg(kept)
        .args(["-type", "f"])
        .output()
        .expect("find is there");
    let read = |at: &str| fs::read_to_string(at).expect("it is readable");
    let mut kept: Vec<String> = text(&found.stdout).lines().map(read).collect();
    kept.sort();
    assert_eq!(kept, ["theirs", "theirs, later"]);

    let said = home.done("status", &["remote"]);
    assert!(said.contains("others changed it: look at"), "{said}");
    fs::remove_dir_all(home.at("remote/.greenfs/kept")).expect("it is there");
    home.done("fsck", &["remote"]);
}

/// Everything would be copied below a mount point, and count as protected.
#[test]
fn a_branch_that_is_not_mounted_is_no_new_one() {
    let home = Home::new("unmounted");
    home.write("flash/file", "x");
    home.done("sync", &["remote"]);
    fs::rename(home.at("remote"), home.at("mounted")).expect("it is there");
    fs::create_dir(home.at("remote")).expect("it is writable");
    let output = home.run("sync", &["remote"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        text(&output.stdout).contains("see that it is mounted"),
        "{output:?}"
    );
    assert!(!home.at("remote/file").exists());
    let anew = Command::new(env!("CARGO_BIN_EXE_greenfs"))
        .args(["sync", "--anew", "--flash"])
        .arg(home.at("flash"))
        .arg("--remote")
        .arg(home.at("remote"))
        .output()
        .expect("it was built");
    assert!(anew.status.success(), "{anew:?}");
    home.same_trees("flash", "remote");
}

/// Without this program, or after the loss of flash, nobody would get at the files.
#[test]
fn files_are_rescued_by_copying() {
    let home = Home::new("rescue");
    fs::create_dir(home.at("flash/folder")).expect("it is writable");
    home.write("flash/folder/file", "precious");
    home.done("sync", &["remote", "disk"]);
    fs::rename(home.at("flash"), home.at("lost")).expect("it is there");
    let copied = Command::new("cp")
        .arg("-a")
        .args([home.at("remote"), home.at("flash")])
        .status();
    assert!(copied.expect("cp is there").success());
    home.same_trees("lost", "flash");

    for branch in ["flash", "remote", "disk"] {
        let own = home.at(branch).join(".greenfs");
        fs::rename(own, home.at(&format!("{branch}-before"))).expect("it is there");
    }
    let anew = home.done("sync", &["remote", "disk"]);
    assert_eq!(anew.matches("holds all; 0 B copied").count(), 2, "{anew}");
}

/// A command, the folders that it names, and what it must say.
type Refusal<'a> = (&'a str, &'a [(&'a str, &'a Path)], &'a str);

/// A slip of the fingers would mix trees.
#[test]
fn wrong_folders_are_refused_with_what_to_do() {
    let home = Home::new("wrong");
    home.write("flash/file", "x");
    home.done("sync", &["remote"]);
    fs::create_dir_all(home.at("flash/inner")).expect("it is writable");
    let (flash, remote) = (home.at("flash"), home.at("remote"));
    let inner = home.at("flash/inner");
    let none = home.at("none");
    let refusals: [Refusal; 6] = [
        (
            "sync",
            &[("--flash", &flash), ("--disk", &inner)],
            "this folder is",
        ),
        (
            "sync",
            &[("--flash", &flash), ("--disk", &remote)],
            "the remote of the volume, not its disk",
        ),
        (
            "sync",
            &[("--flash", &remote)],
            "the remote of a volume, not its flash",
        ),
        ("sync", &[("--flash", &none)], "cannot be used"),
        (
            "status",
            &[("--remote", &remote)],
            "which folder is --flash?",
        ),
        ("mount", &[("--flash", &flash)], "on which folder"),
    ];
    for (command, folders, said) in refusals {
        let mut greenfs = Command::new(env!("CARGO_BIN_EXE_greenfs"));
        greenfs.arg(command);
        for (option, folder) in folders {
            greenfs.arg(option).arg(folder);
        }
        let output = greenfs.output().expect("it was built");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(all.contains(said) && all.contains("next:"), "{said}: {all}");
    }
    assert_eq!(home.read("remote/file"), "x");
}

/// A test that fails would print all that is in the files.
#[test]
fn trees_that_differ_are_told_in_a_few_lines() {
    let home = Home::new("differ");
    home.write("flash/file", &"one ".repeat(1 << 18));
    home.write("remote/file", &"two\n".repeat(1 << 18));
    let (one, other) = (home.at("flash"), home.at("remote"));
    let told = catch_unwind(|| common::same_trees(&one, &other));
    let told = told.expect_err("they differ").downcast::<String>();
    let told = told.expect("it is a text");
    assert!(told.contains("/file"), "{told}");
    assert!(told.len() < 10_000, "{} bytes", told.len());
}
