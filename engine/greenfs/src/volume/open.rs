//! Beginning with what flash holds, however the last use of it ended.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;

use crate::branch::identity::{self, FORMAT, Identity, VERSIONS_GO};
use crate::branch::own;
use crate::branch::store::{Store, read_whole};
use crate::branch::walk::walk;
use crate::fault::Fault;
use crate::journal::{checkpoint, lines};
use crate::protocol::compare::Sights;
use crate::protocol::dirty::Dirty;
use crate::protocol::reconcile::reconcile;
use crate::protocol::{Catalogue, Change, Changes, Kind, Name, Node, NodeId, ROOT, Record, State};
use crate::volume::flash::{CHECKPOINT, Flash, JOURNAL, OTHERS_FROM};
use crate::volume::marks::{self, Parts};
use crate::volume::trouble::failed;

impl<S: Store> Flash<S> {
    /// Open the volume of a flash folder. `name` is for messages; a folder that is of no volume yet
    /// becomes one of its own, with this identity.
    ///
    /// Everything on flash is looked at: what changed without a record is written down.
    ///
    /// # Errors
    /// If it is a branch of another kind or of a newer format, or cannot be read or written.
    pub fn open(mut flash: S, name: &Path, new_id: &str) -> Result<Self, Fault> {
        // Of a failure of before nobody may have been told. It is no matter now: all of flash is looked at.
        let _ = flash.sync_all().and(flash.sync(&own(JOURNAL)));
        let identity = match identity::read(&flash, name)? {
            Some(identity) => identity,
            None => {
                let new = Identity {
                    format: FORMAT,
                    volume: new_id.to_owned(),
                    role: None,
                    at: 0,
                    whole: true,
                    history: None,
                };
                identity::write(&mut flash, &new)
                    .map_err(|error| failed("flash cannot be written", &error, name))?;
                new
            }
        };
        check_flash(&identity, name)?;
        let state = read_state(&flash, name)?;
        let Look {
            mut changes,
            sights,
            parts,
        } = look(&state, &flash, name)?;
        let shared = still_shared(&state, &flash, &sights, &parts);
        let untold = changes.iter_mut().filter(|(id, _)| shared.contains_key(id));
        let untold = untold.filter_map(|(_, node)| node.as_mut());
        untold.for_each(|node| node.changed_ns = 0);
        let mut opened = Self {
            name: name.to_owned(),
            store: flash,
            id: identity.volume,
            state,
            journal_b: 0,
            checkpoint_b: 0,
            again_b: 0,
            why_long: None,
            durable: 0,
            written: HashSet::new(),
            unnoted: Dirty::default(),
            writing: HashMap::new(),
            shared,
            before: BTreeMap::new(),
            untellable: HashSet::new(),
            fresh: BTreeMap::new(),
            others: Catalogue::default(),
            next_other: OTHERS_FROM,
            parts,
            surveyed: BTreeSet::new(),
            is_broken: false,
        };
        let begun = opened.begin(changes, sights);
        begun.map_err(|error| failed("flash cannot be used", &error, name))?;
        Ok(opened)
    }

    fn begin(&mut self, changes: Changes, sights: Sights) -> io::Result<()> {
        let journal = own(JOURNAL);
        if self.store.look(&journal)?.is_none() {
            self.store.create(&journal, 0o600)?;
        }
        self.store.keep_open(&journal)?;
        if self.state.catalogue.nodes().is_empty() {
            // A checkpoint without a root would not be read.
            self.store.truncate(&journal, 0)?;
            self.record(Change::Nodes(changes))?;
            self.compact()?;
        } else {
            self.compact()?;
            self.record_nodes(changes)?;
        }
        self.remember_others(sights);
        self.begin_parts()
    }

    fn remember_others(&mut self, sights: Sights) {
        for (path, found) in sights {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let parent = above
                .iter()
                .try_fold(ROOT, |at, name| self.lookup(at, name));
            let Some(parent) = parent.filter(|_| found.kind == Kind::Other) else {
                continue;
            };
            let known = self.others.by_inode(found.inode);
            let mut node = known.and_then(|id| self.others.set(id, None));
            let name = Name {
                parent,
                name: name.to_owned(),
            };
            let of_one = || Node::new(found, self.state.seq);
            node.get_or_insert_with(of_one).names.insert(name);
            let id = known.unwrap_or_else(|| self.new_id(&Kind::Other));
            self.others.set(id, node);
        }
    }
}

/// The state that flash has: the checkpoint, and the records since as far as they are whole.
fn read_state(flash: &impl Store, name: &Path) -> Result<State, Fault> {
    let read = |file: &str| {
        read_whole(flash, &own(file))
            .map_err(|error| failed("flash cannot be read", &error, &name.join(own(file))))
    };
    let mut state = match read(CHECKPOINT)? {
        None => State::default(),
        Some(text) => checkpoint::read(&text).ok_or_else(|| {
            Fault::new(
                "the checkpoint is damaged",
                &name.join(own(CHECKPOINT)),
                format!(
                    "move the folders .greenfs of flash and of all branches aside: everything is \
                     then compared, and nothing is deleted; {VERSIONS_GO}"
                ),
            )
        })?,
    };
    let lines = lines::read(&read(JOURNAL)?.unwrap_or_default());
    let mut is_whole = lines.damaged.is_none();
    for record in lines.records {
        if record.seq > state.seq && state.apply(record).is_err() {
            is_whole = false;
            break;
        }
    }
    if state.catalogue.check().is_err() {
        state.catalogue = Catalogue::default();
        is_whole = false;
    }
    if !is_whole {
        // Nobody knows what the branches lack: all of each is looked at.
        state.behind.clear();
    }
    Ok(state)
}

/// What `open` would find.
pub struct Preview {
    pub state: State,
    /// How many nodes changed without a record.
    pub changed: usize,
    /// How many files are not whole on flash.
    pub parts: usize,
}

/// The state as `open` would find it. Nothing is written.
///
/// # Errors
/// As [`Flash::open`].
pub fn preview(flash: &impl Store, name: &Path) -> Result<Preview, Fault> {
    if let Some(identity) = identity::read(flash, name)? {
        check_flash(&identity, name)?;
    }
    let mut state = read_state(flash, name)?;
    let Look { changes, parts, .. } = look(&state, flash, name)?;
    let is_change = |(id, now): &&(NodeId, Option<Node>)| {
        !Node::is_same_elsewhere(state.catalogue.get(*id), now.as_ref())
    };
    let changed = changes.iter().filter(is_change).count();
    let seq = state.seq + 1;
    // The record follows: it cannot be refused.
    let _ = state.apply(Record {
        seq,
        change: Change::Nodes(changes),
    });
    let is_there = |id: &&NodeId| state.catalogue.get(**id).is_some();
    let parts = parts.keys().filter(is_there).count();
    Ok(Preview {
        state,
        changed,
        parts,
    })
}

fn check_flash(identity: &Identity, name: &Path) -> Result<(), Fault> {
    match identity.role {
        None => Ok(()),
        Some(role) => Err(Fault::new(
            format!("this folder is the {role} of a volume, not its flash"),
            name,
            "name the flash folder",
        )),
    }
}

/// What flash holds, against what is known of it.
struct Look {
    /// What changed without a record.
    changes: Changes,
    sights: Sights,
    parts: Parts,
}

fn look(state: &State, flash: &impl Store, name: &Path) -> Result<Look, Fault> {
    let unread = |error: io::Error| failed("flash cannot be read", &error, name);
    let root = flash.look(Path::new("")).map_err(unread)?;
    let root = root.ok_or_else(|| unread(io::ErrorKind::NotFound.into()))?;
    let mut sights = walk(flash).map_err(unread)?;
    let back = marks::come_back(flash, state, &sights).map_err(unread)?;
    let mut known = Cow::Borrowed(state);
    for (id, node) in back {
        // Without a name it is other than it is found: it is written down again.
        let names = BTreeSet::new();
        let catalogue = &mut known.to_mut().catalogue;
        catalogue.set(id, Some(Node { names, ..node }));
    }
    let state = known.as_ref();
    let mut parts = marks::read(flash, state).map_err(unread)?;
    marks::undisguise(state, &mut parts, &mut sights).map_err(|path| {
        Fault::new(
            "only a part of this file is on flash, and nobody knows any more which",
            &name.join(path),
            "move it aside, copy it from the remote or the disk, and begin again",
        )
    })?;
    let changes = reconcile(state, &root, &sights);
    Ok(Look {
        changes,
        sights,
        parts,
    })
}

/// Files that a program may change now, and whose time already told nothing when flash was last used: as
/// those of which somebody has memory since. Nobody has them open.
fn still_shared(
    state: &State,
    flash: &impl Store,
    sights: &Sights,
    parts: &Parts,
) -> BTreeMap<NodeId, u32> {
    let files = sights.iter().filter(|(_, found)| found.kind == Kind::File);
    let untold = files.filter_map(|(path, found)| {
        let id = state.catalogue.by_inode(found.inode)?;
        let is_told = state.catalogue.get(id)?.changed_ns != 0;
        (!is_told && !parts.contains_key(&id)).then_some((id, path))
    });
    let shared = untold.filter(|(_, path)| flash.may_be_written(path).unwrap_or(false));
    shared.map(|(id, _)| (id, 0)).collect()
}
