//! A program that appends to a file all the time, also while the file is copied.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use greenfs::branch::store::{Store, read_whole};
use greenfs::protocol::{NodeId, Role};
use greenfs::volume::{self, Access, Flash};

use crate::memory::Memory;
use crate::mortal::{Life, Mortal};
use crate::operation::{Operation, node};
use crate::world::World;

const FILE: &str = "log";

/// Flash, where something is appended whenever nobody looks.
struct Appended<'a> {
    flash: &'a mut Flash<Mortal<Memory>>,
    store: Rc<RefCell<Memory>>,
}

impl Access<Mortal<Memory>> for Appended<'_> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<Mortal<Memory>>) -> R) -> R {
        let done = act(self.flash);
        append(&mut self.store.borrow_mut());
        done
    }

    fn sync(&mut self) -> io::Result<()> {
        self.store.borrow_mut().sync_all()
    }

    fn complete(&mut self, _: NodeId, _: Option<Role>) -> io::Result<()> {
        Ok(())
    }
}

fn data(store: &Memory) -> Vec<u8> {
    let data = read_whole(store, Path::new(FILE)).expect("it can be read");
    data.expect("it is there")
}

fn append(store: &mut Memory) {
    let size_b = data(store).len() as u64;
    let appended = store.write(Path::new(FILE), size_b, b"one more line\n");
    appended.expect("it is in memory");
}

/// The branch would have another size than is expected there: what is ours would pass for somebody
/// else's, and be kept.
#[test]
fn what_is_appended_meanwhile_is_nobody_elses() {
    let mut world = World::new(Memory::new);
    world.operate(&Operation::Create(FILE.into(), false));
    world.fsync();
    let (store, remote) = (world.flash(), world.branch(Role::Remote));
    let there = Mortal {
        inner: remote,
        life: Life::default(),
        cable: Life::default(),
    };
    let mut branch = volume::Branch::new(Role::Remote, "remote".into(), there);
    let flash = &mut world.volume().flash;
    let id = node(flash, Path::new(FILE)).expect("it was made");
    let range = 0..u64::MAX;
    let begun = flash.begin_writing(id, &range);
    begun.expect("flash is there");
    append(&mut store.borrow_mut());
    let mut access = Appended {
        flash,
        store: Rc::clone(&store),
    };
    let pushed = volume::push(&mut access, &mut branch).expect("both are there");
    assert!(pushed.kept.is_empty(), "{:?}", pushed.kept);
    let ended = access.flash.end_writing(id, &range);
    ended.expect("flash is there");
    let written = world
        .reference
        .write(Path::new(FILE), 0, &data(&store.borrow()));
    written.expect("it is in memory");
    world.settle();
}
