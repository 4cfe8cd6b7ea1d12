//! Programs that go on whenever a synchronisation looks away from flash.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use greenfs::protocol::{NodeId, Role};
use greenfs::volume::{self, Access, Flash, Pushed, Trouble};
use proptest::prelude::*;

use crate::BLOCKS;
use crate::memory::Memory;
use crate::mortal::{Life, Mortal};
use crate::operation::{Operation, Shape, operations, shape};
use crate::world::World;

/// Files that are there before.
const FILES: usize = 4;

/// Flash, where a program takes one step after the other.
pub struct Worked<'a, W> {
    flash: &'a mut Flash<Mortal<Memory>>,
    work: W,
    done: Vec<Operation>,
    /// What could not be done.
    refused: Vec<Operation>,
}

impl<W: Iterator<Item = Operation>> Access<Mortal<Memory>> for Worked<'_, W> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<Mortal<Memory>>) -> R) -> R {
        let result = act(self.flash);
        if let Some(operation) = self.work.next() {
            match operation.on_flash(self.flash) {
                Ok(()) => self.done.push(operation),
                Err(_) => self.refused.push(operation),
            }
        }
        result
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut flash = &mut *self.flash;
        flash.sync()
    }

    fn complete(&mut self, _: NodeId, _: Option<Role>) -> io::Result<()> {
        Ok(())
    }
}

pub fn file(number: usize) -> PathBuf {
    number.to_string().into()
}

pub fn write(number: usize, at: u64, size_b: usize, data: u8) -> Operation {
    Operation::Write(file(number), at, vec![data; size_b])
}

/// Makes files, and writes to each twice before it makes the next one.
fn appends() -> impl Iterator<Item = Operation> {
    (FILES..).flat_map(|number| {
        let create = Operation::Create(file(number), false);
        [create, write(number, 0, 9, 1), write(number, 9, 9, 2)]
    })
}

/// Writes over all of one file after the other.
pub fn rewrites() -> impl Iterator<Item = Operation> {
    (0_u8..=u8::MAX)
        .cycle()
        .map(|turn| write(usize::from(turn) % FILES, 0, 9, turn))
}

/// Makes files that are soon removed.
fn removes() -> impl Iterator<Item = Operation> {
    (FILES..).flat_map(|number| {
        let create = Operation::Create(file(number), false);
        [
            create,
            write(number, 0, 9, 1),
            Operation::Unlink(file(number)),
        ]
    })
}

/// A volume with files of 9 bytes that its branches have.
pub fn world() -> World<Memory> {
    let mut world = World::new(Memory::new);
    for number in 0..FILES {
        world.operate(&Operation::Create(file(number), false));
        world.operate(&write(number, 0, 9, 0));
    }
    world.fsync();
    world
}

pub type Cabled = volume::Branch<Mortal<Memory>>;

/// The remote, whose cable is pulled after so many changes.
pub fn cabled(world: &World<Memory>, pulled_after: Option<u64>) -> Cabled {
    let cable = Life::default();
    cable.set(pulled_after);
    let store = Mortal {
        inner: world.branch(Role::Remote),
        life: Life::default(),
        cable,
    };
    volume::Branch::new(Role::Remote, "remote".into(), store)
}

/// Do something while a program works. Returns what it could not do, too.
pub fn amid<W: Iterator<Item = Operation>, R>(
    world: &mut World<Memory>,
    work: W,
    act: impl FnOnce(&mut Worked<'_, W>) -> R,
) -> (R, Vec<Operation>) {
    let mut worked = Worked {
        flash: &mut world.volume().flash,
        work,
        done: Vec::new(),
        refused: Vec::new(),
    };
    let acted = act(&mut worked);
    let Worked { done, refused, .. } = worked;
    for operation in done {
        let done = operation.on_tree(&mut world.reference);
        done.expect("it was done on flash");
    }
    (acted, refused)
}

/// Bring the remote up while a program works; its cable is pulled after so many changes.
fn push_amid(
    world: &mut World<Memory>,
    work: impl Iterator<Item = Operation>,
    pulled_after: Option<u64>,
) -> Result<Pushed, Trouble> {
    let mut branch = cabled(world, pulled_after);
    amid(world, work, |flash| volume::push(flash, &mut branch)).0
}

pub fn remote(world: &World<Memory>) -> Shape {
    shape(&*world.branch(Role::Remote).borrow(), false)
}

/// The remote would get nothing until the program rests, and nor would who waits for an fsync.
fn gets_all_meanwhile(mut work: impl Iterator<Item = Operation>) {
    let mut world = world();
    for _ in 0..3 {
        for operation in work.by_ref().take(4) {
            world.operate(&operation);
        }
        let before = shape(&world.reference, false);
        let pushed = push_amid(&mut world, &mut work, None).expect("files are small");
        assert!(pushed.kept.is_empty(), "{:?}", pushed.kept);
        let (now, remote) = (shape(&world.reference, false), remote(&world));
        for (path, seen) in &before {
            let Some(brought) = remote.get(path) else {
                assert!(!now.contains_key(path), "{path:?} was not brought");
                continue;
            };
            let is_mix = |write: &[u8]| write.iter().any(|byte| *byte != write[0]);
            let is_mix = brought.data.chunks(9).any(is_mix);
            assert!(!is_mix, "{path:?}: {:?}", brought.data);
            assert!(brought.data.len() >= seen.data.len(), "{path:?}");
        }
    }
    world.settle();
}

#[test]
fn a_program_that_appends_keeps_nothing_from_the_remote() {
    gets_all_meanwhile(appends());
}

#[test]
fn a_program_that_writes_over_files_keeps_nothing_from_the_remote() {
    gets_all_meanwhile(rewrites());
}

#[test]
fn a_program_that_removes_files_keeps_nothing_from_the_remote() {
    gets_all_meanwhile(removes());
}

/// What waits on the remote for another round would be taken for somebody else's, or for newer than it is.
#[test]
fn nothing_is_lost_when_the_cable_is_pulled_meanwhile() {
    for pulled_after in 0..60 {
        let mut world = world();
        for operation in rewrites().take(4) {
            world.operate(&operation);
        }
        let work = rewrites().skip(4).take(12);
        let _ = push_amid(&mut world, work, Some(pulled_after));
        world.settle();
    }
}

/// A large file would be copied once more because of each small one that is written to.
#[test]
fn what_was_copied_is_not_copied_again_for_another_file() {
    let mut world = world();
    world.operate(&Operation::Create("large".into(), false));
    world.operate(&Operation::Write("large".into(), 0, vec![1; 100_000]));
    world.operate(&write(0, 0, 9, 1));
    let work = (2..).map(|data| write(0, 0, 9, data)).take(200);
    let pushed = push_amid(&mut world, work, None).expect("files are small");
    assert!(pushed.copied_b < 101_000, "{} bytes", pushed.copied_b);
    world.settle();
}

/// A log would be copied from its begin again and again, and one that is large never be there.
#[test]
fn a_log_is_brought_as_far_as_it_was_written() {
    let mut world = world();
    world.operate(&write(0, 9, 300_000, 1));
    let work = (0..)
        .map(|line| write(0, 300_009 + line * 9, 9, 2))
        .take(200);
    let pushed = push_amid(&mut world, work, None).expect("it only grows");
    assert!(pushed.copied_b <= 300_009, "{} bytes", pushed.copied_b);
    assert_eq!(remote(&world)[&file(0)].data.len(), 300_009);
    world.settle();
}

/// All data that files have.
fn all_data(tree: &Memory) -> BTreeSet<Vec<u8>> {
    let seen = shape(tree, false).into_values();
    seen.map(|seen| seen.data).collect()
}

/// Operations on files of several blocks.
fn some() -> impl Strategy<Value = Vec<Operation>> {
    let one = operations().prop_map(|operation| operation.enlarged(BLOCKS));
    prop::collection::vec(one, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A branch would get half of what programs do meanwhile, or lack it for ever.
    #[test]
    fn a_file_is_brought_as_it_was_at_some_moment(
        (first, before, amid) in (some(), some(), some()),
        pulled_after in prop::option::of(0..60_u64),
    ) {
        let mut world = World::new(Memory::new);
        first.iter().for_each(|one| world.operate(one));
        world.fsync();
        let mut known = all_data(&world.reference);
        before.iter().for_each(|one| world.operate(one));
        let mut tree = world.reference.clone();
        known.extend(all_data(&tree));
        let _ = push_amid(&mut world, amid.iter().cloned(), pulled_after);
        for operation in amid {
            let _ = operation.on_tree(&mut tree);
            known.extend(all_data(&tree));
        }
        for (path, brought) in remote(&world) {
            prop_assert!(known.contains(&brought.data), "{} is a mix", path.display());
        }
        world.settle();
    }
}

/// Everything else would wait until a file rests that is too large to be copied on flash first.
#[test]
fn a_large_file_that_is_overwritten_keeps_nothing_else_from_the_remote() {
    let mut world = world();
    let large = || PathBuf::from("large");
    let overwrite = |data: u8| Operation::Write(large(), 0, vec![data; 9]);
    world.operate(&Operation::Create(large(), false));
    world.operate(&overwrite(0));
    world.fsync();
    world.operate(&Operation::Truncate(large(), 65 << 20));
    world.operate(&write(0, 0, 9, 1));
    let work = (1..=u8::MAX).cycle().map(overwrite);
    let pushed = push_amid(&mut world, work, None);
    assert!(
        matches!(&pushed, Err(Trouble::AllBut(path)) if *path == large()),
        "{pushed:?}"
    );
    let there = remote(&world);
    assert_eq!(there[&file(0)].data, [1; 9]);
    assert_eq!(there[&large()].data, [0; 9], "it is as it was");
    world.settle();
}
