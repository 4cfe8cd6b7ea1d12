//! Files that are left out when a branch is brought up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use greenfs::branch::store::Store;
use greenfs::protocol::{Kind, NodeId, Role};
use greenfs::volume::{self, Trouble};

use super::World;
use crate::operation::{node, shape};
use crate::parts::unveiled;

impl<S: Store> World<S> {
    /// Bring a branch all but these files, as when they are overwritten all the time; then it is away.
    pub fn push_all_but(&mut self, role: Role, paths: &[PathBuf]) {
        let Some(store) = self.volume().disconnect(role) else {
            return;
        };
        let volume = self.volume.as_mut().expect("it is open");
        let flash = &mut volume.flash;
        let mut branch = volume::Branch::new(role, role.to_string().into(), store);
        let ids = paths.iter().filter_map(|path| node(flash, path).ok());
        let is_file = |id: &NodeId| flash.node(*id).is_ok_and(|node| node.kind == Kind::File);
        branch.left = ids.filter(is_file).collect();
        let pushed = volume::push_rested(&mut &mut *flash, &mut branch, BTreeSet::new());
        let mut other = branch.left.clone();
        // Memory changes these without a word.
        other.extend(flash.closed().into_iter().chain(self.open.iter().copied()));
        let is_other = |path: &Path| node(flash, path).is_ok_and(|id| other.contains(&id));
        let there = shape(&*self.branches[&role].store.borrow(), false);
        let mut here = unveiled(&*self.flash.borrow(), &shape(&self.reference, false));
        here.retain(|path, _| !is_other(path));
        match pushed {
            Ok(pushed) => self.judge(&pushed),
            Err(Trouble::AllBut(_)) => assert!(!branch.left.is_empty()),
            Err(_) if self.life.is_over() => return self.die(),
            Err(Trouble::Absent(..)) => return,
            Err(trouble) => {
                assert!(self.branches[&role].cable.is_over(), "{trouble:?}");
                return;
            }
        }
        for (path, seen) in here.into_iter().filter(|_| !self.has_others) {
            let (kind, data) = (&seen.kind, &seen.data);
            let brought = there.get(&path).map(|seen| (&seen.kind, &seen.data));
            assert_eq!(brought, Some((kind, data)), "{path:?} on the {role}");
        }
    }
}
