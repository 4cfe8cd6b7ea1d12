//! What POSIX has programs expect of files, on a mount. pjdfstest, where it is installed, asks for
//! much more: docs/greenfs.md says how to run it.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use common::Home;
use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;

fn read(path: PathBuf) -> String {
    fs::read_to_string(path).expect("it is there")
}

/// Temporary files without a name would lose their data.
#[test]
fn a_removed_file_lives_while_it_is_open() {
    let Some(mut home) = Home::new("removed") else {
        return;
    };
    home.mount(&[]);
    let options = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .to_owned();
    let mut file = options.open(home.mnt("file")).expect("it is writable");
    fs::remove_file(home.mnt("file")).expect("it is there");
    file.write_all(b"data").expect("it is open");
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .expect("it is open");
    file.set_len(3).expect("it is open");
    let found = file.metadata().expect("it is open");
    assert_eq!((found.nlink(), found.len()), (0, 3));
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).expect("it is open");
    file.read_to_string(&mut text).expect("it is open");
    assert_eq!(text, "dat");

    let old = File::create(home.mnt("old")).expect("it is writable");
    fs::write(home.mnt("new"), "new").expect("it is writable");
    fs::rename(home.mnt("new"), home.mnt("old")).expect("it is there");
    old.write_all_at(b"late", 0).expect("it is open");
    assert_eq!(read(home.mnt("old")), "new");
}

/// Links would be files of their own.
#[test]
fn names_of_one_file_are_one_file() {
    let Some(mut home) = Home::new("links") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    fs::write(home.mnt("one"), "1").expect("it is writable");
    fs::hard_link(home.mnt("one"), home.mnt("two")).expect("it is there");
    fs::write(home.mnt("two"), "22").expect("it is writable");
    let (one, two) = (fs::metadata(home.mnt("one")), fs::metadata(home.mnt("two")));
    let (one, two) = (one.expect("it is there"), two.expect("it is there"));
    assert_eq!((one.ino(), one.nlink(), one.len()), (two.ino(), 2, 2));
    symlink("two", home.mnt("link")).expect("it is writable");
    assert_eq!(read(home.mnt("link")), "22");
    fs::remove_file(home.mnt("one")).expect("it is there");
    assert_eq!(
        fs::metadata(home.mnt("two")).expect("it is there").nlink(),
        1
    );
    fs::create_dir(home.mnt("folder")).expect("it is writable");
    fs::write(home.mnt("folder/file"), "x").expect("it is writable");
    assert!(fs::remove_dir(home.mnt("folder")).is_err());
    assert!(fs::rename(home.mnt("folder"), home.mnt("folder/in")).is_err());
    home.umount();
    home.same_trees("flash", "remote");
}

/// Logs of several writers would overwrite each other.
#[test]
fn appending_goes_to_the_end() {
    let Some(mut home) = Home::new("append") else {
        return;
    };
    home.mount(&[]);
    let open = || {
        let options = OpenOptions::new().append(true).create(true).to_owned();
        options.open(home.mnt("log")).expect("it is writable")
    };
    let (mut one, mut two) = (open(), open());
    for _ in 0..3 {
        one.write_all(b"1").expect("it is open");
        two.write_all(b"2").expect("it is open");
    }
    assert_eq!(read(home.mnt("log")), "121212");
}

/// What programs write through memory would stay on flash alone.
#[test]
fn shared_memory_reaches_the_remote() {
    let Some(mut home) = Home::new("memory") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    fs::write(home.mnt("file"), vec![b'.'; 4096]).expect("it is writable");
    let options = OpenOptions::new().read(true).write(true).to_owned();
    let file = options.open(home.mnt("file")).expect("it is there");
    // SAFETY: the file is that long, and the memory is given back before the file is closed.
    unsafe {
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let none = std::ptr::null_mut();
        let memory = libc::mmap(none, 4096, access, shared, file.as_raw_fd(), 0);
        assert_ne!(memory, libc::MAP_FAILED);
        std::ptr::write_bytes(memory.cast::<u8>(), b'x', 10);
        libc::munmap(memory, 4096);
    }
    drop(file);
    home.umount();
    assert!(read(home.at("remote/file")).starts_with("xxxxxxxxxx."));
}

/// Pipes and our own folder would be taken for files of people.
#[test]
fn what_no_branch_has_is_told_apart() {
    let Some(mut home) = Home::new("others") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    home.wait_for(": connected; holds all");
    let made = Command::new("mkfifo").arg(home.mnt("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    fs::create_dir(home.mnt("folder")).expect("it is writable");
    fs::rename(home.mnt("pipe"), home.mnt("folder/pipe")).expect("it is there");
    let kind = fs::metadata(home.mnt("folder/pipe"))
        .expect("it is there")
        .file_type();
    assert!(kind.is_fifo());
    assert!(!home.mnt(".greenfs/journal").exists());
    assert!(fs::create_dir(home.mnt(".greenfs")).is_err());
    assert!(fs::write(home.mnt(".greenfs/new"), "").is_err());
    let names = fs::read_dir(home.mnt("")).expect("it is there");
    let names: Vec<_> = names
        .map(|entry| entry.expect("it is there").file_name())
        .collect();
    assert_eq!(names, ["folder"]);
    assert!(
        home.status()
            .contains("1 devices, sockets or pipes are on flash alone")
    );
    home.umount();
    assert!(home.at("remote/folder").exists() && !home.at("remote/folder/pipe").exists());
}

/// What lies deep would be lost.
#[test]
fn a_path_may_be_longer_than_the_kernel_takes_at_once() {
    let Some(mut home) = Home::new("deep") else {
        return;
    };
    home.mount(&["--remote", "remote"]);
    let mut path = PathBuf::new();
    {
        let mut tree = Folder::open(&home.mnt("")).expect("it is there");
        for _ in 0..30 {
            path.push("x".repeat(200));
            tree.make_folder(&path, 0o755).expect("it is writable");
        }
        path.push("file");
        tree.create(&path, 0o644).expect("it is writable");
        tree.write(&path, 0, b"deep").expect("it is there");
    }
    home.umount();
    let remote = Folder::open(&home.at("remote")).expect("it is there");
    assert_eq!(remote.read(&path, 0, 10).expect("it was carried"), b"deep");
}
