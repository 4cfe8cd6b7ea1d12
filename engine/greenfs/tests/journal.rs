//! How long the journal grows, and what it says of many files at once.

mod common;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use common::{Home, does};
use greenfs::branch::folder::{FRESH, Folder};
use greenfs::branch::store::Store;
use greenfs::protocol::{NodeId, ROOT};
use greenfs::volume::{Flash, New};

const NEW: New = New {
    mode: 0o600,
    owner: None,
};

/// No journal is longer while there are few files. Bytes.
const LONGEST_B: u64 = 8 << 20;

/// One that is longer is begun anew when nobody waits for that. Bytes.
const LONG_B: u64 = LONGEST_B / 2;

const PAUSE: Duration = Duration::from_millis(50);

/// A long name makes a long line.
fn name(number: usize) -> String {
    format!("{number:0>200}")
}

fn opened(home: &Home) -> Flash<Folder> {
    let store = Folder::open(&home.at("flash")).expect("it is there");
    let flash = Flash::open(store, &home.at("flash"), &"0".repeat(32));
    flash.unwrap_or_else(|_| panic!("nobody else uses it"))
}

fn journal_b(home: &Home) -> u64 {
    let journal = fs::metadata(home.at("flash/.greenfs/journal"));
    journal.expect("it is there").len()
}

fn lines(home: &Home) -> usize {
    let journal = fs::read(home.at("flash/.greenfs/journal"));
    let journal = journal.expect("it is there");
    journal.iter().filter(|byte| **byte == b'\n').count()
}

/// Files that were made at once would each cost a further line a second later, while programs wait; or all
/// of them would be copied again after a crash.
#[test]
fn the_times_of_many_files_are_one_line() {
    let home = Home::without_mount("ripe");
    let mut flash = opened(&home);
    let create = |nth| flash.create(ROOT, OsStr::new(&name(nth)), NEW);
    let made: Vec<NodeId> = (0..100)
        .map(create)
        .collect::<Result<_, _>>()
        .expect("they are new");
    thread::sleep(FRESH * 2);
    flash.begin_writing(made[0], &(0..1)).expect("it is there");
    let before = lines(&home);
    let ripe = flash.ripe();
    assert_eq!(ripe, made[1..], "one is being written to");
    flash.ripen(&ripe).expect("it is writable");
    assert_eq!(lines(&home) - before, 1);
    assert_eq!(flash.ripe(), []);
    let seq = flash.state().seq;
    drop(flash);
    let flash = opened(&home);
    let changed = |id: &&NodeId| flash.node(**id).is_ok_and(|node| node.version > seq);
    assert_eq!(
        made[1..].iter().filter(changed).count(),
        0,
        "they are known"
    );
}

/// A volume that is used for long would take ever longer to be mounted.
#[test]
fn a_journal_that_grows_without_a_pause_is_begun_anew() {
    let home = Home::without_mount("long");
    let mut flash = opened(&home);
    let (mut old, mut new) = (name(0), name(1));
    flash
        .create(ROOT, OsStr::new(&old), NEW)
        .expect("nothing is there");
    let mut was_long = false;
    let mut had_b = 0;
    loop {
        let renamed = flash.rename((ROOT, OsStr::new(&old)), (ROOT, OsStr::new(&new)));
        renamed.expect("it is there");
        (old, new) = (new, old);
        was_long |= flash.has_long_journal();
        let has_b = journal_b(&home);
        assert!(has_b <= LONGEST_B, "{has_b}");
        if has_b < had_b {
            break;
        }
        had_b = has_b;
    }
    assert!(was_long, "there was time to do that while nobody waits");
    assert!(!flash.has_long_journal());
    drop(flash);
    assert!(opened(&home).lookup(ROOT, OsStr::new(&old)).is_some());
}

/// Programs would wait until all of flash is durable.
#[test]
fn a_mount_begins_it_anew_before_somebody_waits_for_that() {
    let Some(mut home) = Home::new("grows") else {
        return;
    };
    home.mount(&[]);
    let mut had_b = 0;
    for nth in 0.. {
        File::create(home.mnt(&name(nth))).expect("it is writable");
        let has_b = journal_b(&home);
        if has_b < had_b {
            break;
        }
        had_b = has_b;
    }
    assert!(had_b < LONGEST_B, "{had_b}: a program waited");
    home.kill();
    home.mount(&[]);
    assert!(home.mnt(&name(0)).exists());
    home.umount();
}

/// Who has a journal that grows finds out why before flash is full, and is told once.
#[test]
fn the_log_says_that_a_checkpoint_has_no_room() {
    let Some(mut home) = Home::new("no-room") else {
        return;
    };
    let flash = home.at("flash");
    if !does("mount", &["-t", "tmpfs", "-o", "size=16m", "none"], &flash) {
        return eprintln!("skipped: needs root to mount a small file system");
    }
    home.mount(&[]);
    // A checkpoint of so many folders is almost as long as their journal.
    let free_b = Folder::open(&flash).and_then(|store| store.free_b());
    let filler_b = free_b.expect("it is there") - LONG_B * 3 / 2;
    fs::write(home.mnt("filler"), vec![1; filler_b as usize]).expect("there is room");
    let mut paths = (0..).map(|nth| home.mnt(&name(nth)));
    let mut make = |count| {
        for path in paths.by_ref().take(count) {
            fs::create_dir(path).expect("the journal has room");
        }
    };
    let said = || {
        let log = fs::read_to_string(home.at("flash/.greenfs/log")).expect("it is there");
        log.matches("no checkpoint can take the place").count()
    };
    while said() == 0 {
        make(1);
        if journal_b(&home) > LONG_B {
            thread::sleep(PAUSE);
        }
    }
    let had_b = journal_b(&home);
    while journal_b(&home) < had_b + LONG_B / 7 {
        make(1);
    }
    for _ in 0..60 {
        make(1); // it is looked at once a second
        thread::sleep(PAUSE);
    }
    assert_eq!(said(), 1);
    fs::remove_file(home.mnt("filler")).expect("it is there");
    while journal_b(&home) > had_b {
        make(100);
        thread::sleep(PAUSE);
    }
    home.umount();
}
