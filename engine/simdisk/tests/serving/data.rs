//! Data are never lost or altered.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::thread;

use serde_json::json;

use crate::host::{Aligned, DISK, Disk, Folder, Loop, Mount, Server, mark, run, text, write_block};
use crate::needs_root;

const BLOCK_B: usize = 16 << 10;

/// A sequence that looks random and is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 += 1;
        mark(self.0, 0, 7) % end
    }
}

/// A sector in the wrong place or of an older write would corrupt every file system.
#[test]
fn blocks_of_many_threads_are_read_back_whatever_the_order() {
    needs_root!();
    for (policy, write) in [("fifo", "back"), ("lifo", "back"), ("lifo", "through")] {
        let folder = Folder::new();
        let mut server = Server::start(&folder, Disk { write, ..DISK });
        server.order(json!({"do": "policy", "to": policy}));
        let device = Loop::on(&folder);
        const THREADS: u64 = 8;
        let blocks = u64::from(DISK.megabytes) * 1024 * 1024 / BLOCK_B as u64;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let file = device.open();
                scope.spawn(move || overwrite(&file, thread, THREADS, blocks));
            }
        });
        let (deep, _) = (server.order(json!({"do": "timing"})), ());
        assert!(deep["requests"].as_u64() > Some(THREADS * 100), "{deep}");
    }
}

/// Write and read every n-th block, in any order, several times.
fn overwrite(file: &File, thread: u64, threads: u64, blocks: u64) {
    let mut data = Aligned::new(BLOCK_B);
    let mut versions = vec![0; (blocks / threads) as usize];
    let mut numbers = Numbers(thread << 32);
    for step in 1..=400 {
        let own = numbers.below(versions.len() as u64);
        let block = own * threads + thread;
        if versions[own as usize] == 0 || numbers.below(3) > 0 {
            write_block(file, &mut data, block, step);
            versions[own as usize] = step;
        } else {
            let offset = block * BLOCK_B as u64;
            file.read_exact_at(data.bytes(), offset)
                .expect("it is read");
            assert!(
                data.is_marked(block, versions[own as usize]),
                "block {block}"
            );
        }
    }
    for (own, &version) in (0..).zip(&versions).filter(|&(_, &version)| version > 0) {
        let block = own * threads + thread;
        let offset = block * BLOCK_B as u64;
        file.read_exact_at(data.bytes(), offset)
            .expect("it is read");
        assert!(data.is_marked(block, version), "block {block}");
    }
}

/// What fsx does: random writes, reads and truncations of a file, against a copy in memory.
#[test]
fn a_file_system_keeps_a_file_that_is_changed_at_random() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    server.order(json!({"do": "policy", "to": "lifo"}));
    let device = Loop::on(&folder);
    run("mkfs.ext4", &["-q", &device.0]);
    let mut expected = Vec::new();
    {
        let mount = Mount::of(&device, &folder);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(mount.0.join("file")).expect("it can be made");
        let mut numbers = Numbers(1);
        for step in 0..600_u64 {
            change(&file, &mut expected, &mut numbers, step);
            if step % 100 == 50 {
                file.sync_all().expect("the disk takes it");
            }
        }
    }
    for _ in 0..2 {
        let mount = Mount::of(&device, &folder);
        let found = fs::read(mount.0.join("file")).expect("it is read");
        assert_eq!(found.len(), expected.len());
        assert!(found == expected, "the file differs after a remount");
    }
    run("e2fsck", &["-fn", &device.0]);
}

fn change(file: &File, expected: &mut Vec<u8>, numbers: &mut Numbers, step: u64) {
    const LONGEST: u64 = 2 << 20;
    let length = 1 + numbers.below(80_000);
    match numbers.below(8) {
        0 => {
            let end = numbers.below(LONGEST);
            file.set_len(end).expect("it is cut");
            expected.resize(end as usize, 0);
        }
        1 | 2 if !expected.is_empty() => {
            let from = numbers.below(expected.len() as u64);
            let end = (from + length).min(expected.len() as u64);
            let mut found = vec![0; (end - from) as usize];
            file.read_exact_at(&mut found, from).expect("it is read");
            assert!(
                found == expected[from as usize..end as usize],
                "step {step}"
            );
        }
        _ => {
            let from = numbers.below(LONGEST - length);
            let data: Vec<u8> = (0..length)
                .map(|index| mark(step, from, index) as u8)
                .collect();
            file.write_all_at(&data, from).expect("it is written");
            let end = (from + length) as usize;
            expected.resize(expected.len().max(end), 0);
            expected[from as usize..end].copy_from_slice(&data);
        }
    }
}

/// A reader that dies with requests under way must leave the disk as it was, and usable.
#[test]
fn a_reader_may_be_killed() {
    needs_root!();
    let folder = Folder::new();
    let slow = Disk {
        service_us: 20_000,
        ..DISK
    };
    let mut server = Server::start(&folder, slow);
    let device = Loop::on(&folder);
    let mut data = Aligned::new(BLOCK_B);
    write_block(&device.open(), &mut data, 0, 1);
    for _ in 0..3 {
        let input = format!("if={}", device.0);
        let mut reader = Command::new("dd")
            .args([&input, "of=/dev/null", "bs=64k", "iflag=direct"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("dd is there");
        thread::sleep(std::time::Duration::from_millis(50));
        reader.kill().expect("it goes on");
        reader.wait().expect("it is a child");
    }
    device
        .open()
        .read_exact_at(data.bytes(), 0)
        .expect("it is read");
    assert!(data.is_marked(0, 1));
    assert_eq!(
        server.order(json!({"do": "describe"}))["store_fault"],
        json!(null)
    );
}

/// Files that are prepared under the instant clock must be there when the disk takes its time, and
/// the other way round.
#[test]
fn a_change_of_clocks_keeps_everything() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let (file, mut data) = (device.open(), Aligned::new(BLOCK_B));
    for (block, clock) in (0..4).zip(["instant", "real", "instant", "real"]) {
        server.order(json!({"do": "clock", "to": clock}));
        for before in 0..block {
            file.read_exact_at(data.bytes(), before * BLOCK_B as u64)
                .expect("it is read");
            assert!(data.is_marked(before, 1), "block {before} under {clock}");
        }
        write_block(&file, &mut data, block, 1);
    }
    drop((file, device));
    server.stop();
    let stored = File::open(folder.store()).expect("the store stays");
    for block in 0..4 {
        stored
            .read_exact_at(data.bytes(), block * BLOCK_B as u64)
            .expect("it is read");
        assert!(
            data.is_marked(block, 1),
            "block {block} in {}",
            text(&folder.store())
        );
    }
}
