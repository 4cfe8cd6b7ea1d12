//! What is read from branches: whatever it holds, nothing panics, and nothing wrong is taken for
//! right.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use greenfs::branch::folder::Folder;
use greenfs::branch::identity::{self, FORMAT, FORMAT_OF_PARTS};
use greenfs::journal::{checkpoint, frame, lines};
use greenfs::protocol::{Attributes, Change, Kind, Name, Node, NodeId, ROOT, Record, Role, State};
use greenfs::volume::Volume;
use proptest::prelude::*;

fn names() -> impl Strategy<Value = OsString> {
    let is_letter = |byte: &u8| !matches!(byte, 0 | b'/');
    let byte = any::<u8>().prop_filter("no name has it", is_letter);
    prop::collection::vec(byte, 1..12).prop_map(OsString::from_vec)
}

fn node(kind: Kind, names: BTreeSet<Name>, number: u64) -> Node {
    let attributes = Attributes {
        mode: 0o644,
        uid: 1000,
        gid: 1000,
        size: number,
        modified_ns: -(number as i64),
    };
    Node {
        kind,
        attributes,
        names,
        version: number,
        inode: number,
        changed_ns: number as i64,
    }
}

/// Records as a volume writes them: a root, then files and links in it that come and go.
fn records() -> impl Strategy<Value = Vec<Record>> {
    let change = (names(), names(), 2..20_u64, 0..7).prop_map(|(name, target, number, what)| {
        let names = BTreeSet::from([Name { parent: ROOT, name }]);
        let id = NodeId(number);
        match what {
            0 => Change::Nodes(vec![(id, None)]),
            1 => Change::Surveyed(Role::Remote, number, vec![id]),
            2 => Change::Push(Role::Remote),
            3 => Change::Pushed(Role::Remote),
            6 => Change::Write(id, number, number * number),
            4 => Change::Nodes(vec![(id, Some(node(Kind::Symlink(target), names, number)))]),
            _ => Change::Nodes(vec![(id, Some(node(Kind::File, names, number)))]),
        }
    });
    prop::collection::vec(change, 0..12).prop_map(|changes| {
        let root = (ROOT, Some(node(Kind::Folder, BTreeSet::new(), 1)));
        let all = [Change::Nodes(vec![root])].into_iter().chain(changes);
        let record = |(seq, change)| Record { seq, change };
        (1..).zip(all).map(record).collect()
    })
}

fn journal(records: &[Record]) -> Vec<u8> {
    let line = |record| frame::line(record).expect("it can be written");
    records.iter().flat_map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A name that is not UTF-8 would be another one after the next start.
    #[test]
    fn a_journal_is_read_as_it_was_written(records in records()) {
        let text = journal(&records);
        let lines = lines::read(&text);
        prop_assert_eq!(lines.whole_b, text.len());
        prop_assert_eq!(lines.damaged, None);
        prop_assert_eq!(lines.records, records);
    }

    /// A write that was cut is no damage, and half a record is none.
    #[test]
    fn a_journal_may_end_anywhere(records in records(), end in any::<prop::sample::Index>()) {
        let mut text = journal(&records);
        text.truncate(end.index(text.len() + 1));
        let lines = lines::read(&text);
        prop_assert_eq!(lines.damaged, None);
        prop_assert_eq!(&lines.records[..], &records[..lines.records.len()]);
        prop_assert_eq!(journal(&lines.records).len(), lines.whole_b);
        prop_assert!(text.len() - lines.whole_b < journal(&records).len() - lines.whole_b + 1);
    }

    /// A flipped bit would delete files.
    #[test]
    fn no_damage_passes_for_a_record(
        records in records(),
        at in any::<prop::sample::Index>(),
        with in 1..=255_u8,
    ) {
        let mut text = journal(&records);
        let at = at.index(text.len());
        text[at] ^= with;
        let lines = lines::read(&text);
        prop_assert!(lines.records.len() < records.len());
        prop_assert_eq!(&lines.records[..], &records[..lines.records.len()]);
    }

    #[test]
    fn a_checkpoint_is_read_as_it_was_written(records in records()) {
        let mut state = State::default();
        for mut record in records {
            record.seq = state.seq + 1;
            let before = state.clone();
            // What cannot follow, such as the end of a push that never began, changes nothing.
            if state.apply(record).is_err() {
                prop_assert_eq!(&state, &before);
            }
        }
        let text = checkpoint::written(&state).expect("it can be written");
        let is_tree = state.catalogue.check().is_ok();
        prop_assert_eq!(checkpoint::read(&text), is_tree.then_some(state));
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(lines::read(&bytes).records.is_empty());
        prop_assert_eq!(checkpoint::read(&bytes), None);
        // Also where the sum is right.
        let json = String::from_utf8_lossy(&bytes).into_owned();
        let framed = frame::line(&json).expect("it can be written");
        prop_assert!(lines::read(&framed).records.is_empty());
        prop_assert_eq!(checkpoint::read(&framed), None);
    }
}

/// Damage to the sum itself: to read it as a number takes capital letters and a sign for it.
#[test]
fn a_sum_has_one_spelling() {
    for number in 0..1000_u32 {
        let line = frame::line(&number).expect("it can be written");
        let line = line.strip_suffix(b"\n").expect("it ends there");
        assert_eq!(frame::value(line), Some(number));
        let capital = [&line[..8].to_ascii_uppercase(), &line[8..]].concat();
        let signed = [b"+", &line[1..]].concat();
        for other in [capital, signed].iter().filter(|other| *other != line) {
            assert_eq!(frame::value::<u32>(other), None);
        }
    }
}

/// A folder of its own for a test, gone at the end.
struct Place(std::path::PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("greenfs-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).expect("the folder for temporary files is writable");
        Self(place)
    }

    fn open(&self) -> Folder {
        Folder::open(&self.0).expect("it is there")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A branch of a newer version would be read by old rules, and spoiled.
#[test]
fn a_newer_format_is_refused() {
    let place = Place::new("newer");
    let flash = Volume::open(place.open(), &place.0, "v").unwrap_or_else(|fault| panic!("{fault}"));
    drop(flash);
    let file = place.0.join(".greenfs/branch.json");
    let text = std::fs::read_to_string(&file).expect("it was written");
    let newer = text.replace(
        &format!("\"format\":{FORMAT}"),
        &format!("\"format\":{},\"more\":[]", FORMAT_OF_PARTS + 1),
    );
    assert_ne!(text, newer);
    std::fs::write(&file, newer).expect("it is writable");
    let fault = identity::read(&place.open(), &place.0).expect_err("it is newer");
    let newer = format!("format {}", FORMAT_OF_PARTS + 1);
    assert!(fault.what.contains(&newer), "{fault}");
    let Err(again) = Volume::open(place.open(), Path::new("flash"), "v") else {
        panic!("it was opened");
    };
    assert_eq!(again.what, fault.what);
}

/// A folder that is kept open would get what belongs into another one of its name.
#[test]
fn a_name_stands_for_another_folder_after_a_rename_or_a_removal() {
    use greenfs::branch::store::Store;
    let place = Place::new("renamed");
    let mut branch = place.open().own_folders();
    let is_there = |path: &str| place.0.join(path).exists();
    let make = |branch: &mut Folder, folder: &str, file: &str| {
        let made = branch.make_folder(Path::new(folder), 0o700);
        made.and_then(|()| branch.create(&Path::new(folder).join(file), 0o600))
            .expect("it is writable");
        assert!(is_there(&format!("{folder}/{file}")));
    };
    make(&mut branch, "a", "first");
    make(&mut branch, "a/b", "deep");
    let renamed = branch.rename(Path::new("a"), Path::new("other"));
    renamed.expect("it is writable");
    make(&mut branch, "a", "second");
    make(&mut branch, "a/b", "deeper");
    assert!(is_there("other/first") && !is_there("other/second") && !is_there("other/b/deeper"));
    for file in ["a/b/deeper", "a/second"] {
        let file = Path::new(file);
        branch.remove_file(file).expect("it is writable");
        let folder = file.parent().expect("it has one");
        branch.remove_folder(folder).expect("it is empty");
    }
    make(&mut branch, "a", "third");
}

/// What follows the first write to a file that is kept open would be lost, or be another file's.
#[test]
fn a_file_that_is_kept_open_is_written_to_as_others_are() {
    use greenfs::branch::store::{Store, read_whole};
    let place = Place::new("kept-open");
    let mut branch = place.open();
    let (kept, other) = (Path::new("kept"), Path::new("other"));
    for file in [kept, other] {
        branch.create(file, 0o600).expect("it is writable");
    }
    branch.keep_open(kept).expect("it is there");
    for (file, offset, data) in [(kept, 0, "old"), (other, 0, "other"), (kept, 3, "er")] {
        let written = branch.write(file, offset, data.as_bytes());
        written.expect("it is writable");
    }
    branch.truncate(kept, 0).expect("it is writable");
    branch.write(kept, 0, b"new").expect("it is writable");
    for (file, data) in [(kept, "new"), (other, "other")] {
        let found = read_whole(&branch, file).expect("it is readable");
        assert_eq!(found.as_deref(), Some(data.as_bytes()));
    }
}

/// Files beyond the branch would be changed.
#[test]
fn no_symbolic_link_leads_out_of_a_branch() {
    use greenfs::branch::store::Store;
    let (inside, outside) = (Place::new("inside"), Place::new("outside"));
    std::os::unix::fs::symlink(&outside.0, inside.0.join("link")).expect("it is writable");
    let mut branch = inside.open();
    assert!(branch.create(Path::new("link/file"), 0o600).is_err());
    assert!(branch.list(Path::new("link")).is_err());
    assert_eq!(
        branch
            .look(Path::new("link/file"))
            .expect("it is not there"),
        None
    );
    assert_eq!(
        std::fs::read_dir(&outside.0).expect("it is there").count(),
        0
    );
}
