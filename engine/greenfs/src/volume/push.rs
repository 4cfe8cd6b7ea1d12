//! Bringing a branch up to what flash holds.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::carry;
use crate::branch::identity::{self, FORMAT, Identity, Span};
use crate::branch::own;
use crate::branch::stage::{self, Base};
use crate::branch::store::{Store, copy_within, ensure_folder, remove_tree};
use crate::clock;
use crate::fault::Fault;
use crate::protocol::catalogue::path;
use crate::protocol::plan::Put;
use crate::protocol::{Behind, Catalogue, Change, NodeId, Plan, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::flash::Flash;
use crate::volume::pushed::Pushed;
use crate::volume::survey::survey;
use crate::volume::trouble::Trouble;

/// Further rounds are for what the branch turned out to lack, and for files that were written to
/// while they were copied.
const ROUNDS_MOST: usize = 5;

/// A file that was written to while it was copied is copied on flash first, while writes wait, if
/// it is not larger. Bytes.
const SNAPSHOT_MOST_B: u64 = 64 << 20;

/// What a round has to do.
struct Round {
    plan: Plan,
    /// The files that are copied, in the order of the plan.
    copies: Vec<Copied>,
    snapshots: BTreeSet<NodeId>,
    /// What the branch is, if it does not say so itself.
    identity: Identity,
}

/// A file that is copied.
struct Copied {
    version: u64,
    /// What the branch has of it.
    base: Option<Base>,
}

/// Bring a branch up.
///
/// # Errors
/// If flash or the branch fails, or a large file is written to all the time; what was begun is done
/// later.
pub fn push<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<Pushed, Trouble> {
    let mut pushed = Pushed::default();
    let mut busy = BTreeSet::new();
    for _ in 0..ROUNDS_MOST {
        let begun = flash.with(|flash| flash.begin_push(branch.role, &busy));
        let Some(round) = begun.map_err(Trouble::Flash)? else {
            // What a branch has must not be lost on flash.
            make_durable(flash)?;
            return Ok(pushed);
        };
        let changed = stage_all(flash, branch, &round, &mut pushed)?;
        if changed.is_empty() {
            make_durable(flash)?;
            carry_out(flash, branch, round, &mut pushed)?;
        } else {
            busy.extend(changed);
            let abandoned = flash.with(|flash| flash.record(Change::Abandoned(branch.role)));
            abandoned.map_err(Trouble::Flash)?;
        }
    }
    let named = flash.with(|flash| {
        let catalogue = &flash.state.catalogue;
        busy.iter().find_map(|id| catalogue.path(*id))
    });
    Err(Trouble::Busy(named.unwrap_or_default()))
}

/// Make all of flash durable, and with it the journal.
fn make_durable<S: Store>(flash: &mut impl Access<S>) -> Result<(), Trouble> {
    let record = flash.with(|flash| flash.state.seq);
    flash.sync().map_err(Trouble::Flash)?;
    flash.with(|flash| flash.note_durable(record));
    Ok(())
}

/// Copy what the plan needs. Returns the files that changed meanwhile.
fn stage_all<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    round: &Round,
    pushed: &mut Pushed,
) -> Result<Vec<NodeId>, Trouble> {
    carry::prepare(&mut branch.store, round.plan.to).map_err(Trouble::Branch)?;
    let mut changed = Vec::new();
    for (put, Copied { version, base }) in round.plan.copies().zip(&round.copies) {
        let is_snapshot = round.snapshots.contains(&put.node);
        let is_here = flash.complete(put.node, Some(branch.role));
        is_here.map_err(|error| Trouble::Absent(put.path.clone(), error))?;
        let copied = copy(flash, branch, (put, base.as_ref()), is_snapshot)?;
        pushed.copied_b += copied.unwrap_or(0);
        let is_same = is_snapshot
            || copied.is_some()
                && flash
                    .with(|flash| flash.is_version(put.node, *version))
                    .map_err(Trouble::Flash)?;
        if !is_same {
            changed.push(put.node);
        }
    }
    Ok(changed)
}

/// Copy a file from flash. Returns the bytes that were brought; none if it is gone.
fn copy<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    to: &mut Branch<T>,
    (put, base): (&Put, Option<&Base>),
    is_snapshot: bool,
) -> Result<Option<u64>, Trouble> {
    let role = to.role;
    let mut stage = stage::Copy::begin(&mut to.store, put, base).map_err(Trouble::Branch)?;
    loop {
        let wanted = stage.wants().map_err(Trouble::Branch)?;
        let length = (wanted.end - wanted.start) as usize;
        let piece = flash.with(|flash| {
            let catalogued = || flash.state.catalogue.path(put.node);
            let from = match is_snapshot {
                true => snapshots(role).join(put.node.0.to_string()),
                false => match catalogued() {
                    Some(path) => path,
                    None => return Ok(None),
                },
            };
            flash.store.read(&from, wanted.start, length).map(Some)
        });
        let Some(piece) = piece.map_err(Trouble::Flash)? else {
            return Ok(None);
        };
        stage.add(&piece).map_err(Trouble::Branch)?;
        if piece.len() < length || stage.has_all() {
            let brought = stage.end().map_err(Trouble::Branch)?;
            if brought.is_some() {
                return Ok(brought);
            }
        }
    }
}

fn carry_out<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    mut round: Round,
    pushed: &mut Pushed,
) -> Result<(), Trouble> {
    let store = &mut branch.store;
    let unreadable = |fault: Fault| Trouble::Branch(io::Error::other(fault.what));
    let held = identity::read(store, &branch.name).map_err(unreadable)?;
    let identity = held.as_ref().unwrap_or(&round.identity);
    if branch.role == Role::Remote {
        let now_us = Span::next(identity.history, clock::now_us());
        round.plan.history_us = Some(now_us);
    }
    carry::commit(store, &round.plan).map_err(Trouble::Branch)?;
    let kept = carry::finish(store, identity).map_err(Trouble::Branch)?;
    pushed.kept.extend(kept.unwrap_or_default());
    let reached = identity::read(store, &branch.name).map_err(unreadable)?;
    let recorded = flash.with(|flash| flash.record(Change::Pushed(branch.role)));
    recorded.map_err(Trouble::Flash)?;
    match reached {
        Some(reached) if reached.at == round.plan.to && reached.whole => Ok(()),
        _ => survey(flash, branch, pushed).map(drop),
    }
}

/// The version of a file that a branch has, if it is known what of it may be other.
fn base(catalogue: &Catalogue, behind: &Behind, id: NodeId) -> Option<Base> {
    let then = |id: NodeId| match behind.touched.get(&id) {
        Some(before) => before.as_ref(),
        None => catalogue.get(id),
    };
    let (before, dirty) = (then(id)?, behind.dirty.get(id)?);
    Some(Base {
        path: path(before.names.first()?, then)?,
        expected: before.expected(),
        dirty: dirty.clone(),
    })
}

/// Where copies on flash wait.
fn snapshots(role: Role) -> PathBuf {
    own(format!("snapshots-{role}"))
}

impl<S: Store> Flash<S> {
    /// Make the plan for a branch, if it lacks anything.
    fn begin_push(&mut self, role: Role, busy: &BTreeSet<NodeId>) -> io::Result<Option<Round>> {
        self.settle()?;
        let folder = snapshots(role);
        remove_tree(&mut self.store, &folder)?;
        if self.has_all(role) {
            return Ok(None);
        }
        self.record(Change::Push(role))?;
        let Some(behind) = self.behind(role) else {
            return Ok(None);
        };
        let catalogue = &self.state.catalogue;
        let plan = Plan::new(self.state.seq, catalogue, &behind.touched);
        let copied = |put: &Put| Copied {
            version: catalogue.get(put.node).map_or(0, |node| node.version),
            base: base(catalogue, behind, put.node),
        };
        let copies = plan.copies().map(copied).collect();
        let is_small = |put: &&Put| put.expected.attributes.size <= SNAPSHOT_MOST_B;
        let changed = plan.copies().filter(|put| busy.contains(&put.node));
        let snapshots: BTreeSet<_> = changed.filter(is_small).map(|put| put.node).collect();
        for id in &snapshots {
            self.take_snapshot(*id, &folder)?;
        }
        Ok(Some(Round {
            plan,
            copies,
            snapshots,
            identity: self.identity(role),
        }))
    }

    fn take_snapshot(&mut self, id: NodeId, folder: &Path) -> io::Result<()> {
        let from = self.state.catalogue.path(id).unwrap_or_default();
        let to = folder.join(id.0.to_string());
        ensure_folder(&mut self.store, folder)?;
        copy_within(&mut self.store, &from, &to)
    }

    /// Whether a file still has the data that it had, as far as anything says that.
    fn is_version(&mut self, id: NodeId, version: u64) -> io::Result<bool> {
        if self.is_at_work(id) || self.note_file(id)? {
            return Ok(false);
        }
        let node = self.state.catalogue.get(id);
        Ok(node.is_some_and(|node| node.version == version))
    }

    /// What a branch of this volume says that it is.
    pub(super) fn identity(&self, role: Role) -> Identity {
        Identity {
            format: FORMAT,
            volume: self.id.clone(),
            role: Some(role),
            at: self.behind(role).map_or(0, |behind| behind.at),
            whole: true,
            history: None,
        }
    }
}
