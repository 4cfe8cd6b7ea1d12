//! What is seen on flash while programs go on there, and what becomes of the catalogue.

use std::path::PathBuf;

use greenfs::protocol::compare::{Comparison, compare};
use greenfs::protocol::dirty::EVERYTHING;
use greenfs::protocol::reconcile::reconcile;
use greenfs::protocol::{Attributes, Change, Found, Kind, Record, Role, State};
use proptest::prelude::*;

fn found(kind: Kind, inode: u64) -> Found {
    Found {
        kind,
        attributes: Attributes {
            mode: 0o755,
            uid: 0,
            gid: 0,
            size: 0,
            modified_ns: 0,
        },
        inode,
        changed_ns: 1,
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    let kinds = [
        Kind::File,
        Kind::Folder,
        Kind::Symlink("x".into()),
        Kind::Other,
    ];
    prop::sample::select(kinds.to_vec())
}

/// Names in any order, numbers that several of them have: more than a file system ever shows.
fn sights() -> impl Strategy<Value = Vec<(PathBuf, Found)>> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.into_iter().collect());
    let sight =
        (path, kinds(), 1..8_u64).prop_map(|(path, kind, inode)| (path, found(kind, inode)));
    prop::collection::vec(sight, 0..12).prop_map(|mut sights: Vec<(PathBuf, Found)>| {
        sights.sort_by_key(|(path, _)| path.clone());
        sights.dedup_by_key(|(path, _)| path.clone());
        sights
    })
}

fn take_over(state: &mut State, sights: &Vec<(PathBuf, Found)>) {
    let changes = reconcile(state, &found(Kind::Folder, 1), sights);
    let record = Record {
        seq: state.seq + 1,
        change: Change::Nodes(changes),
    };
    state.apply(record).expect("it follows");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A checkpoint of what is no tree could not be read.
    #[test]
    fn whatever_is_seen_the_catalogue_is_a_tree(first in sights(), then in sights()) {
        let mut state = State::default();
        take_over(&mut state, &first);
        prop_assert_eq!(state.catalogue.check(), Ok(()));
        take_over(&mut state, &then);
        prop_assert_eq!(state.catalogue.check(), Ok(()));
        // Seen again, it is no change.
        let before = state.catalogue.clone();
        take_over(&mut state, &then);
        prop_assert_eq!(&state.catalogue, &before);
    }
}

/// A file that was renamed would be copied again, and its old name be a removal.
#[test]
fn what_keeps_its_number_was_moved() {
    let mut state = State::default();
    take_over(
        &mut state,
        &vec![
            ("a".into(), found(Kind::Folder, 2)),
            ("a/b".into(), found(Kind::File, 3)),
        ],
    );
    let before = state
        .catalogue
        .by_inode(3)
        .and_then(|id| Some((id, state.catalogue.get(id)?.clone())));
    let (id, before) = before.expect("it was seen");
    let moved = vec![
        ("a".into(), found(Kind::Folder, 2)),
        ("c".into(), found(Kind::File, 3)),
    ];
    take_over(&mut state, &moved);
    let after = state.catalogue.get(id).expect("it has the same identity");
    assert_eq!(after.version, before.version);
    assert_eq!(state.catalogue.path(id), Some("c".into()));
    assert_eq!(compare(&state.catalogue, &moved), Comparison::default());
}

/// A file would be left as it was whose time a program has put back, as `cp -p` and archivers do.
#[test]
fn data_that_may_have_changed_have() {
    let mut state = State::default();
    let mut file = found(Kind::File, 2);
    let mut version = |changed_ns| {
        file.changed_ns = changed_ns;
        take_over(&mut state, &vec![("a".into(), file.clone())]);
        let id = state.catalogue.by_inode(2).expect("it was seen");
        state.catalogue.get(id).expect("it is there").version
    };
    let first = version(1);
    assert_eq!(version(1), first);
    let second = version(2);
    assert_ne!(second, first, "the inode was changed");
    let third = version(0);
    assert_ne!(third, second, "it was changed just now");
    assert_ne!(version(0), third, "nobody knows");
}

/// A file that was being written to when its process ended: which bytes it wrote then is not known,
/// whatever the time of the file says. After a loss of power that may be older than its data.
#[test]
fn what_was_being_written_to_counts_as_changed() {
    let mut state = State::default();
    let sights = vec![("a".into(), found(Kind::File, 2))];
    take_over(&mut state, &sights);
    let seq = state.seq + 1;
    let change = Change::Surveyed(Role::Remote, seq, Vec::new());
    state.apply(Record { seq, change }).expect("it follows");
    let id = state.catalogue.by_inode(2).expect("it was found");
    let seq = state.seq + 1;
    let change = Change::Write(id, 0, 1);
    state.apply(Record { seq, change }).expect("it follows");
    take_over(&mut state, &sights);
    let dirty = &state.behind[&Role::Remote].dirty;
    let ranges = dirty.get(id).expect("it was written to");
    assert!(ranges.has_all(EVERYTHING));
}

/// A branch would count as having what it was brought up without.
#[test]
fn a_branch_still_lacks_what_a_push_left_out() {
    let mut state = State::default();
    take_over(&mut state, &vec![("a".into(), found(Kind::File, 2))]);
    let id = state.catalogue.by_inode(2).expect("it is there");
    let before = state.catalogue.get(id).cloned();
    for change in [
        Change::Surveyed(Role::Remote, state.seq, Vec::new()),
        Change::Write(id, 0, 4),
        Change::PushAllBut(Role::Remote, vec![id]),
        Change::Write(id, 8, 12),
        Change::Pushed(Role::Remote),
    ] {
        let seq = state.seq + 1;
        state.apply(Record { seq, change }).expect("it follows");
    }
    let behind = &state.behind[&Role::Remote];
    assert_eq!(behind.at, state.seq - 2);
    assert_eq!(behind.touched[&id], before);
    let dirty = behind.dirty.get(id).expect("it was written to");
    assert_eq!(dirty.iter().collect::<Vec<_>>(), [0..4, 8..12]);
}
