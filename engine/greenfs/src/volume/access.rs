//! How a synchronisation gets at flash while programs go on.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use crate::branch::store::Store;
use crate::protocol::{NodeId, Role};
use crate::volume::flash::Flash;
use crate::volume::held::{bring, complete, read_held};

/// A way to flash. What is done in `with` is done at once; between two of them everything may change.
pub trait Access<S: Store> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<S>) -> R) -> R;

    /// Make everything durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Bring all of a file to flash that is not whole there, but not from the branch `but`.
    ///
    /// # Errors
    /// If no other branch has it.
    fn complete(&mut self, id: NodeId, but: Option<Role>) -> io::Result<()>;
}

/// Without other programs.
impl<S: Store> Access<S> for &mut Flash<S> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<S>) -> R) -> R {
        act(self)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.store.sync_all()
    }

    fn complete(&mut self, id: NodeId, _: Option<Role>) -> io::Result<()> {
        Flash::complete(&mut **self, id)
    }
}

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
        self.flash.store.sync_all()
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

/// A branch that can be reached.
pub struct Branch<T> {
    pub role: Role,
    /// For messages.
    pub name: PathBuf,
    pub store: T,
}
