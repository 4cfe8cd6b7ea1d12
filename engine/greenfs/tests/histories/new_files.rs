//! Files that are new to all branches: that they are written to goes without a line of the journal.

use std::ffi::OsStr;
use std::path::Path;

use greenfs::branch::store::read_whole;
use greenfs::protocol::{ROOT, Role};
use greenfs::volume::New;

use crate::memory::Memory;
use crate::operation::Operation;
use crate::world::World;

const FILE: &str = "new";

fn create() -> Operation {
    Operation::Create(FILE.into(), false)
}

fn write(at: u64, size_b: usize) -> Operation {
    let data = (0..size_b).map(|byte| (byte as u64 * 7 + at) as u8);
    Operation::Write(FILE.into(), at, data.collect())
}

fn lines(world: &World<Memory>) -> usize {
    let journal = read_whole(&*world.flash().borrow(), Path::new(".greenfs/journal"));
    let journal = journal.expect("it can be read").expect("it is there");
    journal.iter().filter(|byte| **byte == b'\n').count()
}

/// To unpack an archive would write twice as much to the journal.
#[test]
fn new_files_are_a_line_each_and_one_for_all_sizes() {
    let mut world = World::new(Memory::new);
    let before = lines(&world);
    let flash = &mut world.volume().flash;
    let new = New {
        mode: 0o600,
        owner: None,
    };
    for name in ["one", "two", "three"] {
        let id = flash.create(ROOT, OsStr::new(name), new);
        let id = id.expect("nothing is there");
        flash.write(id, 0, b"data").expect("it is in memory");
        flash.write(id, 2, b"more").expect("it is in memory");
    }
    flash
        .note_written(&flash.written())
        .expect("they are closed");
    assert_eq!(lines(&world) - before, 4, "three names, then all sizes");
}

/// A branch would keep the file as it was before its first bytes.
#[test]
fn it_is_brought_whatever_happens_meanwhile() {
    let cut = |size_b| Operation::Truncate(FILE.into(), size_b);
    let rename = || Operation::Rename(FILE.into(), "renamed".into());
    let dress = || Operation::Dress(FILE.into(), true, 3);
    for operations in [
        vec![create(), write(0, 5000)],
        vec![create(), write(0, 5000), write(10, 5)],
        vec![create(), write(0, 5000), cut(0), write(0, 5000)],
        vec![create(), cut(10), write(3, 5)],
        vec![create(), write(0, 10), dress(), write(0, 10)],
        vec![create(), write(0, 10), rename()],
    ] {
        for synced_before in 0..=operations.len() {
            for end in 0..40 {
                let mut world = World::new(Memory::new);
                let (before, after) = operations.split_at(synced_before);
                before.iter().for_each(|one| world.operate(one));
                world.fsync();
                world.go_away(Role::Disk);
                after.iter().for_each(|one| world.operate(one));
                match end % 4 {
                    0 => world.fsync(),
                    // Processes are killed amid a synchronisation, or power goes then, or before.
                    1 => world.crash(Some(end), None, None, None),
                    2 => world.crash(Some(end), Some(1 << end), None, None),
                    _ => world.crash(None, Some(u64::MAX << 32 | end), None, None),
                }
                world.settle();
            }
        }
    }
}
