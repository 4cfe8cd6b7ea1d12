//! A flash whose device fails for a while.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;

use common::{Home, does, text};
use greenfs::branch::folder::{FRESH, Folder};
use greenfs::branch::store::Store;

const BLOCK: [u8; 4096] = [1; 4096];

/// Take all room that there is.
fn fill(path: &Path) {
    let mut file = File::create(path).expect("it is writable");
    while file.write_all(&BLOCK).is_ok() {}
}

/// A home whose flash is an image, and the folder in which that lies. An image that has no room for new
/// blocks is a device that fails.
fn on_image(name: &str) -> Option<(Home, PathBuf)> {
    let home = Home::new(name)?;
    let room = home.at("remote");
    let image = room.join("image");
    let of_image = ["-o", "loop", image.to_str().expect("it is text")];
    let is_there = does("mount", &["-t", "tmpfs", "-o", "size=16m", "none"], &room)
        && File::create(&image).is_ok_and(|file| file.set_len(64 << 20).is_ok())
        && does("mkfs.ext4", &["-q", "-O", "^has_journal"], &image)
        && does("mount", &of_image, &home.at("flash"));
    if !is_there {
        eprintln!("skipped: needs root, loop devices and mkfs.ext4 (apt install e2fsprogs)");
        return None;
    }
    Some((home, room))
}

/// The kernel tells one program that flash failed: all others would take for durable what is lost.
#[test]
fn what_comes_after_a_failure_does_not_pass_for_durable() {
    let Some((mut home, room)) = on_image("failing") else {
        return;
    };
    fs::write(home.at("flash/file"), BLOCK).expect("it is writable");
    thread::sleep(FRESH * 2);
    let mut sync = home.greenfs("sync");
    sync.args(["--flash", "flash", "--remote", "disk"]);
    text(&sync.output().expect("it was built"));

    home.mount(&[]);
    let file = OpenOptions::new().write(true).open(home.mnt("file"));
    let file = file.expect("it is there");
    fill(&room.join("filler"));
    // The journal needs blocks that it never had.
    for number in 0..500 {
        File::create(home.mnt(&format!("{number:0>200}"))).expect("it is writable");
    }
    let write = || file.write_all_at(&BLOCK, 0);
    write().expect_err("what says so is not durable");
    fs::remove_file(room.join("filler")).expect("it is there");
    // From here on the device works, and the kernel has told of the failure.
    write().expect_err("what says so is still lost");
    file.sync_all().expect_err("so is what was made");
    let said = home.status();
    assert!(said.contains("mount again"), "{said}");
    drop(file);

    home.kill();
    home.mount(&["--remote", "disk"]);
    home.wait_for(": connected; holds all");
    let file = OpenOptions::new().write(true).open(home.mnt("file"));
    file.and_then(|file| file.write_all_at(b"new", 0))
        .expect("all is well again");
    home.umount();
    home.same_trees("flash", "disk");
}

/// One that was not told would take for durable what is lost.
#[test]
fn each_opening_of_flash_is_told_of_a_failure() {
    let Some((home, room)) = on_image("told") else {
        return;
    };
    let mut flash = Folder::open(&home.at("flash")).expect("it is there");
    let other = flash.root().expect("it is there");
    fs::write(home.at("flash/file"), vec![1_u8; 1 << 20]).expect("memory takes it");
    fill(&room.join("filler"));
    // SAFETY: the descriptor is open.
    let told = unsafe { libc::syncfs(other.as_raw_fd()) };
    assert_eq!(told, -1, "the image has no room for it");
    flash.sync_all().expect_err("it is still lost");
    fs::remove_file(room.join("filler")).expect("it is there");
}

/// Whoever opens the file later would be told that it is durable, and its bytes are gone.
#[test]
fn bytes_of_a_file_that_flash_lost_do_not_pass_for_durable() {
    let Some((mut home, room)) = on_image("lost") else {
        return;
    };
    home.mount(&[]);
    let file = File::create(home.mnt("file")).expect("it is writable");
    file.sync_all().expect("there is room");
    file.write_all_at(&[1; 1 << 20], 0)
        .expect("memory takes it");
    fill(&room.join("filler"));
    file.sync_all().expect_err("the image has no room for it");
    fs::remove_file(room.join("filler")).expect("it is there");
    let later = File::open(home.mnt("file")).expect("it is there");
    later.sync_all().expect_err("what was lost is still lost");
    drop((file, later));
    home.kill();
}
