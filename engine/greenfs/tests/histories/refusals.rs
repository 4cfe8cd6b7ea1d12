//! Remotes that refuse something, and what is kept there all the same.

use std::path::Path;

use greenfs::branch::identity;
use greenfs::branch::past::Past;
use greenfs::branch::store::{Store, remove_tree};
use greenfs::protocol::{Kind, Role};

use crate::memory::Memory;
use crate::operation::{Operation, node, shape, shape_then};
use crate::world::{ROLES, World};

/// `folder/in/file` can be neither listed nor read.
const UNREAD: [(&str, u32); 2] = [("folder/in/file", 0o200), ("folder/in", 0o300)];

/// `folder/in/file` cannot be listed.
const UNLISTED: [(&str, u32); 2] = [("folder/in/file", 0o400), ("folder/in", 0o300)];

/// Nothing is let into the folders.
const CLOSED: [(&str, u32); 2] = [("folder/in", 0), ("folder", 0)];

/// A remote of a plain user, where `folder/in/file` and its folders have modes, and when its last
/// change was.
fn closed(refused: Option<i32>, modes: &[(&str, u32)]) -> (World<Memory>, i64) {
    let memory = refused.map_or_else(Memory::new, Memory::without_links);
    // The branches are made first, flash last.
    let mut made = 0;
    let mut world = World::new(|| {
        made += 1;
        memory.clone().of_plain_user(made < 3)
    });
    world.has_others = true;
    let path = |path: &str| Path::new(path).to_owned();
    for operation in [
        Operation::Folder(path("folder"), false),
        Operation::Folder(path("folder/in"), false),
        Operation::Create(path("folder/in/file"), false),
        Operation::Write(path("folder/in/file"), 0, b"data".to_vec()),
    ] {
        world.operate(&operation);
    }
    world.fsync();
    for &(path, mode) in modes {
        let flash = &mut world.volume().flash;
        let id = node(flash, Path::new(path)).expect("it is there");
        let mut attributes = flash.node(id).expect("it is there").attributes;
        attributes.mode = mode;
        flash.dress(id, &attributes).expect("it is in memory");
        let reference = &mut world.reference;
        reference
            .dress(Path::new(path), &attributes)
            .expect("it is in memory");
    }
    world.fsync();
    let last_us = last_us(&world);
    (world, last_us)
}

fn last_us(world: &World<Memory>) -> i64 {
    let remote = world.branch(Role::Remote);
    let identity = identity::read(&*remote.borrow(), Path::new("remote"));
    let history = identity.expect("it is ours").and_then(|its| its.history);
    history.expect("something was brought").last_us
}

/// The push would fail for ever, or the version would be lost.
#[test]
fn a_further_name_may_be_refused_in_many_ways() {
    for refused in [
        libc::EPERM,
        libc::EACCES,
        libc::EXDEV,
        libc::EINVAL,
        libc::ENOTTY,
    ] {
        let (mut world, before_us) = closed(Some(refused), &UNREAD);
        world.operate(&Operation::Rename("folder".into(), "moved".into()));
        world.fsync();
        assert!(last_us(&world) > before_us, "nothing was brought");
        check(&world, &UNREAD, before_us, "without links");
    }
}

/// Who is killed while a version is made would leave files open to the owner that were not.
#[test]
fn modes_are_as_they_were_after_any_kill() {
    for killed_after in 0..60 {
        let (mut world, before_us) = closed(None, &UNREAD);
        world.operate(&Operation::Rename("folder".into(), "moved".into()));
        world.kill_after(killed_after);
        world.fsync();
        world.come_back(Role::Remote);
        check(
            &world,
            &UNREAD,
            before_us,
            &format!("killed after {killed_after}"),
        );
    }
}

/// Who clears what looks like a leftover would stop all that comes after.
#[test]
fn a_plan_goes_on_without_its_stage() {
    for pulled_after in 0..60 {
        let (mut world, before_us) = closed(Some(libc::EPERM), &UNLISTED);
        world.operate(&Operation::Rename("folder".into(), "moved".into()));
        world.pull_cable_after(Role::Remote, pulled_after);
        world.fsync();
        let remote = world.branch(Role::Remote);
        let cleared = remove_tree(&mut *remote.borrow_mut(), Path::new(".greenfs/stage"));
        cleared.expect("it is ours");
        world.come_back(Role::Remote);
        check(
            &world,
            &UNLISTED,
            before_us,
            &format!("pulled after {pulled_after}"),
        );
    }
}

/// What changes in a folder that was brought closed would never be brought, or the folder stay open.
#[test]
fn closed_folders_are_opened_and_closed_again() {
    for killed_after in 0..80 {
        let (mut world, before_us) = closed(None, &CLOSED);
        world.operate(&Operation::Rename("folder/in/file".into(), "file".into()));
        world.operate(&Operation::Create("folder/in/new".into(), false));
        world.kill_after(killed_after);
        world.fsync();
        let said = format!("killed after {killed_after}");
        for role in ROLES {
            world.come_back(role);
            let branch = world.branch(role).borrow().clone();
            let now = shape(&branch.of_plain_user(false), true);
            assert_eq!(now, shape(&*world.flash().borrow(), true), "{said}");
            for (path, mode) in CLOSED {
                assert_eq!(now[Path::new(path)].mode, mode, "{said}");
            }
        }
        let remote = world.branch(Role::Remote).borrow().clone();
        let past = Past {
            branch: &remote.of_plain_user(false),
            at_us: before_us,
        };
        let file = &shape_then(&past)[Path::new("folder/in/file")];
        assert_eq!(file, &(Kind::File, b"data".to_vec()), "{said}");
    }
}

/// What was in `folder` is in `moved`, with these modes, and was in `folder` then.
fn check(world: &World<Memory>, modes: &[(&str, u32)], before_us: i64, said: &str) {
    let remote = world.branch(Role::Remote).borrow().clone();
    let remote = remote.of_plain_user(false);
    let now = shape(&remote, false);
    for (path, mode) in modes {
        let moved = path.replace("folder", "moved");
        assert_eq!(now[Path::new(&moved)].mode, *mode, "{path} {said}");
    }
    let past = Past {
        branch: &remote,
        at_us: before_us,
    };
    let then = shape_then(&past);
    let file = &then[Path::new("folder/in/file")];
    assert_eq!(file, &(Kind::File, b"data".to_vec()), "{said}");
    let folder = past.find(Path::new("folder/in")).expect("it can be read");
    let mode = folder.map(|folder| folder.attributes.mode);
    assert_eq!(mode, Some(0o300), "{said}");
}
