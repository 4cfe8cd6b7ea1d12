//! Looking at everything on a branch.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::branch::identity::{self, Identity};
use crate::branch::store::{Store, if_allowed, named};
use crate::branch::walk::walk_allowed;
use crate::branch::{carry, kept};
use crate::protocol::compare::compare;
use crate::protocol::{Catalogue, Change, Node, NodeId, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::flash::Flash;
use crate::volume::pushed::Pushed;
use crate::volume::trouble::Trouble;

/// Look at everything on a branch, keep what is not of the volume where that may be moved, and write
/// down what it lacks.
/// Nothing is done while it still has to get something: that would look like the work of others.
/// Returns whether it was done.
pub fn survey<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    pushed: &mut Pushed,
) -> Result<bool, Trouble> {
    let role = branch.role;
    let held = identity::read(&branch.store, &branch.name)
        .map_err(|fault| Trouble::Branch(io::Error::other(fault.what)))?;
    let is_new = held.is_none();
    let known_at = flash.with(|flash| flash.known_at(role, held.as_ref()));
    let new = Identity {
        history: held.and_then(|held| held.history),
        ..flash.with(|flash| flash.identity(role))
    };
    // Until it is written down what the branch lacks, it must not count as whole.
    let looked_at = Identity {
        at: known_at.unwrap_or(0),
        whole: false,
        ..new.clone()
    };
    identity::write(&mut branch.store, &looked_at).map_err(Trouble::Branch)?;
    let begun = flash.with(|flash| flash.begin_survey(role, known_at));
    let Some(Look { at, catalogue, seq }) = begun.map_err(Trouble::Flash)? else {
        return Ok(false);
    };
    let looked = carry::probe(&mut branch.store)
        .and_then(|()| look_over(&mut branch.store, &catalogue, seq, pushed));
    let lacking = looked.map_err(Trouble::Branch)?;
    // What a new branch lacks was never missing.
    pushed.mended += if is_new { 0 } else { lacking.len() };
    let written = flash.with(|flash| {
        flash.record(Change::Lacking(role, lacking))?;
        flash.surveyed.remove(&role);
        Ok(())
    });
    written
        .and_then(|()| flash.sync())
        .map_err(Trouble::Flash)?;
    let whole = Identity { at, ..new };
    identity::write(&mut branch.store, &whole).map_err(Trouble::Branch)?;
    Ok(true)
}

/// What a branch is compared with.
struct Look {
    /// The branch will be at this record.
    at: u64,
    catalogue: Catalogue,
    seq: u64,
}

impl<S: Store> Flash<S> {
    /// The record that a branch is at, if both sides agree on it.
    fn known_at(&self, role: Role, held: Option<&Identity>) -> Option<u64> {
        let behind = self.behind(role)?;
        held.is_some_and(|held| held.at == behind.at)
            .then_some(behind.at)
    }

    /// Files that are other than the branch was left with them, though size and time are the same, as
    /// after a loss of power: to look at them shows nothing.
    fn other_though_alike(&self, role: Role) -> Vec<NodeId> {
        let Some(behind) = self.behind(role) else {
            return Vec::new();
        };
        let pushing = behind.pushing.iter().flat_map(|pushing| &pushing.touched);
        let is_alike = |(id, before): &(&NodeId, &Option<Node>)| {
            let both = Option::as_ref(before).zip(self.state.catalogue.get(**id));
            both.is_some_and(|(before, now)| before.version != now.version && before.is_alike(now))
        };
        let alike = behind.touched.iter().chain(pushing).filter(is_alike);
        alike.map(|(id, _)| *id).collect()
    }

    fn begin_survey(&mut self, role: Role, known_at: Option<u64>) -> io::Result<Option<Look>> {
        self.settle()?;
        let behind = self.behind(role);
        let lacks = behind.is_some_and(|behind| !behind.touched.is_empty());
        if known_at.is_some() && lacks {
            return Ok(None);
        }
        let at = known_at.unwrap_or(self.state.seq + 1);
        let alike = self.other_though_alike(role);
        self.surveyed.insert(role);
        self.record(Change::Surveyed(role, at, alike))?;
        Ok(Some(Look {
            at,
            catalogue: self.state.catalogue.clone(),
            seq: self.state.seq,
        }))
    }
}

/// Mend what can be mended on the branch alone. Returns the nodes that it lacks.
fn look_over(
    store: &mut impl Store,
    catalogue: &Catalogue,
    seq: u64,
    pushed: &mut Pushed,
) -> io::Result<Vec<NodeId>> {
    let (sights, refused) = walk_allowed(store)?;
    let comparison = compare(catalogue, &sights);
    let strangers = &comparison.strangers;
    let is_others = |path: &Path| strangers.iter().any(|other| path.starts_with(other));
    // In a folder of the volume nobody knows then what is lacking.
    if let Some((path, error)) = refused.into_iter().find(|(path, _)| !is_others(path)) {
        return Err(named(&path)(error));
    }
    carry::prepare(store, seq, &BTreeSet::new())?;
    for path in comparison.strangers {
        match if_allowed(kept::keep(store, seq, &path, &path))? {
            Some(()) => pushed.kept.push(path),
            None => {
                pushed.left.insert(path);
            }
        }
    }
    // What is in a folder first: that may be closed then.
    for (path, id) in comparison.undressed.into_iter().rev() {
        if let Some(node) = catalogue.get(id) {
            store.dress(&path, &node.attributes)?;
            pushed.mended += 1;
        }
    }
    store.sync_all()?;
    Ok(comparison.lacking)
}
