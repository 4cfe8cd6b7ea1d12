//! What memory changes comes to the remote, and nothing that it does not.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use greenfs::branch::folder::FRESH;

use crate::common::{Home, does, text};
use crate::{Memory, SIZE_B, write};

/// The remote would keep for ever what the memory had when the new mount began, and `status` say that it holds all.
#[test]
fn what_memory_of_an_earlier_mount_changes_is_not_hidden() {
    let Some(mut home) = Home::new("outlived") else {
        return;
    };
    let options = ["--remote", "remote", "--patience", "1"];
    home.mount(&options);
    write(&home, "file", 0);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 2);
    // Else the kernel has memory of its own, which ends with the mount.
    if fs::read(home.at("flash/file")).expect("it is there")[0] != 2 {
        return eprintln!("skipped: needs root, and passthrough of FUSE (Linux 6.9)");
    }
    home.kill();
    mounting::place::detach(&home.mnt("")).expect("nobody serves it");
    thread::sleep(FRESH * 2);
    home.mount(&options);
    home.wait_for(": connected; holds all");
    memory.write(0, 3);
    drop(memory);
    write(&home, "later", 1);
    home.umount();
    home.same_trees("flash", "remote");

    // So long as the memory stays, the end of a mount is not the end of the changes.
    home.mount(&options);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 4);
    home.signal("TERM");
    home.wait_for_end();
    let mut status = home.greenfs("status");
    status.args(["--flash", "flash", "--remote", "remote"]);
    let said = text(&status.output().expect("it was built"));
    assert!(!said.contains("holds all"), "{said}");
    memory.write(0, 5);
    home.sync();
    home.same_trees("flash", "remote");

    // Nor is a synchronisation in between.
    home.mount(&options);
    home.wait_for(": connected; holds all");
    memory.write(0, 6);
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
}

/// Most programs open files so that they could change them: the remote would keep a version for each time.
#[test]
fn what_was_opened_and_not_changed_stays_as_it_is() {
    let Some(mut home) = Home::new("unchanged") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    thread::sleep(FRESH * 2);
    drop(Memory::of(&home.mnt("file"), true));
    write(&home, "later", 1);
    let history = home.at("remote/.greenfs/history/file");
    let versions = || fs::read_dir(&history).map(Iterator::count);
    assert!(versions().is_err(), "nothing was changed");
    let memory = Memory::of(&home.mnt("file"), true);
    assert!(memory.read() == vec![0; SIZE_B], "it is all there");
    memory.write(0, 1);
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
    assert!(versions().expect("there are some") > 0);
}

/// Memory of files in RAM leaves their times as they are: what it changes would never go to the remote.
#[test]
fn of_flash_that_does_not_tell_all_that_was_opened_is_brought() {
    let Some(mut home) = Home::new("untold") else {
        return;
    };
    if !does("mount", &["-t", "tmpfs", "none"], &home.at("flash")) {
        return eprintln!("skipped: needs root, to mount a tmpfs");
    }
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    thread::sleep(FRESH * 2);
    let memory = Memory::of(&home.mnt("file"), true);
    assert!(memory.read() == vec![0; SIZE_B], "it is all there");
    write(&home, "later", 1);
    memory.write(0, 1); // no time changes, as it was read before
    drop(memory);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
}

/// Where times are whole seconds, as with small inodes of ext4, what memory changes in the second of the
/// last change would never go to the remote.
#[test]
fn what_memory_changes_within_a_second_is_brought() {
    let Some(mut home) = Home::new("second") else {
        return;
    };
    let image = home.at("image");
    let made = File::create(&image).and_then(|file| file.set_len(16 << 20));
    made.expect("it is writable");
    let of_image = ["-o", "loop", image.to_str().expect("it is text")];
    if !does("mkfs.ext4", &["-q", "-I", "128"], &image)
        || !does("mount", &of_image, &home.at("flash"))
    {
        return eprintln!(
            "skipped: needs root, loop devices and mkfs.ext4 (apt install e2fsprogs)"
        );
    }
    home.mount(&["--remote", "remote", "--patience", "120"]);
    home.wait_for(": connected; holds all");
    write(&home, "file", 0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let past = since.expect("it is later").subsec_nanos();
    thread::sleep(Duration::from_secs(1) - Duration::from_nanos(past.into()));
    write(&home, "file", 1);
    thread::sleep(FRESH * 2);
    let memory = Memory::of(&home.mnt("file"), true);
    memory.write(0, 2);
    drop(memory);
    thread::sleep(FRESH * 2);
    write(&home, "later", 2);
    home.umount();
    home.same_trees("flash", "remote");
}

/// What many programs did through memory, and let go of, would come to the remote long after an fsync.
#[test]
fn an_fsync_waits_for_all_memory_that_is_gone() {
    let Some(mut home) = Home::new("many") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "60"]);
    // The kernel is asked of fewer at once.
    let names = (0..300).map(|number| number.to_string());
    let memories: Vec<Memory> = names
        .map(|name| {
            fs::write(home.mnt(&name), "0").expect("it is writable");
            Memory::of(&home.mnt(&name), true)
        })
        .collect();
    // A remote that is catching up with so many writes is not waited for.
    home.wait_for(": connected; holds all");
    memories.iter().for_each(|memory| memory.write(0, 1));
    drop(memories);
    write(&home, "later", 1);
    home.same_trees("flash", "remote");
    home.umount();
}
