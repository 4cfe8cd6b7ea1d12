//! A file that is overwritten all the time and cannot be copied on flash first, and all the others.

use std::collections::BTreeSet;
use std::path::PathBuf;

use greenfs::volume::{self, Trouble};

use crate::memory::Memory;
use crate::operation::{Operation, node, shape};
use crate::steady::{Cabled, amid, cabled, file, remote, world, write};
use crate::world::World;

/// Bytes of a file for which flash has no room twice.
const LARGE_B: usize = 200_000;

fn large() -> PathBuf {
    "large".into()
}

fn overwrites() -> impl Iterator<Item = Operation> {
    (1..=u8::MAX)
        .cycle()
        .map(|data| Operation::Write(large(), 0, vec![data; 9]))
}

/// A volume whose large file was left out: the remote has none of what was done to it since.
fn with_large_file() -> World<Memory> {
    let mut world = world();
    world.operate(&Operation::Create(large(), false));
    world.operate(&Operation::Write(large(), 0, vec![0; LARGE_B]));
    world.fsync();
    let flash = world.flash();
    let mut flash = flash.borrow_mut();
    flash.room_b = Some(flash.used_b() + 250_000);
    drop(flash);
    world.operate(&Operation::Write(large(), 0, vec![1; 9]));
    world
}

/// The remote, which the large file was not brought to.
fn without_it(world: &mut World<Memory>, pulled_after: Option<u64>) -> Cabled {
    let mut branch = cabled(world, None);
    let (pushed, _) = amid(world, overwrites(), |flash| {
        volume::push(flash, &mut branch)
    });
    expect_all_but_large(pushed);
    branch.store.cable.set(pulled_after);
    branch
}

fn expect_all_but_large<T: std::fmt::Debug>(pushed: Result<T, Trouble>) {
    assert!(
        matches!(&pushed, Err(Trouble::AllBut(path)) if *path == large()),
        "{pushed:?}"
    );
}

/// An fsync of another file would promise flash alone, or wait until a large one has been copied in vain.
#[test]
fn others_are_brought_without_copying_it_again() {
    let mut world = with_large_file();
    let mut branch = without_it(&mut world, None);
    for turn in 2..5 {
        world.operate(&write(0, 0, 9, turn));
        let before_b = branch.store.inner.borrow().written_b;
        let work = overwrites();
        let (pushed, _) = amid(&mut world, work, |flash| {
            volume::push_rested(flash, &mut branch, BTreeSet::new())
        });
        expect_all_but_large(pushed);
        let written_b = branch.store.inner.borrow().written_b - before_b;
        assert!(written_b < LARGE_B as u64, "{written_b} bytes");
        assert_eq!(remote(&world)[&file(0)].data, [turn; 9]);
        assert_eq!(remote(&world)[&large()].data, [0; LARGE_B]);
    }
    world.settle();
}

/// A file that was left out for want of room would wait until it rests, though there is room again.
#[test]
fn one_with_room_for_a_copy_is_brought_while_another_is_left_out() {
    let mut world = with_large_file();
    let mut branch = without_it(&mut world, None);
    world.operate(&write(0, 0, 9, 2));
    branch.left.extend(node(&world.volume().flash, &file(0)));
    let (pushed, _) = amid(&mut world, overwrites(), |flash| {
        volume::push_rested(flash, &mut branch, BTreeSet::new())
    });
    expect_all_but_large(pushed);
    assert_eq!(branch.left.len(), 1);
    assert_eq!(remote(&world)[&file(0)].data, [2; 9]);
    world.settle();
}

/// It would stay as it was for ever.
#[test]
fn it_is_brought_once_it_rests() {
    let mut world = with_large_file();
    let mut branch = without_it(&mut world, None);
    let flash = &mut world.volume().flash;
    let pushed = volume::push(&mut &mut *flash, &mut branch);
    pushed.expect("nobody writes to it");
    assert!(branch.left.is_empty());
    let now = shape(&world.reference, false);
    assert_eq!(remote(&world)[&large()].data, now[&large()].data);
    world.settle();
}

/// Who removes or renames it would find it back on the remote, or under both names.
#[test]
fn it_is_removed_and_renamed_as_others_are() {
    let renamed = || PathBuf::from("renamed");
    for operation in [
        Operation::Unlink(large()),
        Operation::Rename(large(), renamed()),
    ] {
        let mut world = with_large_file();
        let mut branch = without_it(&mut world, None);
        world.operate(&operation);
        let flash = &mut world.volume().flash;
        let pushed = volume::push_rested(&mut &mut *flash, &mut branch, BTreeSet::new());
        pushed.expect("nothing is left out");
        assert!(branch.left.is_empty());
        let there = remote(&world);
        assert!(!there.contains_key(&large()));
        let is_renamed = matches!(operation, Operation::Rename(..));
        assert_eq!(there.contains_key(&renamed()), is_renamed);
        world.settle();
    }
}

/// What the remote has would not be what flash takes it for.
#[test]
fn nothing_is_lost_when_the_cable_is_pulled_while_others_are_brought() {
    for pulled_after in 0..40 {
        let mut world = with_large_file();
        let mut branch = without_it(&mut world, Some(pulled_after));
        world.operate(&write(0, 0, 9, 2));
        world.operate(&Operation::Unlink(file(1)));
        let work = overwrites().skip(100).take(20);
        let (pushed, _) = amid(&mut world, work, |flash| {
            volume::push_rested(flash, &mut branch, BTreeSet::new())
        });
        let is_known = matches!(pushed, Err(Trouble::AllBut(_) | Trouble::Branch(_)));
        assert!(is_known, "{pulled_after}: {pushed:?}");
        world.settle();
    }
}
