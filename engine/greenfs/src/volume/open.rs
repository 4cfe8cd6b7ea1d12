//! Beginning with what flash holds, however the last use of it ended.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use crate::branch::identity::{self, FORMAT, Identity};
use crate::branch::own;
use crate::branch::store::{Store, read_whole};
use crate::branch::walk::walk;
use crate::fault::Fault;
use crate::journal::{checkpoint, lines};
use crate::protocol::reconcile::reconcile;
use crate::protocol::{Catalogue, Change, Changes, Kind, Node, NodeId, Record, State};
use crate::volume::base::{CHECKPOINT, JOURNAL, Volume, failed};

impl<S: Store> Volume<S> {
    /// Open the volume of a flash folder. `name` is for messages; a folder that is of no volume yet
    /// becomes one of its own, with this identity.
    ///
    /// Everything on flash is looked at: what changed without a record is written down.
    ///
    /// # Errors
    /// If it is a branch of another kind or of a newer format, or cannot be read or written.
    pub fn open(mut flash: S, name: &Path, new_id: &str) -> Result<Self, Fault> {
        let identity = match identity::read(&flash, name)? {
            Some(identity) => identity,
            None => {
                let new = Identity {
                    format: FORMAT,
                    volume: new_id.to_owned(),
                    role: None,
                    at: 0,
                    whole: true,
                };
                identity::write(&mut flash, &new)
                    .map_err(|error| failed("flash cannot be written", &error, name))?;
                new
            }
        };
        check_flash(&identity, name)?;
        let state = read_state(&flash, name)?;
        let mut volume = Self {
            name: name.to_owned(),
            flash,
            id: identity.volume,
            state,
            journal_b: 0,
            checkpoint_b: 0,
            written: HashSet::new(),
            branches: BTreeMap::new(),
            away: BTreeMap::new(),
            left_out: 0,
            is_broken: false,
        };
        let begun = volume.begin();
        begun.map_err(|error| failed("flash cannot be used", &error, name))?;
        Ok(volume)
    }

    fn begin(&mut self) -> io::Result<()> {
        let journal = own(JOURNAL);
        if self.flash.look(&journal)?.is_none() {
            self.flash.create(&journal, 0o600)?;
        }
        let (changes, left_out) = changes(&self.state, &self.flash)?;
        self.left_out = left_out;
        if self.state.catalogue.nodes().is_empty() {
            // A checkpoint without a root would not be read.
            self.flash.truncate(&journal, 0)?;
            self.record(Change::Nodes(changes))?;
            return self.compact();
        }
        self.compact()?;
        if changes.is_empty() {
            return Ok(());
        }
        self.record(Change::Nodes(changes))
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
                "move the folders .greenfs of flash and of all branches aside: everything is then \
                 compared, and nothing is deleted",
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

/// The state as `open` would find it, and how many nodes changed without a record. Nothing is
/// written.
///
/// # Errors
/// As [`Volume::open`].
pub fn preview(flash: &impl Store, name: &Path) -> Result<(State, usize), Fault> {
    if let Some(identity) = identity::read(flash, name)? {
        check_flash(&identity, name)?;
    }
    let mut state = read_state(flash, name)?;
    let changes = changes(&state, flash);
    let (changes, _) = changes.map_err(|error| failed("flash cannot be read", &error, name))?;
    let is_change = |(id, now): &&(NodeId, Option<Node>)| {
        !Node::is_same_elsewhere(state.catalogue.get(*id), now.as_ref())
    };
    let count = changes.iter().filter(is_change).count();
    let seq = state.seq + 1;
    // The record follows: it cannot be refused.
    let _ = state.apply(Record {
        seq,
        change: Change::Nodes(changes),
    });
    Ok((state, count))
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

/// What changed on flash without a record, and how much there is left out.
fn changes(state: &State, flash: &impl Store) -> io::Result<(Changes, usize)> {
    let root = flash.look(Path::new(""))?;
    let root = root.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let sights = walk(flash)?;
    let others = sights.iter().filter(|(_, found)| found.kind == Kind::Other);
    Ok((reconcile(state, &root, &sights), others.count()))
}
