//! A branch that comes back, or comes for the first time.

use std::io;
use std::path::Path;

use crate::branch::identity::{self, Identity};
use crate::branch::stage::Trouble;
use crate::branch::store::Store;
use crate::branch::walk::walk;
use crate::branch::{carry, kept, own};
use crate::fault::Fault;
use crate::protocol::compare::compare;
use crate::protocol::{Change, NodeId, Role, State};
use crate::volume::base::{Connected, JOURNAL, Volume, failed};
use crate::volume::push::Pushed;

impl<S: Store> Volume<S> {
    /// Connect a branch and bring it up. `name` is for messages.
    ///
    /// # Errors
    /// If it is of another volume or in another role, is newer than flash, or fails.
    pub fn connect(&mut self, role: Role, mut store: S, name: &Path) -> Result<Pushed, Fault> {
        let unusable =
            |error: io::Error| failed(&format!("the {role} cannot be used"), &error, name);
        let mut pushed = Pushed::default();
        let mut held = identity::read(&store, name)?;
        if let Some(identity) = &held {
            self.check(role, identity, name)?;
            let kept = carry::finish(&mut store, identity).map_err(unusable)?;
            if let Some(kept) = kept {
                pushed.kept = kept;
                held = identity::read(&store, name)?;
            }
        }
        let is_whole = held.as_ref().is_some_and(|identity| identity.whole);
        let at = held.as_ref().map_or(0, |identity| identity.at);
        let behind = self
            .behind(role)
            .map(|b| (b.at, b.pushing.as_ref().map(|p| p.to)));
        let is_known = match behind {
            Some((left_at, pushing)) if at == left_at => {
                if pushing.is_some() {
                    self.record(Change::Abandoned(role)).map_err(unusable)?;
                }
                true
            }
            Some((_, Some(to))) if at == to => {
                self.record(Change::Pushed(role)).map_err(unusable)?;
                true
            }
            Some(_) if at > self.state.seq => return Err(self.ahead(role, at, name)),
            _ => false,
        };
        let name = name.to_owned();
        self.branches.insert(role, Connected { name, store });
        self.away.remove(&role);
        if is_known {
            pushed = pushed.and(self.push(role)?);
        }
        if !(is_known && is_whole) {
            pushed = pushed.and(self.survey_and_push(role)?);
        }
        Ok(pushed)
    }

    /// Compare everything on a connected branch with flash, by names, kinds, sizes and times, and
    /// mend it. What is not of the volume is kept.
    ///
    /// # Errors
    /// As [`Volume::push`].
    pub fn check_branch(&mut self, role: Role) -> Result<Pushed, Fault> {
        let pushed = self.push(role)?;
        Ok(pushed.and(self.survey_and_push(role)?))
    }

    fn survey_and_push(&mut self, role: Role) -> Result<Pushed, Fault> {
        let mut pushed = Pushed::default();
        let surveyed = self.survey(role, &mut pushed);
        surveyed.map_err(|trouble| self.fault(role, trouble))?;
        Ok(pushed.and(self.push(role)?))
    }

    fn check(&self, role: Role, identity: &Identity, name: &Path) -> Result<(), Fault> {
        let what = if identity.volume != self.id {
            "this folder is a branch of another volume".to_owned()
        } else {
            match identity.role {
                Some(its) if its == role => return Ok(()),
                Some(its) => format!("this folder is the {its} of the volume, not its {role}"),
                None => format!("this folder is the flash of the volume, not its {role}"),
            }
        };
        Err(Fault::new(
            what,
            &name.join(own("branch.json")),
            format!(
                "name the right folder; or, to make this one the {role}, move its .greenfs aside: \
                 everything in it is then compared, and what is not on flash is kept in .greenfs/kept"
            ),
        ))
    }

    fn ahead(&self, role: Role, at: u64, name: &Path) -> Fault {
        let seq = self.state.seq;
        Fault::new(
            format!("the {role} is newer (record {at}) than flash (record {seq}): flash is a copy"),
            name,
            "use the flash that it was left with; or, to go on from this older one, move .greenfs \
             of this branch aside: everything in it is then compared, and what is not on flash is \
             kept in .greenfs/kept",
        )
    }

    /// Look at everything on a branch, keep what is not of the volume, and write down what it lacks.
    pub(super) fn survey(&mut self, role: Role, pushed: &mut Pushed) -> Result<(), Trouble> {
        self.settle().map_err(Trouble::Flash)?;
        let new = self.identity(role);
        let behind = self.state.behind.get(&role);
        let Some(connected) = self.branches.get_mut(&role) else {
            return Ok(());
        };
        let store = &mut connected.store;
        let held = identity::read(store, &connected.name)
            .map_err(|fault| Trouble::Branch(io::Error::other(fault.what)))?;
        let is_new = held.is_none();
        let behind = behind.filter(|behind| held.is_some_and(|held| held.at == behind.at));
        if behind.is_some_and(|behind| !behind.touched.is_empty()) {
            return Ok(()); // what it still has to get would look like the work of others
        }
        let known_at = behind.map(|behind| behind.at);
        // Until it is written down what the branch lacks, it must not count as whole.
        let looked_at = Identity {
            at: known_at.unwrap_or(0),
            whole: false,
            ..new.clone()
        };
        let looked = identity::write(store, &looked_at).and_then(|()| carry::probe(store));
        let looked = looked.and_then(|()| look_over(store, &self.state, pushed));
        let lacking = looked.map_err(Trouble::Branch)?;
        // What a new branch lacks was never missing.
        pushed.mended += if is_new { 0 } else { lacking.len() };
        let at = known_at.unwrap_or(self.state.seq + 1);
        let surveyed = self.record(Change::Surveyed(role, at, lacking));
        surveyed.map_err(Trouble::Flash)?;
        let journal = own(JOURNAL);
        self.flash.sync(&journal).map_err(Trouble::Flash)?;
        let Some(connected) = self.branches.get_mut(&role) else {
            return Ok(());
        };
        let whole = Identity { at, ..new };
        identity::write(&mut connected.store, &whole).map_err(Trouble::Branch)
    }
}

/// Mend what can be mended on the branch alone. Returns the nodes that it lacks.
fn look_over(
    store: &mut impl Store,
    state: &State,
    pushed: &mut Pushed,
) -> io::Result<Vec<NodeId>> {
    let comparison = compare(&state.catalogue, &walk(store)?);
    carry::prepare(store, state.seq)?;
    for path in comparison.strangers {
        kept::keep(store, state.seq, &path, &path)?;
        pushed.kept.push(path);
    }
    for (path, id) in comparison.undressed {
        if let Some(node) = state.catalogue.get(id) {
            store.dress(&path, &node.attributes)?;
            pushed.mended += 1;
        }
    }
    store.sync_all()?;
    Ok(comparison.lacking)
}

impl Pushed {
    /// What two pushes did, one after the other.
    pub(crate) fn and(mut self, then: Self) -> Self {
        self.kept.extend(then.kept);
        self.copied_b += then.copied_b;
        self.mended += then.mended;
        self
    }
}
