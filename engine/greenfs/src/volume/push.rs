//! Bringing a branch up to what flash holds.

use std::io;
use std::path::PathBuf;

use crate::branch::identity::{self, FORMAT, Identity};
use crate::branch::stage::{self, Trouble};
use crate::branch::store::Store;
use crate::branch::{carry, own};
use crate::fault::Fault;
use crate::protocol::{Change, NodeId, Plan, Role};
use crate::volume::base::{JOURNAL, Volume, failed};

/// Further rounds are for what the branch turned out to lack, and for files that were written to
/// while they were copied.
const ROUNDS_MOST: usize = 5;

/// What a push did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Bytes of files.
    pub copied_b: u64,
    /// What was found in the place of something else: now in `.greenfs/kept` of the branch.
    pub kept: Vec<PathBuf>,
    /// What was not there although nobody had removed it here, or was of other mode or owner.
    pub mended: usize,
}

impl<S: Store> Volume<S> {
    /// Bring a connected branch up. One that fails is disconnected.
    ///
    /// # Errors
    /// If flash fails, or the branch is not connected or fails; what was begun is done later.
    pub fn push(&mut self, role: Role) -> Result<Pushed, Fault> {
        if !self.branches.contains_key(&role) {
            let next = format!("name it with --{role}, once it can be reached");
            let absent = Fault::new(format!("the {role} is not connected"), &self.name, next);
            return Err(self.away.get(&role).cloned().unwrap_or(absent));
        }
        let pushed = self.push_rounds(role);
        pushed.map_err(|trouble| self.fault(role, trouble))
    }

    /// What a person reads of a trouble. A branch that failed is disconnected.
    pub(super) fn fault(&mut self, role: Role, trouble: Trouble) -> Fault {
        match trouble {
            Trouble::Flash(error) => failed("flash failed", &error, &self.name),
            Trouble::Branch(error) => {
                let connected = self.branches.remove(&role);
                let place = connected.map_or(self.name.clone(), |connected| connected.name);
                let fault = failed(&format!("the {role} failed"), &error, &place);
                self.away.insert(role, fault.clone());
                fault
            }
        }
    }

    fn push_rounds(&mut self, role: Role) -> Result<Pushed, Trouble> {
        let mut pushed = Pushed::default();
        for _ in 0..ROUNDS_MOST {
            self.settle().map_err(Trouble::Flash)?;
            // What a branch has must not be lost on flash.
            self.flash.sync_all().map_err(Trouble::Flash)?;
            let behind = self.behind(role);
            if behind.is_some_and(|behind| behind.touched.is_empty()) {
                return Ok(pushed);
            }
            self.record(Change::Push(role)).map_err(Trouble::Flash)?;
            let journal = own(JOURNAL);
            self.flash.sync(&journal).map_err(Trouble::Flash)?;
            self.push_once(role, &mut pushed)?;
        }
        Err(Trouble::Flash(io::Error::other(
            "files change while they are copied: let the programs end that write them",
        )))
    }

    fn push_once(&mut self, role: Role, pushed: &mut Pushed) -> Result<(), Trouble> {
        let Some(behind) = self.behind(role) else {
            return Ok(());
        };
        let to = self.state.seq;
        let plan = Plan::new(to, &self.state.catalogue, &behind.touched);
        let copied = self.stage(role, &plan)?;
        pushed.copied_b += copied.unwrap_or(0);
        if copied.is_none() {
            return self.record(Change::Abandoned(role)).map_err(Trouble::Flash);
        }
        let new = self.identity(role);
        let Some(connected) = self.branches.get_mut(&role) else {
            return Ok(());
        };
        let store = &mut connected.store;
        let unreadable = |fault: Fault| Trouble::Branch(io::Error::other(fault.what));
        let held = identity::read(store, &connected.name).map_err(unreadable)?;
        let identity = held.unwrap_or(new);
        carry::commit(store, &plan).map_err(Trouble::Branch)?;
        let kept = carry::finish(store, &identity).map_err(Trouble::Branch)?;
        pushed.kept.extend(kept.unwrap_or_default());
        let reached = identity::read(store, &connected.name).map_err(unreadable)?;
        self.record(Change::Pushed(role)).map_err(Trouble::Flash)?;
        match reached {
            Some(reached) if reached.at == to && reached.whole => Ok(()),
            _ => self.survey(role, pushed),
        }
    }

    /// Copy what the plan needs. None if a file changed meanwhile.
    fn stage(&mut self, role: Role, plan: &Plan) -> Result<Option<u64>, Trouble> {
        let Some(connected) = self.branches.get_mut(&role) else {
            return Ok(None);
        };
        carry::prepare(&mut connected.store, plan.to).map_err(Trouble::Branch)?;
        let mut copied_b = 0;
        for put in plan.copies() {
            let from = self.state.catalogue.path(put.node).unwrap_or_default();
            copied_b += stage::copy(&self.flash, &from, &mut connected.store, put)?;
        }
        let nodes: Vec<NodeId> = plan.copies().map(|put| put.node).collect();
        for node in nodes {
            if self.note_file(node).map_err(Trouble::Flash)? {
                return Ok(None);
            }
        }
        Ok(Some(copied_b))
    }

    /// What a branch of this volume says that it is.
    pub(super) fn identity(&self, role: Role) -> Identity {
        Identity {
            format: FORMAT,
            volume: self.id.clone(),
            role: Some(role),
            at: self.behind(role).map_or(0, |behind| behind.at),
            whole: true,
        }
    }
}
