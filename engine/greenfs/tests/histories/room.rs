//! Flash that is almost full while a branch is brought up and programs go on.

use std::iter;

use greenfs::branch::own;
use greenfs::branch::store::Store;
use greenfs::volume::{self, Trouble};

use crate::memory::Memory;
use crate::operation::Operation;
use crate::steady::{amid, cabled, file, remote, rewrites, world, write};
use crate::world::World;

/// Bytes of a file that is large here.
const LARGE_B: usize = 200_000;

/// A volume whose branches lack what was done to a small file and to a large one, with so many free bytes.
fn almost_full(free_b: u64, tells_room: bool) -> World<Memory> {
    let mut world = world();
    world.operate(&write(0, 0, 9, 1));
    world.operate(&write(1, 0, LARGE_B, 1));
    let flash = world.flash();
    let mut flash = flash.borrow_mut();
    flash.room_b = Some(flash.used_b() + free_b);
    flash.tells_room = tells_room;
    drop(flash);
    world
}

fn waiting_copies(flash: &Memory) -> bool {
    let found = flash.look(&own("snapshots-remote"));
    found.expect("it can be looked at").is_some()
}

/// Disturbs the small file while it is copied, and changes the large one once that was: in the second round
/// both are to be copied anew.
fn disturbs() -> impl Iterator<Item = Operation> {
    let overwrite = (2..6).map(|data| write(0, 0, 9, data));
    overwrite.chain([write(1, 0, 9, 2)])
}

/// Fewer bytes than the large file has are free: a copy of it would fill flash, and the remote count as away.
#[test]
fn a_file_without_room_for_a_copy_is_brought_as_it_is() {
    for tells_room in [true, false] {
        let mut world = almost_full(150_000, tells_room);
        let mut branch = cabled(&world, None);
        let work = disturbs().chain((6..100).map(|data| write(0, 0, 9, data)));
        let (pushed, refused) = amid(&mut world, work, |flash| volume::push(flash, &mut branch));
        pushed.expect("there is room for a copy of the small file");
        assert!(refused.is_empty(), "{refused:?}");
        assert_eq!(
            remote(&world)[&file(1)].data[..10],
            [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]
        );
        assert!(!waiting_copies(&world.flash().borrow()));
        world.settle();
    }
}

/// A copy of the large file would fit, and programs find flash full that was not.
#[test]
fn copies_leave_room_to_programs() {
    let mut world = almost_full(300_000, true);
    let mut branch = cabled(&world, None);
    let flash = world.flash();
    let mut disturbs = disturbs();
    let mut appends = (0..5).map(|turn| write(2, 9 + turn * 28_000, 28_000, 2));
    // Before copies wait, an append would take the room that a copy of the large file needs.
    let work = iter::from_fn(|| match waiting_copies(&flash.borrow()) {
        true => appends.next(),
        false => disturbs.next(),
    });
    let (pushed, refused) = amid(&mut world, work, |flash| volume::push(flash, &mut branch));
    assert!(appends.next().is_none(), "flash was not filled");
    assert!(refused.is_empty(), "{} writes were refused", refused.len());
    pushed.expect("files are small");
    world.settle();
}

/// The remote would count as away, and nothing else be brought, until the file rests or there is room.
#[test]
fn a_file_that_is_overwritten_and_finds_no_room_keeps_nothing_else_from_the_remote() {
    for tells_room in [true, false] {
        let mut world = almost_full(150_000, tells_room);
        let mut branch = cabled(&world, None);
        let work = (2..).map(|data| write(1, 0, 9, data)).take(300);
        let (pushed, refused) = amid(&mut world, work, |flash| volume::push(flash, &mut branch));
        assert!(
            matches!(&pushed, Err(Trouble::AllBut(path)) if *path == file(1)),
            "{pushed:?}"
        );
        assert!(refused.is_empty(), "{refused:?}");
        assert_eq!(remote(&world)[&file(0)].data, [1; 9]);
        assert_eq!(remote(&world)[&file(1)].data, [0; 9], "it is as it was");
        assert!(!waiting_copies(&world.flash().borrow()));
        world.settle();
    }
}

/// Until another push, which may be long in coming, programs would find flash full.
#[test]
fn a_push_that_fails_leaves_no_copies_on_flash() {
    for pulled_after in (0..60).step_by(3) {
        let mut world = almost_full(1_000_000, true);
        let mut branch = cabled(&world, Some(pulled_after));
        let (pushed, _) = amid(&mut world, rewrites().take(40), |flash| {
            volume::push(flash, &mut branch)
        });
        assert!(
            pushed.is_ok() || !waiting_copies(&world.flash().borrow()),
            "{pulled_after}"
        );
        world.settle();
    }
}

/// However much room there is, flash must not be taken for broken, nor a branch get a mix.
#[test]
fn any_room_is_enough_for_what_programs_do() {
    for free_b in (40_000..600_000).step_by(40_000) {
        let mut world = almost_full(free_b, true);
        let mut branch = cabled(&world, None);
        let work = rewrites().take(100);
        let (pushed, refused) = amid(&mut world, work, |flash| volume::push(flash, &mut branch));
        let is_known = matches!(pushed, Ok(_) | Err(Trouble::AllBut(_) | Trouble::Busy(_)));
        assert!(is_known, "{free_b}: {pushed:?}");
        assert!(refused.is_empty(), "{free_b}: {refused:?}");
        world.settle();
    }
}
