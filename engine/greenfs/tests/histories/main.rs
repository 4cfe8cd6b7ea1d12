//! Random histories: programs work, branches go away and come back, processes are killed, power
//! goes, others change the branches. Then everything must be where it was promised to be.
//!
//! PROPTEST_CASES sets how many histories each test tries; `.ci/nightly` tries many.

mod appending;
#[path = "../common/mod.rs"]
mod common;
mod left;
mod memory;
mod mortal;
mod mounted;
mod new_files;
mod operation;
mod overwritten;
mod parts;
mod pooled;
mod refusals;
mod room;
mod shared;
mod steady;
mod tree;
mod world;

use std::path::{Path, PathBuf};

use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;
use greenfs::pool::audit;
use greenfs::protocol::{Kind, Role};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use memory::Memory;
use mounted::Mounted;
use operation::{Operation, operations, paths};
use pooled::Place;
use world::{Luck, ROLES, World};

#[derive(Clone, Debug)]
enum Event {
    Operate(Operation),
    Fsync,
    GoAway(Role),
    ComeBack(Role),
    Check(Role),
    Kill(u64),
    PullCable(Role, u64),
    /// Some files are left out, as if they were overwritten all the time.
    PushAllBut(Role, Vec<PathBuf>),
    Crash(Option<u64>, Luck, Luck, Luck),
    /// The clocks of all branches jump by so many nanoseconds.
    Clocks(i64),
    /// A range of a file is given up, and perhaps freed.
    GiveUp(PathBuf, u64, u64, bool),
    /// It is put back, and perhaps that is written down.
    Bring(PathBuf, u64, u64, bool),
    /// Somebody else writes a file on a branch.
    OthersWrite(Role, PathBuf),
    OthersRemove(Role, PathBuf),
}

fn roles() -> impl Strategy<Value = Role> {
    prop::sample::select(&ROLES[..])
}

fn quiet_events() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => operations().prop_map(Event::Operate),
        3 => Just(Event::Fsync),
        2 => roles().prop_map(Event::GoAway),
        2 => roles().prop_map(Event::ComeBack),
        1 => roles().prop_map(Event::Check),
        2 => (0..60_u64).prop_map(Event::Kill),
        2 => (roles(), 0..40_u64).prop_map(|(role, after)| Event::PullCable(role, after)),
        2 => (roles(), prop::collection::vec(paths(), 1..4))
            .prop_map(|(role, left)| Event::PushAllBut(role, left)),
    ]
}

const YEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;

fn with_power_cuts() -> impl Strategy<Value = Event> {
    let luck = || prop::option::of(any::<u64>());
    let after = prop::option::of(0..80_u64);
    let crash = (after, luck(), luck(), luck());
    prop_oneof![
        12 => quiet_events(),
        1 => crash.prop_map(|(after, flash, remote, disk)| Event::Crash(after, flash, remote, disk)),
        1 => (-YEAR_NS..YEAR_NS).prop_map(Event::Clocks),
    ]
}

fn with_parts() -> impl Strategy<Value = Event> {
    let range = || (paths(), 0..32_u64, 0..32_u64, any::<bool>());
    prop_oneof![
        8 => with_power_cuts(),
        4 => range().prop_map(|(path, from, length, frees)| {
            Event::GiveUp(path, from, from + length, frees)
        }),
        2 => range().prop_map(|(path, from, length, saves)| {
            Event::Bring(path, from, from + length, saves)
        }),
    ]
}

fn with_others() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => quiet_events(),
        1 => (roles(), paths()).prop_map(|(role, path)| Event::OthersWrite(role, path)),
        1 => (roles(), paths()).prop_map(|(role, path)| Event::OthersRemove(role, path)),
    ]
}

fn happen<S: Store>(world: &mut World<S>, event: Event) {
    match event {
        Event::Operate(operation) => world.operate(&operation),
        Event::Fsync => world.fsync(),
        Event::GoAway(role) => world.go_away(role),
        Event::ComeBack(role) => world.come_back(role),
        Event::Check(role) => world.check(role),
        Event::Kill(after) => world.kill_after(after),
        Event::PullCable(role, after) => world.pull_cable_after(role, after),
        Event::PushAllBut(role, left) => world.push_all_but(role, &left),
        Event::GiveUp(path, from, to, frees) => world.give_up(&path, from..to, frees),
        Event::Bring(path, from, to, saves) => world.bring(&path, from..to, saves),
        Event::Crash(..) | Event::Clocks(_) | Event::OthersWrite(..) | Event::OthersRemove(..) => {
            unreachable!()
        }
    }
}

/// All files of a branch with their data, with those that were kept.
fn all_data(store: &impl Store, folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for name in store.list(folder).expect("it can be read") {
        let path = folder.join(name);
        match store.look(&path).expect("it can be read").map(|it| it.kind) {
            Some(Kind::Folder) => found.extend(all_data(store, &path)),
            Some(Kind::File) => found.push(store.read(&path, 0, 1 << 20).expect("it can be read")),
            _ => (),
        }
    }
    found
}

/// What others wrote must be on that branch for ever, in its place or kept.
fn others_lose_nothing<S: Store>(mut world: World<S>, events: Vec<Event>) {
    let mut written: Vec<(Role, Vec<u8>)> = Vec::new();
    world.has_others = true;
    for event in events {
        match event {
            Event::OthersWrite(role, path) => {
                let store = world.branch(role);
                let mut store = store.borrow_mut();
                let data = vec![written.len() as u8; 100 + written.len()];
                let is_theirs = |old: &Vec<u8>| written.iter().any(|(_, data)| data == old);
                if store
                    .read(&path, 0, 1 << 20)
                    .is_ok_and(|old| is_theirs(&old))
                {
                    continue;
                }
                let _ = store.create(&path, 0o644);
                let done = store
                    .truncate(&path, 0)
                    .and_then(|()| store.write(&path, 0, &data));
                if done.is_ok() {
                    written.push((role, data));
                }
            }
            Event::OthersRemove(role, path) => {
                let store = world.branch(role);
                let mut store = store.borrow_mut();
                let old = store.read(&path, 0, 1 << 20);
                let is_theirs = |old: Vec<u8>| written.iter().any(|(_, data)| *data == old);
                if !old.is_ok_and(is_theirs) {
                    let _ = store
                        .remove_file(&path)
                        .or_else(|_| store.remove_folder(&path));
                }
            }
            event => happen(&mut world, event),
        }
    }
    world.settle();
    for (role, data) in written {
        let there = all_data(&*world.branch(role).borrow(), Path::new(""));
        assert!(
            there.contains(&data),
            "{} bytes on the {role} are lost",
            data.len()
        );
    }
}

/// Where waiting for a disk takes no time, unless TMPDIR names a place.
fn fast() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    match std::env::var_os("TMPDIR") {
        None if memory.is_dir() => memory,
        _ => std::env::temp_dir(),
    }
}

/// Folders of this machine, gone at the end.
struct Places(PathBuf, u32);

impl Places {
    fn new() -> Self {
        let name = format!(
            "greenfs-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let root = fast().join(name);
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir(&root).expect("the folder for temporary files is writable");
        Self(root, 0)
    }

    fn empty(&mut self) -> PathBuf {
        self.1 += 1;
        let folder = self.0.join(self.1.to_string());
        std::fs::create_dir(&folder).expect("it is writable");
        folder
    }

    fn next(&mut self) -> Folder {
        Folder::open(&self.empty()).expect("it is there")
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files are so many times as large, then: of several blocks, and more than what lies in a recipe of a
/// pool. Writes begin and end within blocks, too.
const BLOCKS: usize = 1 << 10;

fn enlarged(event: Event, times: usize) -> Event {
    match event {
        Event::Operate(operation) => Event::Operate(operation.enlarged(times)),
        event => event,
    }
}

/// What happens to branches in memory, power cuts included.
fn happen_in_memory(world: &mut World<Memory>, event: Event) {
    match event {
        Event::Crash(after, flash, remote, disk) => world.crash(after, flash, remote, disk),
        Event::Clocks(by_ns) => world.set_clocks(by_ns),
        event => happen(world, event),
    }
}

/// Live through a history in memory, and check what is promised.
fn live_through(events: Vec<Event>) {
    let mut world = World::new(Memory::new);
    for event in events {
        happen_in_memory(&mut world, event);
    }
    world.settle();
    world.check_protection();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// What programs did would be undone, files come back from the dead, or branches differ.
    #[test]
    fn in_memory_with_power_cuts(events in prop::collection::vec(with_power_cuts(), 1..60)) {
        live_through(events);
    }

    /// A file would be lost of which flash has a part, or be read as zeros.
    #[test]
    fn in_memory_with_parts(events in prop::collection::vec(with_parts(), 1..80)) {
        live_through(events);
    }

    /// A branch would get less of a changed file than changed, or take what others have put there.
    #[test]
    fn in_memory_in_blocks(events in prop::collection::vec(with_power_cuts(), 1..60)) {
        live_through(events.into_iter().map(|event| enlarged(event, BLOCKS)).collect());
    }

    #[test]
    fn in_memory_in_blocks_with_others(events in prop::collection::vec(with_others(), 1..60)) {
        let events = events.into_iter().map(|event| enlarged(event, BLOCKS)).collect();
        others_lose_nothing(World::new(Memory::new), events);
    }

    /// Versions would be lost on a remote whose file system has no hard links for them.
    #[test]
    fn in_memory_without_links(events in prop::collection::vec(quiet_events(), 1..60)) {
        let mut world = World::new(|| Memory::without_links(libc::EPERM));
        for event in events {
            happen(&mut world, event);
        }
        world.settle();
    }

    /// A conflict would be silent.
    #[test]
    fn in_memory_with_others(events in prop::collection::vec(with_others(), 1..60)) {
        others_lose_nothing(World::new(Memory::new), events);
    }

    /// What holds in memory would not hold in folders.
    #[test]
    fn in_folders(events in prop::collection::vec(quiet_events(), 1..40)) {
        let mut places = Places::new();
        let mut world = World::new(|| places.next());
        for event in events {
            happen(&mut world, event);
        }
        world.settle();
    }

    /// What holds of plain files would not hold of files in a pool.
    #[test]
    fn in_a_pool(events in prop::collection::vec(quiet_events(), 1..40)) {
        let mut places = Places::new();
        let pool = pooled::pool(&places.empty());
        let mut branches = ROLES.iter();
        let mut world = World::new(|| match branches.next() {
            Some(_) => Place::pooled(&places.empty(), &pool),
            None => Place::Plain(places.next()),
        });
        for event in events {
            happen(&mut world, enlarged(event, BLOCKS));
        }
        world.settle();
        let damage = audit::check(&pool).expect("it can be read").damage;
        prop_assert!(damage.is_empty(), "{:?}", damage);
    }

    #[test]
    fn in_folders_with_others(events in prop::collection::vec(with_others(), 1..40)) {
        let mut places = Places::new();
        others_lose_nothing(World::new(|| places.next()), events);
    }
}

/// A remote may be so slow on a busy machine, and is not away.
const PATIENCE_S: &str = "120";

/// Try histories through a mount with these options.
fn try_mounted(options: &'static [&'static str], events: impl Strategy<Value = mounted::Event>) {
    let config = ProptestConfig {
        cases: mounted::cases(),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Default::default()
    };
    let events = prop::collection::vec(events, 1..60);
    // Not by `proptest!`, where PROPTEST_CASES would go before `cases`.
    let tried = TestRunner::new(config).run(&events, |events| {
        let Some(mut mounted) = Mounted::new(options) else {
            return Ok(());
        };
        for event in events {
            mounted.happen(event);
        }
        mounted.settle();
        Ok(())
    });
    tried.unwrap_or_else(|failed| panic!("{failed}"));
}

/// What was acknowledged to programs would be lost when the daemon is killed.
#[test]
fn through_a_mount_that_is_killed() {
    let killed = &["--remote", "remote", "--patience", PATIENCE_S];
    try_mounted(killed, mounted::events());
}

/// The same where flash gives up whatever it may.
#[test]
fn through_a_mount_with_a_bound() {
    let bound = &[
        "--remote",
        "remote",
        "--flash-mib",
        "0",
        "--patience",
        PATIENCE_S,
    ];
    try_mounted(bound, mounted::large_events());
}
