//! A volume that one program drives: flash, and the branches that are connected.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::branch::store::Store;
use crate::fault::Fault;
use crate::protocol::{NodeId, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::among::Among;
use crate::volume::connect::{catch_up, check, greet};
use crate::volume::flash::Flash;
use crate::volume::push::push;
use crate::volume::pushed::Pushed;
use crate::volume::trouble::Trouble;

pub struct Volume<S> {
    pub flash: Flash<S>,
    branches: BTreeMap<Role, Branch<S>>,
    /// Why a branch that was connected no longer is.
    away: BTreeMap<Role, Fault>,
}

impl<S: Store> Volume<S> {
    /// Open the volume of a flash folder.
    ///
    /// # Errors
    /// As [`Flash::open`].
    pub fn open(flash: S, name: &Path, new_id: &str) -> Result<Self, Fault> {
        Ok(Self {
            flash: Flash::open(flash, name, new_id)?,
            branches: BTreeMap::new(),
            away: BTreeMap::new(),
        })
    }

    /// The branch in a role, if it is connected.
    pub fn branch(&self, role: Role) -> Option<&S> {
        self.branches.get(&role).map(|branch| &branch.store)
    }

    /// Let go of a branch, as when its cable is pulled or its disk sleeps.
    pub fn disconnect(&mut self, role: Role) -> Option<S> {
        self.branches.remove(&role).map(|branch| branch.store)
    }

    /// Connect a branch and bring it up.
    ///
    /// # Errors
    /// If it is of another volume or in another role, is newer than flash, or fails.
    pub fn connect(&mut self, mut branch: Branch<S>) -> Result<Pushed, Fault> {
        let role = branch.role;
        let found = greet(&mut &mut self.flash, &mut branch);
        let found = found.map_err(|trouble| trouble.fault(role, &self.flash.name, &branch.name))?;
        self.away.remove(&role);
        self.branches.insert(role, branch);
        self.with_branch(role, |among, branch| catch_up(among, branch, found))
    }

    /// Bring a connected branch up. One that fails is disconnected.
    ///
    /// # Errors
    /// If flash fails, or the branch is not connected or fails; what was begun is done later.
    pub fn push(&mut self, role: Role) -> Result<Pushed, Fault> {
        self.with_branch(role, |among, branch| push(among, branch))
    }

    /// Compare everything on a connected branch with flash, by names, kinds, sizes and times, and
    /// mend it. What is not of the volume is kept.
    ///
    /// # Errors
    /// As [`Volume::push`].
    pub fn check_branch(&mut self, role: Role) -> Result<Pushed, Fault> {
        self.with_branch(role, |among, branch| check(among, branch))
    }

    /// Bring all of a file to flash that is not whole there.
    ///
    /// # Errors
    /// If no connected branch has it.
    pub fn bring(&mut self, id: NodeId) -> io::Result<()> {
        let mut among = Among {
            flash: &mut self.flash,
            branches: &self.branches,
        };
        among.complete(id, None)
    }

    /// Do something with a connected branch, among the others.
    fn with_branch(
        &mut self,
        role: Role,
        act: impl FnOnce(&mut Among<'_, S>, &mut Branch<S>) -> Result<Pushed, Trouble>,
    ) -> Result<Pushed, Fault> {
        let Some(mut branch) = self.branches.remove(&role) else {
            return Err(self.absent(role));
        };
        let mut among = Among {
            flash: &mut self.flash,
            branches: &self.branches,
        };
        let done = act(&mut among, &mut branch);
        self.branches.insert(role, branch);
        done.map_err(|trouble| self.fault(role, trouble))
    }

    /// Why a branch is not connected.
    fn absent(&self, role: Role) -> Fault {
        let next = format!("name it with --{role}, once it can be reached");
        let absent = || Fault::new("it is not connected", Path::new(&role.to_string()), next);
        self.away.get(&role).cloned().unwrap_or_else(absent)
    }

    /// Make everything durable on flash, and on every branch that is connected. A branch that fails
    /// meanwhile is disconnected: flash has it all.
    pub fn fsync(&mut self) -> io::Result<()> {
        (&mut self.flash).sync()?;
        let roles: Vec<Role> = self.branches.keys().copied().collect();
        for role in roles {
            if let Err(fault) = self.push(role) {
                if self.branch(role).is_some() {
                    return Err(io::Error::other(fault.to_string()));
                }
            }
        }
        Ok(())
    }

    /// What a person reads of a trouble. A branch that failed is disconnected.
    fn fault(&mut self, role: Role, trouble: Trouble) -> Fault {
        let is_lost = matches!(trouble, Trouble::Branch(_));
        let branch = self.branches.get(&role);
        let name = branch.map_or(&self.flash.name, |branch| &branch.name);
        let fault = trouble.fault(role, &self.flash.name, name);
        if is_lost {
            self.branches.remove(&role);
            self.away.insert(role, fault.clone());
        }
        fault
    }
}
