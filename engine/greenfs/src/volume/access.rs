//! How a synchronisation gets at flash while programs go on.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use crate::branch::store::Store;
use crate::protocol::{NodeId, Role};
use crate::volume::flash::Flash;

/// A way to flash. What is done in `with` is done at once; between two of them everything may change.
pub trait Access<S: Store> {
    fn with<R>(&mut self, act: impl FnOnce(&mut Flash<S>) -> R) -> R;

    /// Make everything durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Have the data of files written to the device of flash, so that `sync` has less to write at once and programs
    /// wait less for it. If that fails, `sync` tells.
    fn write_out(&mut self, _: impl Iterator<Item = NodeId>) {}

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
        self.sync_all()
    }

    fn complete(&mut self, id: NodeId, _: Option<Role>) -> io::Result<()> {
        Flash::complete(&mut **self, id)
    }
}

/// A branch that can be reached.
pub struct Branch<T> {
    pub role: Role,
    /// For messages.
    pub name: PathBuf,
    pub store: T,
    /// Files that the last push left out: they are overwritten all the time.
    pub left: BTreeSet<NodeId>,
}

impl<T> Branch<T> {
    pub fn new(role: Role, name: PathBuf, store: T) -> Self {
        Self {
            role,
            name,
            store,
            left: BTreeSet::new(),
        }
    }
}
