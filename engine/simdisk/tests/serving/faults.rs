//! Faults, as the kernel sees them.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::host::{Aligned, DISK, Folder, Loop, Server, open, write_block};
use crate::needs_root;

const BLOCK_B: usize = 4096;

/// A latent sector error: an I/O error for what lies there, until it is written.
#[test]
fn a_sector_is_unreadable_until_it_is_written() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let (file, mut data) = (device.open(), Aligned::new(BLOCK_B));
    server.order(json!({"do": "fault", "kind": "unreadable", "sector": 9, "sectors": 1}));
    let error = file
        .read_exact_at(data.bytes(), BLOCK_B as u64)
        .expect_err("it is bad");
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    file.read_exact_at(data.bytes(), 0)
        .expect("its neighbour is well");
    write_block(&file, &mut data, 1, 1);
    file.read_exact_at(data.bytes(), BLOCK_B as u64)
        .expect("it is mended");
    assert!(data.is_marked(1, 1));
}

/// A disk that hangs answers nothing for a while, and then everything.
#[test]
fn a_disk_that_hangs_goes_on() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let (file, mut data) = (device.open(), Aligned::new(BLOCK_B));
    write_block(&file, &mut data, 0, 1);
    let begin = Instant::now();
    server.order(json!({"do": "fault", "kind": "hang", "seconds": 0.3}));
    file.read_exact_at(data.bytes(), 0).expect("it goes on");
    assert!(
        begin.elapsed() >= Duration::from_millis(300),
        "{:?}",
        begin.elapsed()
    );
    assert!(data.is_marked(0, 1));
}

/// A disk that is gone fails everything, at once.
#[test]
fn a_disk_that_vanishes_fails_everything() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let (file, mut data) = (device.open(), Aligned::new(BLOCK_B));
    server.order(json!({"do": "fault", "kind": "vanish"}));
    for error in [
        file.read_exact_at(data.bytes(), 0).expect_err("it is gone"),
        file.write_all_at(data.bytes(), 0).expect_err("it is gone"),
        file.sync_all().expect_err("it is gone"),
    ] {
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }
    server.order(json!({"do": "fault", "kind": "none"}));
    file.read_exact_at(data.bytes(), 0).expect("it is back");
}

/// A disk that comes back has lost what it had not stored: else a check would find data that no disk
/// could have kept.
#[test]
fn a_disk_that_vanishes_loses_what_is_volatile() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let (file, mut data) = (open(&folder.at().join("disk")), Aligned::new(BLOCK_B));
    write_block(&file, &mut data, 3, 1);
    file.sync_all().expect("the disk flushes");
    write_block(&file, &mut data, 3, 2);
    server.order(json!({"do": "fault", "kind": "vanish"}));
    server.order(json!({"do": "fault", "kind": "none"}));
    file.read_exact_at(data.bytes(), 3 * BLOCK_B as u64)
        .expect("it is back");
    assert!(data.is_marked(3, 1));
}
