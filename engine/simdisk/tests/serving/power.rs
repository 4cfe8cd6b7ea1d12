//! A flush is honoured, and a power cut loses what was volatile and nothing else.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::host::{
    Aligned, DISK, Disk, Folder, Loop, Mount, Server, open, run, run_anyway, write_block,
};
use crate::needs_root;

const BLOCK_B: usize = 4096;

/// A database that was told that its data are safe would lose them.
#[test]
fn what_was_flushed_survives_the_death_of_the_server() {
    needs_root!();
    let folder = Folder::new();
    let mut data = Aligned::new(BLOCK_B);
    let mut server = Server::start(&folder, DISK);
    {
        let device = Loop::on(&folder);
        let file = device.open();
        write_block(&file, &mut data, 0, 1);
        write_block(&file, &mut data, 1, 1);
        file.sync_all().expect("the disk flushes");
        write_block(&file, &mut data, 1, 2);
        write_block(&file, &mut data, 2, 2);
        server.kill();
    }
    let _again = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let file = device.open();
    let mut version = |block: u64| {
        file.read_exact_at(data.bytes(), block * BLOCK_B as u64)
            .expect("it is read");
        (1..3).find(|&version| data.is_marked(block, version))
    };
    assert_eq!(version(0), Some(1), "it was flushed");
    assert_eq!(version(1), Some(1), "the newer data were volatile");
    assert_eq!(version(2), None, "it was never flushed");
}

/// With a cache that writes through, nothing that was answered is ever lost.
#[test]
fn without_a_volatile_cache_nothing_is_lost() {
    needs_root!();
    let folder = Folder::new();
    let through = Disk {
        write: "through",
        ..DISK
    };
    let mut data = Aligned::new(BLOCK_B);
    let mut server = Server::start(&folder, through);
    {
        let device = Loop::on(&folder);
        write_block(&device.open(), &mut data, 5, 1);
        server.kill();
    }
    let stored = File::open(folder.store()).expect("the store stays");
    stored
        .read_exact_at(data.bytes(), 5 * BLOCK_B as u64)
        .expect("it is read");
    assert!(data.is_marked(5, 1));
}

/// A file system must be mendable after a power cut, and hold what was synced.
#[test]
fn file_systems_mend_after_a_power_cut() {
    needs_root!();
    for (make, mend) in [
        (&["mkfs.ext4", "-q"][..], &["e2fsck", "-fy"][..]),
        (&["mkfs.xfs", "-q"][..], &["xfs_repair"][..]),
    ] {
        if run_anyway(make[0], &["-V"]).is_none() {
            eprintln!("skipped: {} is not installed", make[0]);
            continue;
        }
        cut_and_mend(make, mend);
    }
}

fn cut_and_mend(make: &[&str], mend: &[&str]) {
    let folder = Folder::new();
    // The smallest that xfs is made on.
    let disk = Disk {
        megabytes: 320,
        ..DISK
    };
    let mut server = Server::start(&folder, disk);
    let device = Loop::on(&folder);
    let with_device = |words: &[&str]| -> Vec<String> {
        words[1..]
            .iter()
            .map(|&word| word.to_owned())
            .chain([device.0.clone()])
            .collect()
    };
    let called = |words: &[&str]| {
        let arguments = with_device(words);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run_anyway(words[0], &arguments)
    };
    assert_eq!(called(make), Some(0), "{make:?}");
    {
        let mount = Mount::of(&device, &folder);
        let mut synced = File::create(mount.0.join("synced")).expect("it can be made");
        synced.write_all(&[7; 100_000]).expect("it is written");
        synced.sync_all().expect("the disk flushes");
        File::open(&mount.0)
            .and_then(|folder| folder.sync_all())
            .expect("the disk flushes");
        for number in 0..50 {
            // The cut comes while these are on their way.
            let _ = fs::write(mount.0.join(format!("unsynced{number}")), vec![9; 20_000]);
        }
        server.order(json!({"do": "power", "to": "cut"}));
        assert_eq!(
            server.order(json!({"do": "describe"}))["powered"],
            json!(false)
        );
        let _ = fs::write(mount.0.join("after"), "x")
            .and_then(|()| File::open(mount.0.join("after")).and_then(|file| file.sync_all()));
    }
    server.order(json!({"do": "power", "to": "restore"}));
    // A journal is replayed by mounting, as after a crash.
    drop(Mount::of(&device, &folder));
    // e2fsck says by 1 that it has mended something.
    let mended = called(mend);
    assert!(matches!(mended, Some(0 | 1)), "{mend:?}: {mended:?}");
    let mount = Mount::of(&device, &folder);
    let found = fs::read(mount.0.join("synced")).expect("what was synced is there");
    assert!(found == [7; 100_000], "what was synced has changed");
    run("sync", &["-f", mount.0.to_str().expect("a plain name")]);
}

/// Unflushed blocks go with the power, and a disk that has power again serves what is left.
#[test]
fn a_power_cut_loses_what_is_volatile() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let (file, mut data) = (device.open(), Aligned::new(BLOCK_B));
    write_block(&file, &mut data, 3, 1);
    file.sync_all().expect("the disk flushes");
    write_block(&file, &mut data, 3, 2);
    server.order(json!({"do": "power", "to": "cut"}));
    let error = file
        .read_exact_at(data.bytes(), 0)
        .expect_err("it has no power");
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    server.order(json!({"do": "power", "to": "restore"}));
    file.read_exact_at(data.bytes(), 3 * BLOCK_B as u64)
        .expect("it is read");
    assert!(data.is_marked(3, 1));
}

/// Who looks at the disk while its power is cut would hang it, and every file system on it.
#[test]
fn power_may_be_cut_while_another_looks() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let looker = UnixStream::connect(folder.control()).expect("the server listens");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut answers = BufReader::new(&looker).lines();
            while !is_done.load(Relaxed) {
                (&looker).write_all(b"{\"do\": \"describe\"}\n")?;
                answers.next().transpose()?;
            }
            io::Result::Ok(())
        });
        for _ in 0..500 {
            server.order(json!({"do": "power", "to": "cut"}));
            server.order(json!({"do": "power", "to": "restore"}));
        }
        is_done.store(true, Relaxed);
        let looked = looking.join().expect("it does not panic");
        looked.expect("every look is answered");
    });
}

/// A disk that is ended in the middle of writes has stored every one that was answered.
#[test]
fn what_was_answered_before_the_end_is_stored() {
    needs_root!();
    for _ in 0..5 {
        let folder = Folder::new();
        let mut server = Server::start(&folder, DISK);
        let (file, mut data) = (open(&folder.at().join("disk")), Aligned::new(BLOCK_B));
        let (first, begun) = mpsc::channel();
        let answered = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut data = Aligned::new(BLOCK_B);
                let writes = (0..u64::MAX).take_while(|&block| {
                    data.mark(block % 4096, block);
                    let place = block % 4096 * BLOCK_B as u64;
                    let answered = file.write_all_at(data.bytes(), place).is_ok();
                    let _ = first.send(());
                    answered
                });
                writes.last()
            });
            begun.recv().expect("one is answered");
            std::thread::sleep(Duration::from_millis(100));
            server.stop();
            writer.join().expect("it sees the end")
        });
        let last = answered.expect("some are answered");
        let stored = File::open(folder.store()).expect("the store stays");
        // the one that was under way may have overwritten the first of these
        for version in last.saturating_sub(4094)..=last {
            let block = version % 4096;
            stored
                .read_exact_at(data.bytes(), block * BLOCK_B as u64)
                .expect("it is read");
            assert!(data.is_marked(block, version), "{version} of {last}");
        }
    }
}
