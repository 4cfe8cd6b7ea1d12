//! Files whose data are in a pool: what was written is read back, or an error, whatever happened to it.

mod apart;
mod bounds;
#[path = "../common/mod.rs"]
mod common;
mod damage;
mod sweeping;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use common::Home;
use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;
use greenfs::key;
use greenfs::net::Site;
use greenfs::pool::pooled::Pooled;
use greenfs::pool::secret::KEY_B;
use greenfs::pool::tenants::Tenant;
use greenfs::pool::{Pool, audit};
use greenfs::protocol::Found;
use proptest::prelude::*;

/// Bytes that nobody has elsewhere, the same for the same seed.
fn noise(seed: u64, size_b: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..size_b).map(|_| byte()).collect()
}

/// Folders for a pool: `remote` and `disk` are those of two clients.
fn home(name: &str) -> Home {
    let home = Home::without_mount(name);
    fs::create_dir(home.at("pool")).expect("it is writable");
    home
}

fn opened(home: &Home, key: Option<&Path>) -> Pool {
    Pool::serve(&home.at("pool"), key).expect("it can be used")
}

fn client<'a>(home: &Home, folder: &str, pool: &'a Pool) -> Pooled<'a> {
    let folder = home.at(folder);
    Tenant::served(&folder)
        .enter(pool)
        .expect("it is empty, or of this pool");
    Pooled::new(Folder::open(&folder).expect("it is there"), pool)
}

fn write(on: &mut Pooled, path: &str, data: &[u8]) {
    on.create(Path::new(path), 0o640).expect("nothing is there");
    for (nth, piece) in data.chunks(1 << 20).enumerate() {
        let written = on.write(Path::new(path), (nth as u64) << 20, piece);
        written.expect("it is writable");
    }
}

fn read(on: &Pooled, path: &str) -> io::Result<Vec<u8>> {
    on.read(Path::new(path), 0, 64 << 20)
}

fn found(on: &Pooled, path: &str) -> Found {
    let found = on.look(Path::new(path)).expect("it can be looked at");
    found.expect("it is there")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let place = entry.expect("it can be read").path();
        match place.is_dir() {
            true => files.extend(self::files(&place)),
            false => files.push(place),
        }
    }
    files
}

fn stored_b(home: &Home) -> u64 {
    let sizes = files(&home.at("pool/chunks")).into_iter();
    sizes
        .map(|file| fs::metadata(file).expect("it is there").len())
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..Default::default() })]

    /// What a client has brought in some pieces and reads in others would be another file.
    #[test]
    fn every_range_is_read_as_it_was_written(
        pieces in prop::collection::vec((any::<u64>(), 0..300_000_usize), 0..5),
        ranges in prop::collection::vec((0..1_500_000_u64, 0..400_000_usize), 4),
        is_encrypted in any::<bool>(),
        moment in 0..3,
    ) {
        let home = home("pool-ranges");
        let key = home.at("key");
        key::make::<KEY_B>(&key).expect("it is new");
        let pool = opened(&home, is_encrypted.then_some(&*key));
        let mut on = client(&home, "remote", &pool);
        let path = Path::new("file");
        let mut whole = Vec::new();
        on.create(path, 0o600).expect("nothing is there");
        for (seed, size_b) in pieces {
            let piece = noise(seed, size_b);
            on.write(path, whole.len() as u64, &piece).expect("it is writable");
            whole.extend(piece);
        }
        match moment {
            0 => (), // it is not finished
            1 => on.make_folder(Path::new("next"), 0o700).expect("nothing is there"),
            _ => on.sync_all().expect("it is writable"),
        }
        prop_assert_eq!(found(&on, "file").attributes.size, whole.len() as u64);
        for (begin, most_b) in ranges {
            let read = on.read(path, begin, most_b).expect("all is there");
            let begin = (begin as usize).min(whole.len());
            prop_assert!(read == whole[begin..(begin + most_b).min(whole.len())]);
        }
    }
}

/// What all have would be stored for each; and what one inserts would make all behind it new.
#[test]
fn what_is_common_is_there_once() {
    let home = home("pool-once");
    let pool = opened(&home, None);
    let common = noise(1, 3 << 20);
    for (folder, own) in [("remote", "mine"), ("disk", "theirs, and longer")] {
        let mut on = client(&home, folder, &pool);
        write(&mut on, "same", &common);
        write(&mut on, "other", &[own.as_bytes(), &common].concat());
        on.sync_all().expect("it is writable");
        assert_eq!(read(&on, "same").expect("all is there"), common);
        let other = read(&on, "other").expect("all is there");
        assert_eq!(other, [own.as_bytes(), &common].concat());
    }
    // Four files; the first chunk differs in two of them.
    let stored_b = stored_b(&home);
    assert!(stored_b < (3 << 20) + 2 * (256 << 10), "{stored_b}");
    let report = audit::check(&pool).expect("it can be read");
    assert_eq!(
        (report.folders, report.files, report.damage.len()),
        (2, 4, 0)
    );
    assert_eq!(report.spare, 0);
}

/// Whoever takes the disk would read the files.
#[test]
fn nothing_of_an_encrypted_file_lies_there() {
    let home = home("pool-encrypted");
    let key = home.at("key");
    key::make::<KEY_B>(&key).expect("it is new");
    assert!(key::make::<KEY_B>(&key).is_err(), "it would be lost");
    let pool = opened(&home, Some(&key));
    let mut on = client(&home, "remote", &pool);
    let line = b"the quick brown fox jumps over the lazy dog, and writes a diary\n".as_slice();
    write(&mut on, "few", line);
    write(&mut on, "many", &line.repeat(9000));
    write(&mut on, ".greenfs/plan", &line.repeat(90));
    on.sync_all().expect("it is writable");
    assert_eq!(read(&on, "many").expect("all is there"), line.repeat(9000));
    for file in files(&home.root) {
        let lies_there = fs::read(&file).expect("it is there");
        let shows = lies_there.windows(16).any(|part| part == &line[8..24]);
        assert!(!shows, "{}", file.display());
    }

    let plain = Pool::look(&home.at("pool"), None).map(drop);
    let fault = plain.expect_err("it has a key");
    assert!(fault.next.contains("--pool-key"), "{fault}");
    let other = home.at("other");
    key::make::<KEY_B>(&other).expect("it is new");
    let wrong = Pool::look(&home.at("pool"), Some(&other)).map(drop);
    let fault = wrong.expect_err("it has another key");
    assert!(fault.what.contains("another key"), "{fault}");
}
