//! What the kernel says of memory, and which files it is asked of.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::thread;
use std::time::Duration;

use greenfs::branch::folder::{FRESH, Folder};
use greenfs::protocol::{NodeId, ROOT};
use greenfs::volume::{Flash, New};

use crate::common::Home;

fn opened(home: &Home) -> Flash<Folder> {
    let store = Folder::open(&home.at("flash")).expect("it is there");
    let flash = Flash::open(store, &home.at("flash"), &"0".repeat(32));
    flash.unwrap_or_else(|_| panic!("nobody else uses it"))
}

/// A new file that a program had open to change it, and has closed.
fn made(flash: &mut Flash<Folder>, name: &str) -> NodeId {
    let new = New {
        mode: 0o600,
        owner: None,
    };
    let id = flash.create(ROOT, OsStr::new(name), new);
    let id = id.expect("nothing is there");
    flash.begin_sharing(id).expect("it is there");
    flash.end_sharing(id).expect("it is there");
    id
}

/// One that is killed as it begins would hide that memory from the next.
#[test]
fn memory_is_found_whenever_flash_is_opened() {
    let home = Home::without_mount("opened");
    let id = made(&mut opened(&home), "file");
    let writer = OpenOptions::new().write(true).open(home.at("flash/file"));
    let writer = writer.expect("it is there");
    thread::sleep(FRESH * 2);
    drop(opened(&home));
    assert_eq!(opened(&home).closed(), [id]);
    drop(writer);
    // What another test is just starting has it open until it runs.
    while !opened(&home).closed().is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Files that the kernel says nothing of would be asked of at every look, and be remembered without end.
#[test]
fn what_the_kernel_does_not_know_is_asked_once_and_forgotten_with_the_file() {
    let home = Home::without_mount("asked");
    let mut flash = opened(&home);
    let ids = ["a", "b"].map(|name| made(&mut flash, name));
    assert_eq!(flash.closed(), ids);
    flash.stop_asking(ids[1]);
    assert_eq!(flash.closed(), ids[..1]);
    flash.end_mapping(ids[0]).expect("it is there");
    flash.unlink(ROOT, OsStr::new("b")).expect("it is there");
    assert_eq!(flash.closed(), ids[1..]);
    flash.end_mapping(ids[1]).expect("it was there");
    assert!(flash.closed().is_empty());
}
