//! Files whose data are in a pool: what was written is read back, or an error, whatever happened to it.

#[path = "../common/mod.rs"]
mod common;
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

/// A client would get bytes that nobody wrote, or nobody would learn what to mend.
#[test]
fn what_is_damaged_is_an_error_and_named() {
    let home = home("pool-damaged");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    let data = noise(7, 400_000);
    for name in ["flipped", "gone", "recipe", "whole"] {
        write(&mut on, name, &[name.as_bytes(), &data].concat());
    }
    write(&mut on, "few", b"few");
    on.sync_all().expect("it is writable");
    let chunks = files(&home.at("pool/chunks"));
    let of = |name: &str| {
        let begins = |place: &&PathBuf| {
            fs::read(place)
                .expect("it is there")
                .starts_with(name.as_bytes())
        };
        chunks.iter().find(begins).expect("its first chunk").clone()
    };
    let (flipped, gone) = (of("flipped"), of("gone"));
    let flip = |place: &Path, at: usize| {
        let mut bytes = fs::read(place).expect("it is there");
        bytes[at] ^= 1;
        fs::write(place, bytes).expect("it is writable");
    };
    flip(&flipped, 1000);
    flip(&home.at("remote/recipe"), 60);
    flip(&home.at("remote/few"), 41);
    fs::remove_file(&gone).expect("it is there");

    drop(on);
    let on = client(&home, "remote", &pool);
    let said = |path: &str| read(&on, path).expect_err("it is damaged").to_string();
    let name = |place: &Path| {
        place
            .file_name()
            .expect("it has one")
            .to_string_lossy()
            .into_owned()
    };
    assert_eq!(
        said("flipped"),
        format!("chunk {} is damaged", name(&flipped))
    );
    assert_eq!(said("gone"), format!("chunk {} is missing", name(&gone)));
    assert!(said("recipe").contains("recipe") && said("few").contains("recipe"));
    // What is whole in the same file, and other files, can be read.
    let behind = on
        .read(Path::new("flipped"), 300_000, 9)
        .expect("it is whole");
    assert_eq!(behind, data[300_000 - 7..][..9]);
    assert_eq!(read(&on, "whole").expect("it is whole")[5..], data);
    // A client sees that this is not what it left there.
    assert_ne!(found(&on, "recipe").attributes.size, 400_006);

    let report = audit::check(&pool).expect("it can be read");
    let named: Vec<_> = report
        .damage
        .iter()
        .map(|(place, _)| place.clone())
        .collect();
    for place in ["flipped", "gone", "recipe", "few"].map(|name| home.at("remote").join(name)) {
        assert!(named.contains(&place), "{named:?}");
    }
    assert!(named.contains(&flipped) && named.len() == 5, "{named:?}");
    drop(on);
    drop(pool);
    let alone = Pool::alone(&home.at("pool"), None).expect("nobody uses it");
    let fault = audit::sweep(&alone).expect_err("it would remove what is needed");
    assert!(fault.next.contains("pool check"), "{fault}");
}

/// A chunk of zeros would be believed for ever, in the place of what several clients have.
#[test]
fn what_a_power_cut_left_is_not_believed() {
    let home = home("pool-cut");
    let data = noise(3, 200_000);
    {
        let pool = opened(&home, None);
        let mut on = client(&home, "remote", &pool);
        write(&mut on, "file", &data);
        on.make_folder(Path::new("next"), 0o700)
            .expect("nothing is there");
        // The power goes before the client asks for durability.
    }
    let fresh = files(&home.at("pool/fresh"));
    assert!(!fresh.is_empty() && files(&home.at("pool/chunks")).is_empty());
    for (nth, place) in fresh.iter().enumerate() {
        let size_b = fs::metadata(place).expect("it is there").len();
        let left = if nth == 0 {
            vec![0; size_b as usize]
        } else {
            Vec::new()
        };
        fs::write(place, left).expect("it is writable");
    }
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    assert!(read(&on, "file").is_err());
    write(&mut on, "again", &data);
    on.sync_all().expect("it is writable");
    assert_eq!(read(&on, "again").expect("it was written"), data);
    assert_eq!(read(&on, "file").expect("its chunks are there again"), data);
}

/// What a third client has just written would take the place of what two were told is safe: after a power
/// cut it would be of zeros.
#[test]
fn a_chunk_that_is_durable_stays_as_it_is() {
    let home = home("pool-stays");
    let pool = opened(&home, None);
    let data = noise(8, 5000);
    let mut both = ["remote", "disk"].map(|folder| client(&home, folder, &pool));
    for on in &mut both {
        write(on, "file", &data);
        on.make_folder(Path::new("next"), 0o700)
            .expect("nothing is there");
    }
    let fresh = files(&home.at("pool/fresh"));
    let [fresh] = &fresh[..] else {
        panic!("both have one chunk");
    };
    both[0].sync_all().expect("it is writable");
    fs::write(fresh, vec![0_u8; data.len()]).expect("it is writable");
    both[1].sync_all().expect("it is writable");
    for on in &both {
        assert_eq!(read(on, "file").expect("it is durable"), data);
    }
    assert!(!fresh.exists());
}

/// A server would take the more memory the more it is brought at once.
#[test]
fn chunks_that_are_not_durable_are_bounded() {
    let home = home("pool-bounded");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    for nth in 0..5000 {
        write(&mut on, &nth.to_string(), &noise(nth, 1100));
    }
    let fresh = files(&home.at("pool/fresh")).len();
    assert!(fresh <= 4096, "{fresh}");
    assert_eq!(read(&on, "7").expect("it is there"), noise(7, 1100));
}

/// Each of many clients would take as much memory of the server as it likes, with a file of its own.
#[test]
fn what_a_client_writes_for_itself_is_bounded() {
    let home = home("pool-scratch");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    for (name, size_b) in [("small", 1 << 20), ("large", 3 << 20)] {
        let path = Path::new(".greenfs").join(name);
        let path = path.to_str().expect("it is text");
        write(&mut on, path, &noise(size_b as u64, size_b));
        on.sync_all().expect("it is writable");
        assert_eq!(
            read(&on, path).expect("it is there"),
            noise(size_b as u64, size_b)
        );
        let recipe_b = fs::metadata(home.at("remote").join(path)).expect("it is there");
        assert!(recipe_b.len() <= (1 << 20) + 40, "{name}");
    }
    let stored_b = stored_b(&home);
    assert_eq!(stored_b, 3 << 20, "as chunks, the small one would stay");
}

/// A name that a client made would steer the terminal of who looks after the pool.
#[test]
fn names_are_spelled_out() {
    let home = home("pool-names");
    let pool = opened(&home, None);
    let name = "\u{1b}]0;owned\u{7}\nall are whole";
    let mut on = client(&home, "remote", &pool);
    write(&mut on, name, b"few");
    on.sync_all().expect("it is writable");
    fs::write(home.at("remote").join(name), "no recipe").expect("it is writable");
    drop(on);
    drop(pool);
    let check = home.greenfs("pool").args(["check", "pool"]).output();
    let said = String::from_utf8(check.expect("it was built").stdout).expect("it is text");
    assert!(
        !said.contains('\u{1b}') && !said.contains('\u{7}'),
        "{said:?}"
    );
    assert!(
        said.contains(r"\u{1b}]0;owned\u{7}\nall are whole: "),
        "{said:?}"
    );
}

/// A pool that is made in a wrong folder would remove what is there.
#[test]
fn what_is_no_chunk_is_left_alone() {
    let home = home("pool-wrong");
    fs::create_dir(home.at("pool/fresh")).expect("it is writable");
    fs::write(home.at("pool/fresh/notes"), "mine").expect("it is writable");
    opened(&home, None);
    assert!(home.at("pool/fresh/notes").exists());
}

/// Recipes would be taken for files, or files for recipes.
#[test]
fn folders_and_pools_are_told_apart() {
    let home = home("pool-apart");
    fs::write(home.at("disk/file"), "plain").expect("it is writable");
    {
        let pool = opened(&home, None);
        let fault = Tenant::served(&home.at("disk")).enter(&pool);
        let fault = fault.expect_err("its files are plain");
        assert!(fault.next.contains("empty folder"), "{fault}");
        let mut on = client(&home, "remote", &pool);
        // A file that looks like a recipe is a file.
        let recipe = {
            write(&mut on, "file", &noise(1, 5000));
            on.sync_all().expect("it is writable");
            fs::read(home.at("remote/file")).expect("it is there")
        };
        write(&mut on, "recipe", &recipe);
        on.sync_all().expect("it is writable");
        assert_eq!(read(&on, "recipe").expect("it is a file"), recipe);
        // No client makes a folder another's, or none's.
        for (from, to) in [
            (".greenfs/pool", "x"),
            ("file", ".greenfs/pool"),
            (".greenfs", "x"),
        ] {
            assert!(on.rename(Path::new(from), Path::new(to)).is_err(), "{from}");
        }
        assert!(on.remove_file(Path::new(".greenfs/pool")).is_err());
        // Who wrote a file before can replace it, and not change it: versions are links to it.
        let file = Path::new("file");
        assert!(on.write(file, 0, b"other").is_err() && on.write(file, 5000, b"more").is_err());
        assert!(on.truncate(file, 0).is_err());
        assert_eq!(read(&on, "file").expect("it stays"), noise(1, 5000));
        on.create(Path::new("holes"), 0o600)
            .expect("nothing is there");
        assert!(on.write(Path::new("holes"), 1 << 40, b"far").is_err());
    }
    let site = Site::open(&home.at("remote"), std::time::Duration::ZERO).map(drop);
    assert!(
        site.expect_err("it needs its pool")
            .to_string()
            .contains("pool")
    );

    let said = fs::read_to_string(home.at("pool/pool.json")).expect("it is there");
    let newer = said.replace("\"format\":1", "\"format\":2");
    assert_ne!(said, newer);
    fs::write(home.at("pool/pool.json"), newer).expect("it is writable");
    let fault = Pool::serve(&home.at("pool"), None).map(drop);
    let fault = fault.expect_err("nobody knows that format");
    assert!(fault.what.contains("format 2"), "{fault}");
    fs::rename(home.at("pool"), home.at("first")).expect("it is there");
    fs::create_dir(home.at("pool")).expect("it is writable");
    let other = opened(&home, None);
    let fault = Tenant::served(&home.at("remote")).enter(&other);
    let fault = fault.expect_err("it is of the first");
    assert!(fault.what.contains("of pool"), "{fault}");
    let nothing = Pool::serve(&home.at("disk"), None).map(drop);
    nothing.expect_err("it is no pool, nor empty");
}
