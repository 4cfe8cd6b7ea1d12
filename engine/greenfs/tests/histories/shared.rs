//! Histories in which programs change files through memory, too.

use proptest::prelude::*;

use crate::memory::Memory;
use crate::operation::Operation;
use crate::world::World;
use crate::{Event, happen_in_memory, with_power_cuts};

/// What programs do to one of the files.
#[derive(Clone, Debug)]
enum Deed {
    /// It is opened so that it can be changed, and there is memory of it.
    Share,
    Write(Vec<u8>),
    Change(u64, Vec<u8>),
    Close,
    /// The last that have it close it, and let go of the memory.
    Lose,
    ShareInVain,
}

#[derive(Clone, Debug)]
enum Happening {
    Event(Event),
    Deed(usize, Deed),
}

fn deeds() -> impl Strategy<Value = Deed> {
    let data = || prop::collection::vec(any::<u8>(), 1..12);
    prop_oneof![
        3 => Just(Deed::Share),
        3 => data().prop_map(Deed::Write),
        5 => (0..12_u64, data()).prop_map(|(at, data)| Deed::Change(at, data)),
        2 => Just(Deed::Close),
        2 => Just(Deed::Lose),
        2 => Just(Deed::ShareInVain),
    ]
}

fn happenings() -> impl Strategy<Value = Happening> {
    prop_oneof![
        2 => with_power_cuts().prop_map(Happening::Event),
        1 => (0..8_usize, deeds()).prop_map(|(nth, deed)| Happening::Deed(nth, deed)),
    ]
}

fn happen(world: &mut World<Memory>, happening: Happening) {
    match happening {
        Happening::Event(Event::Fsync) => world.fsync_with_memory(),
        Happening::Event(event) => happen_in_memory(world, event),
        Happening::Deed(nth, deed) => {
            let Some(path) = world.nth_file(nth) else {
                return;
            };
            match deed {
                Deed::Share => drop(world.share(&path)),
                Deed::Write(data) => world.operate(&Operation::Write(path, 0, data)),
                Deed::Change(at, data) => world.change(&path, at, &data),
                Deed::Close => world.close(&path),
                Deed::Lose => drop(world.lose(&path)),
                Deed::ShareInVain => world.share_in_vain(&path),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// What a program changed through memory would not be brought, or be brought though it was not changed.
    #[test]
    fn in_memory_that_is_shared(happenings in prop::collection::vec(happenings(), 1..80)) {
        let mut world = World::new(Memory::new);
        for happening in happenings {
            happen(&mut world, happening);
        }
        world.lose_all();
        world.settle();
        world.check_protection();
    }
}
