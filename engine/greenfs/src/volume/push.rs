//! Bringing a branch up to what flash holds.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use crate::branch::carry;
use crate::branch::identity::{self, Span};
use crate::branch::stage;
use crate::branch::store::Store;
use crate::clock;
use crate::fault::Fault;
use crate::protocol::plan::Put;
use crate::protocol::{Change, NodeId, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::pushed::Pushed;
use crate::volume::round::{Copied, Earlier, FileState, Origin, Round};
use crate::volume::snapshots::snapshot;
use crate::volume::survey::survey;
use crate::volume::trouble::Trouble;

/// Further rounds are for what the branch turned out to lack, and for files that were written to
/// while they were copied.
const ROUNDS_MOST: usize = 5;

/// Where more files changed, as when all begins, most were written to the device long ago.
const WRITTEN_OUT_MOST: usize = 1000;

/// Bring a branch up to what flash holds now, or to what it holds a moment later.
///
/// # Errors
/// If flash or the branch fails, or a file is overwritten all the time that is too large to be copied on
/// flash first: then the branch has all but that, if that may be. What was begun is done later.
pub fn push<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<Pushed, Trouble> {
    let left = branch.left.clone();
    push_rested(flash, branch, left)
}

/// The same, but of the files that the last push left out those are left out again, if that may be, that
/// are not in `rested`, nor small enough by now to be copied on flash first.
///
/// # Errors
/// As [`push`].
pub fn push_rested<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    mut rested: BTreeSet<NodeId>,
) -> Result<Pushed, Trouble> {
    if !branch.left.is_empty() {
        let with_room = flash.with(|flash| flash.with_room(&branch.left));
        rested.extend(with_room.map_err(Trouble::Flash)?);
    }
    let pushed = rounds(flash, branch, rested);
    if pushed.is_err() {
        // The next push may be long in coming, and flash be almost full. What failed is told already.
        let _ = flash.with(|flash| flash.drop_snapshots(branch.role));
    }
    pushed
}

/// The first round shows whether those rest that are tried again.
fn rounds<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    again: BTreeSet<NodeId>,
) -> Result<Pushed, Trouble> {
    let mut pushed = Pushed::default();
    let mut earlier = Earlier {
        leave: &branch.left - &again,
        disturbed: again,
        ..Earlier::default()
    };
    for number in 1..=ROUNDS_MOST {
        if number == 2 {
            earlier.leave.clone_from(&branch.left);
        }
        let is_last = number == ROUNDS_MOST;
        let begun = flash.with(|flash| flash.begin_round(branch.role, &mut earlier, is_last));
        let Some(round) = begun.map_err(Trouble::Flash)? else {
            if earlier.left.is_empty() {
                // What a branch has must not be lost on flash.
                make_durable(flash)?;
            } else if !has_all_else(flash, branch)? {
                break;
            }
            return reached(flash, branch, earlier.left, pushed);
        };
        if stage_all(flash, branch, &round, &mut earlier, &mut pushed)? {
            let copied = round.copies().map(|(put, _)| put.node);
            flash.write_out(copied.take(WRITTEN_OUT_MOST));
            make_durable(flash)?;
            if carry_out(flash, branch, round, &mut pushed)? {
                return reached(flash, branch, earlier.left, pushed);
            }
            earlier.staged.clear();
        } else {
            let abandoned = flash.with(|flash| flash.record(Change::Abandoned(branch.role)));
            abandoned.map_err(Trouble::Flash)?;
        }
    }
    let disturbed = earlier.disturbed.iter().chain(&earlier.left);
    Err(Trouble::Busy(path_of_one(flash, disturbed)))
}

/// The branch has everything but these files.
fn reached<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    left: BTreeSet<NodeId>,
    pushed: Pushed,
) -> Result<Pushed, Trouble> {
    branch.left = left;
    match branch.left.is_empty() {
        true => Ok(pushed),
        false => Err(Trouble::AllBut(path_of_one(flash, branch.left.iter()))),
    }
}

/// Whether the branch says that it is what it was left as, and whole.
fn has_all_else<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<bool, Trouble> {
    let held = identity::read(&branch.store, &branch.name).map_err(unreadable)?;
    let at = flash.with(|flash| flash.behind(branch.role).map(|behind| behind.at));
    Ok(held.is_some_and(|held| held.whole && Some(held.at) == at))
}

fn unreadable(fault: Fault) -> Trouble {
    Trouble::Branch(io::Error::other(fault.what))
}

fn path_of_one<'a, S: Store>(
    flash: &mut impl Access<S>,
    mut ids: impl Iterator<Item = &'a NodeId>,
) -> PathBuf {
    flash
        .with(|flash| ids.find_map(|id| flash.state.catalogue.path(*id)))
        .unwrap_or_default()
}

/// Make all of flash durable, and with it the journal.
fn make_durable<S: Store>(flash: &mut impl Access<S>) -> Result<(), Trouble> {
    let record = flash.with(|flash| flash.state.seq);
    flash.sync().map_err(Trouble::Flash)?;
    flash.with(|flash| flash.note_durable(record));
    Ok(())
}

/// Copy what the plan needs. Returns whether all of it is there, as it was when the round began.
fn stage_all<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    round: &Round,
    earlier: &mut Earlier,
    pushed: &mut Pushed,
) -> Result<bool, Trouble> {
    let prepared = carry::prepare(&mut branch.store, round.plan.to, &round.staged());
    prepared.map_err(Trouble::Branch)?;
    let mut is_all = true;
    for (put, copied) in round.copies() {
        if copied.origin == Origin::Stage {
            continue;
        }
        let is_here = flash.complete(put.node, Some(branch.role));
        is_here.map_err(|error| Trouble::Absent(put.path.clone(), error))?;
        let brought = copy(flash, branch, put, copied)?;
        pushed.copied_b += brought.unwrap_or(0);
        let checked = flash.with(|flash| {
            let is_same = brought.is_some()
                && (copied.origin == Origin::Snapshot
                    || flash.is_as_begun(branch.role, put, copied)?);
            Ok((is_same, flash.shared.contains_key(&put.node)))
        });
        match checked.map_err(Trouble::Flash)? {
            (false, _) => {
                is_all = false;
                earlier.disturbed.insert(put.node);
            }
            // Memory may have changed it amid the copy: another round must not rely on that.
            (true, true) => (),
            (true, false) => {
                let state = FileState {
                    version: copied.version,
                    attributes: put.expected.attributes,
                };
                earlier.staged.insert(put.node, state);
            }
        }
    }
    Ok(is_all)
}

/// Copy a file from flash. Returns the bytes that were brought; none if it is gone, or is shorter now.
fn copy<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    to: &mut Branch<T>,
    put: &Put,
    copied: &Copied,
) -> Result<Option<u64>, Trouble> {
    let role = to.role;
    let base = copied.base.as_ref();
    let mut stage = stage::Copy::begin(&mut to.store, put, base).map_err(Trouble::Branch)?;
    loop {
        let wanted = stage.wants().map_err(Trouble::Branch)?;
        let length = (wanted.end - wanted.start) as usize;
        let piece = flash.with(|flash| {
            let from = match copied.origin {
                Origin::Snapshot => snapshot(role, put.node),
                _ => match flash.state.catalogue.path(put.node) {
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
                return Ok(brought.filter(|_| stage.has_all()));
            }
        }
    }
}

/// Returns whether the branch has all of it: nobody had taken anything away there.
fn carry_out<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    mut round: Round,
    pushed: &mut Pushed,
) -> Result<bool, Trouble> {
    let store = &mut branch.store;
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
    let ended = flash.with(|flash| flash.end_round(branch.role));
    ended.map_err(Trouble::Flash)?;
    match reached {
        Some(reached) if reached.at == round.plan.to && reached.whole => Ok(true),
        _ => survey(flash, branch, pushed).map(|_| false),
    }
}
