//! Remotes that refuse something, and what is kept there all the same.

use std::path::Path;

use greenfs::branch::identity;
use greenfs::branch::past::Past;
use greenfs::branch::store::Store;
use greenfs::protocol::{Kind, Role};

use crate::memory::Memory;
use crate::operation::{Operation, node, shape, shape_then};
use crate::world::World;

/// A remote of a plain user, where `folder/in/file` can be neither listed nor read, and when its last
/// change was.
fn closed(refused: Option<i32>) -> (World<Memory>, i64) {
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
    for (path, mode) in [("folder/in/file", 0o200), ("folder/in", 0o300)] {
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
        let (mut world, before_us) = closed(Some(refused));
        world.operate(&Operation::Rename("folder".into(), "moved".into()));
        world.fsync();
        assert!(last_us(&world) > before_us, "nothing was brought");
        check(&world, before_us, "without links");
    }
}

/// Who is killed while a version is made would leave files open to the owner that were not.
#[test]
fn modes_are_as_they_were_after_any_kill() {
    for killed_after in 0..60 {
        let (mut world, before_us) = closed(None);
        world.operate(&Operation::Rename("folder".into(), "moved".into()));
        world.kill_after(killed_after);
        world.fsync();
        world.come_back(Role::Remote);
        check(&world, before_us, &format!("killed after {killed_after}"));
    }
}

fn check(world: &World<Memory>, before_us: i64, said: &str) {
    let remote = world.branch(Role::Remote).borrow().clone();
    let remote = remote.of_plain_user(false);
    let now = shape(&remote, false);
    assert_eq!(now[Path::new("moved/in")].mode, 0o300, "{said}");
    assert_eq!(now[Path::new("moved/in/file")].mode, 0o200, "{said}");
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
