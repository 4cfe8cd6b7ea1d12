//! Data that are overwritten in place, and reach flash before anything says so.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use greenfs::branch::identity::{self, Identity};
use greenfs::branch::own;
use greenfs::branch::store::{Store, read_whole};
use greenfs::protocol::{NodeId, ROOT, Role};
use greenfs::volume::{Flash, New};

use crate::memory::Memory;
use crate::mortal::Mortal;
use crate::operation::{Operation, node};
use crate::world::World;

const FILE: &str = "a";

/// Larger than a block.
const SIZE_B: usize = 5000;

const NEW: New = New {
    mode: 0o600,
    owner: None,
};

/// Power goes when the data of all files are there, and of no inode and no line of the journal more than
/// was made durable.
const AHEAD: u64 = u64::MAX << 32;

/// A volume whose branches have a file.
fn world() -> World<Memory> {
    let mut world = World::new(Memory::new);
    world.operate(&Operation::Create(FILE.into(), false));
    world.operate(&write(0, SIZE_B));
    world.fsync();
    world
}

fn write(at: u64, size_b: usize) -> Operation {
    let data = (0..size_b).map(|byte| (byte as u64 * 7 + at) as u8);
    Operation::Write(FILE.into(), at, data.collect())
}

/// Flash would have other data than the branches for ever, and nobody would know.
#[test]
fn what_is_there_before_the_journal_says_so_is_brought() {
    let cut = || Operation::Truncate(FILE.into(), 10);
    let empty = || Operation::Truncate(FILE.into(), 0);
    let dress = || Operation::Dress(FILE.into(), true, 3);
    let rename = || Operation::Rename(FILE.into(), "b".into());
    for operations in [
        vec![write(1, 4)],
        vec![write(1, 4), write(4000, 900)],
        vec![cut()],
        vec![empty(), write(3, 50), write(1, 4)],
        vec![write(1, 4), dress()],
        vec![write(1, 4), rename()],
    ] {
        for lost in 0..32 {
            let mut world = world();
            operations.iter().for_each(|one| world.operate(one));
            world.crash(None, Some(AHEAD | 1 << lost), None, None);
            world.settle();
        }
    }
}

/// The same amid a synchronisation, after one, and once its line was thought to be durable.
#[test]
fn it_is_brought_whatever_was_done_before() {
    for after in 0..40 {
        let mut world = world();
        world.operate(&write(1, 4));
        world.crash(Some(after), Some(AHEAD), None, None);
        world.operate(&write(2, 4));
        world.crash(None, Some(AHEAD), None, None);
        world.settle();
    }
}

/// A branch that has to be compared would be taken to have what it has not: its size and time are those
/// of flash.
#[test]
fn a_branch_that_is_compared_gets_it_too() {
    let mut world = world();
    world.go_away(Role::Disk);
    world.operate(&write(1, 4));
    world.crash(None, Some(AHEAD), None, None);
    let disk = world.branch(Role::Disk);
    let its = identity::read(&*disk.borrow(), Path::new("disk"));
    // So a comparison is left that was interrupted.
    let unknown = Identity {
        at: 0,
        whole: false,
        ..its.expect("it is ours").expect("it was brought up")
    };
    identity::write(&mut *disk.borrow_mut(), &unknown).expect("it is in memory");
    world.settle();
}

fn lines(world: &World<Memory>) -> usize {
    let journal = read_whole(&*world.flash().borrow(), Path::new(".greenfs/journal"));
    let journal = journal.expect("it can be read").expect("it is there");
    journal.iter().filter(|byte| **byte == b'\n').count()
}

/// Each of many small writes would cost a line.
#[test]
fn neighbouring_writes_are_one_line() {
    let mut world = world();
    let before = lines(&world);
    for nth in 0..100 {
        world.operate(&write(nth * 7, 7));
    }
    world.operate(&write(3000, 7));
    assert_eq!(lines(&world) - before, 1, "the file changes");
    world.fsync();
    // Two ranges, size and time, and for both branches the begin and the end.
    assert!(lines(&world) - before <= 8, "{}", lines(&world) - before);
    world.settle();
}

/// Every write would wait for the disk.
#[test]
fn only_the_first_write_over_old_data_waits() {
    let size_b = SIZE_B as u64;
    let waits = |flash: &mut Flash<Mortal<Memory>>, id: NodeId, range: Range<u64>| {
        let first = flash.begin_writing(id, &range);
        let ended = flash.end_writing(id, &range);
        ended.and(first).expect("it is in memory").is_some()
    };
    let mut world = world();
    let flash = &mut world.volume().flash;
    let old = node(flash, Path::new(FILE)).expect("it is there");
    assert!(!waits(flash, old, size_b..size_b + 4), "it is appended");
    assert!(waits(flash, old, 0..4));
    flash.write(old, 0, b"data").expect("it is in memory");
    assert!(!waits(flash, old, 4..8), "the journal says so already");
    flash.settle().expect("it is in memory");
    assert!(waits(flash, old, 4..8), "the file rested");
    flash.truncate(old, 0).expect("it is in memory");
    assert!(!waits(flash, old, 0..4), "it was emptied");
    let new = flash.create(ROOT, OsStr::new("new"), NEW);
    let new = new.expect("nothing is there");
    flash.write(new, 0, b"data").expect("it is in memory");
    flash.settle().expect("it is in memory");
    assert!(!waits(flash, new, 0..4), "no branch has it");
}

/// What was closed before it would be overwritten without a word, and a branch keep what it had of that.
#[test]
fn a_file_that_cannot_be_looked_at_spoils_no_other() {
    let mut world = world();
    world.operate(&Operation::Create("b".into(), false));
    world.fsync();
    world.go_away(Role::Remote);
    world.go_away(Role::Disk);
    let files = [FILE, "b"].map(Path::new);
    let ids = files.map(|file| node(&world.volume().flash, file).expect("it was made"));
    for file in files {
        world.operate(&Operation::Write(file.into(), 9, b"data".to_vec()));
    }
    let removed = world.flash().borrow_mut().remove_file(files[1]);
    removed.expect("it is in memory");
    world.volume().flash.note_closed(&ids);
    let before = lines(&world);
    let begun = world.volume().flash.begin_writing(ids[0], &(90..94));
    begun.expect("it is in memory");
    assert_eq!(lines(&world) - before, 1, "it changes again");
    let settled = world.volume().flash.settle();
    settled.expect_err("nobody was told of the other one yet");
}

/// The room that a checkpoint lacks would be said to be lacking to a program, and what it wrote before would
/// reach no branch; or it would be taken from all programs.
#[test]
fn what_is_written_down_stays_where_a_checkpoint_has_no_room() {
    const LONGEST_B: usize = 8 << 20;
    for tells_room in [true, false] {
        let mut world = world();
        for nth in 0..100 {
            world.operate(&Operation::Create(format!("other {nth}").into(), false));
        }
        world.fsync();
        world.go_away(Role::Remote);
        world.go_away(Role::Disk);
        let target = "x".repeat(4000);
        while journal_b(&world) < LONGEST_B - 10_000 {
            let flash = &mut world.volume().flash;
            let made = flash.symlink(ROOT, OsStr::new("link"), OsStr::new(&target), NEW);
            made.expect("it is in memory");
            let removed = flash.unlink(ROOT, OsStr::new("link"));
            removed.expect("it is there");
        }
        let flash = world.flash();
        let used_b = flash.borrow().used_b();
        flash.borrow_mut().room_b = Some(used_b + 15_000);
        flash.borrow_mut().tells_room = tells_room;
        // The line of one of the ranges is too much for the journal.
        for at in (0..SIZE_B as u64).step_by(25) {
            world.operate(&write(at, 4));
        }
        let id = node(&world.volume().flash, Path::new(FILE)).expect("it is there");
        let noted = world.volume().flash.note_written(&[id]);
        noted.expect("it has room");
        assert!(journal_b(&world) > LONGEST_B, "a checkpoint was due");
        world.operate(&write(9, 4));
        flash.borrow_mut().room_b = None;
        world.settle();
    }
}

fn journal_b(world: &World<Memory>) -> usize {
    let found = world.flash().borrow().look(&own("journal"));
    let found = found.expect("it is in memory");
    found.map_or(0, |found| found.attributes.size as usize)
}

/// The kernel tells one program that flash failed: all others would take for durable what is lost.
#[test]
fn a_journal_that_was_not_made_durable_is_not_believed_again() {
    let mut world = world();
    let id = node(&world.volume().flash, Path::new(FILE)).expect("it is there");
    world.operate(&Operation::Create("b".into(), false));
    world.operate(&Operation::Write("b".into(), 0, b"data".to_vec()));
    let new = node(&world.volume().flash, Path::new("b")).expect("it was made");
    world.flash().borrow_mut().fails_next = true;
    let flash = &mut world.volume().flash;
    flash.write(id, 0, b"data").expect_err("its line is lost");
    flash.write(id, 0, b"data").expect_err("it still is");
    for _ in 0..2 {
        flash.note_written(&[new]).expect_err("it is closed");
    }
    flash.settle().expect_err("it is all to be durable");
    flash.begin_sharing(id).expect_err("memory would change it");
    let named = flash.link(id, ROOT, OsStr::new("c"));
    named.expect_err("it is not written down");
    world.volume().fsync().expect_err("a branch may lack it");
    world.crash(None, Some(AHEAD), None, None);
    world.settle();
}

/// The same of what makes all of flash durable before a branch gets it.
#[test]
fn flash_that_was_not_made_durable_is_not_believed_again() {
    let mut world = world();
    world.operate(&write(1, 4));
    world.flash().borrow_mut().fails_next = true;
    world.volume().fsync().expect_err("data are lost");
    world.volume().fsync().expect_err("they still are");
    world.crash(None, Some(AHEAD), None, None);
    world.settle();
}
