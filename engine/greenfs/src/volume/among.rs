//! Flash among branches that may have what it has not.

use std::collections::BTreeMap;
use std::io;

use crate::branch::store::Store;
use crate::protocol::{NodeId, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::flash::Flash;
use crate::volume::held::{bring, complete, read_held};

/// Without other programs, and with branches that may have what flash has not.
pub(super) struct Among<'a, S> {
    pub flash: &'a mut Flash<S>,
    pub branches: &'a BTreeMap<Role, Branch<S>>,
}

impl<S: Store> Access<S> for Among<'_, S> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<S>) -> R) -> R {
        act(self.flash)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.flash.sync_all()
    }

    fn complete(&mut self, id: NodeId, but: Option<Role>) -> io::Result<()> {
        let others = self.branches.iter().filter(|(role, _)| Some(**role) != but);
        let mut brought = self.flash.complete(id);
        for (role, branch) in others {
            if brought.is_err() {
                let flash = &mut &mut *self.flash;
                let read = |held, range| read_held(&branch.store, &held, &range);
                let all = bring(flash, id, 0..u64::MAX, *role, read);
                brought = all.and_then(|()| complete(flash, id));
            }
        }
        brought
    }
}
