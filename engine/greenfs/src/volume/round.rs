//! One round of bringing a branch up: what it does, and where it takes each file from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::branch::identity::{FORMAT, Identity};
use crate::branch::stage::Base;
use crate::branch::store::Store;
use crate::protocol::behind::Touched;
use crate::protocol::catalogue::path;
use crate::protocol::plan::Put;
use crate::protocol::{Attributes, Behind, Catalogue, Change, Name, Node, NodeId, Plan, Role};
use crate::ranges::Ranges;
use crate::volume::flash::Flash;

/// A larger file is not copied on flash while writes wait; nor are more bytes of files that nobody wrote to
/// while they were copied. Bytes.
pub(super) const SNAPSHOTS_MOST_B: u64 = 64 << 20;

/// What a round has to do.
pub(super) struct Round {
    pub plan: Plan,
    /// The files that must be copied, in the order of the plan.
    pub copies: Vec<Copied>,
    /// What the branch is, if it does not say so itself.
    pub identity: Identity,
}

/// A file that must be copied.
pub(super) struct Copied {
    pub version: u64,
    /// What the branch has of it.
    pub base: Option<Base>,
    pub origin: Origin,
    /// A write to it had begun when the round began, and had not ended.
    pub is_amid_write: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Flash, where programs go on: they may disturb the copy.
    Flash,
    /// A copy on flash that was made while they waited.
    Snapshot,
    /// It waits on the branch since an earlier round.
    Stage,
}

/// A file as it was when it was copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState {
    pub version: u64,
    pub attributes: Attributes,
}

impl FileState {
    fn of(node: &Node) -> Self {
        Self {
            version: node.version,
            attributes: node.attributes,
        }
    }
}

/// What the earlier rounds came to.
#[derive(Default)]
pub(super) struct Earlier {
    /// Files that wait on the branch, in this state.
    pub staged: BTreeMap<NodeId, FileState>,
    /// Files that were written to while they were copied.
    pub disturbed: BTreeSet<NodeId>,
    /// Those of them that could not be copied on flash first.
    pub without_copy: BTreeSet<NodeId>,
    /// Files to leave out, if that may be.
    pub leave: BTreeSet<NodeId>,
    /// Files that the latest round leaves out.
    pub left: BTreeSet<NodeId>,
}

impl Round {
    pub fn copies(&self) -> impl Iterator<Item = (&Put, &Copied)> {
        self.plan.copies().zip(&self.copies)
    }

    /// The files that wait on the branch already.
    pub fn staged(&self) -> BTreeSet<NodeId> {
        let copies = self.copies();
        let staged = copies.filter(|(_, copied)| copied.origin == Origin::Stage);
        staged.map(|(put, _)| put.node).collect()
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

impl<S: Store> Flash<S> {
    /// Make the plan for a branch; none if it lacks nothing but `earlier.left`. `is_last` leaves out what
    /// was disturbed and cannot be copied on flash first.
    pub(super) fn begin_round(
        &mut self,
        role: Role,
        earlier: &mut Earlier,
        is_last: bool,
    ) -> io::Result<Option<Round>> {
        self.settle()?;
        self.drop_snapshots(role)?;
        earlier.left.clear();
        if self.has_all(role) {
            return Ok(None);
        }
        self.forget_outdated(&mut earlier.staged)?;
        let left = self.to_leave(role, earlier, is_last);
        earlier.left.clone_from(&left);
        if self.lacks_only(role, &left) {
            return Ok(None);
        }
        self.record(match left.is_empty() {
            true => Change::Push(role),
            false => Change::PushAllBut(role, left.iter().copied().collect()),
        })?;
        let Some(behind) = self.behind(role) else {
            return Ok(None);
        };
        let catalogue = &self.state.catalogue;
        let mut touched = Cow::Borrowed(&behind.touched);
        if !left.is_empty() {
            touched.to_mut().retain(|id, _| !left.contains(id));
        }
        let plan = Plan::new(self.state.seq, catalogue, &touched);
        let copied = |put: &Put| Copied {
            version: catalogue.get(put.node).map_or(0, |node| node.version),
            base: base(catalogue, behind, put.node),
            origin: match earlier.staged.contains_key(&put.node) {
                true => Origin::Stage,
                false => Origin::Flash,
            },
            is_amid_write: self.writing.contains_key(&put.node),
        };
        let mut round = Round {
            copies: plan.copies().map(copied).collect(),
            plan,
            identity: self.identity(role),
        };
        let staged = round.staged();
        earlier.staged.retain(|id, _| staged.contains(id));
        if !earlier.disturbed.is_empty() {
            earlier.without_copy = self.take_snapshots(role, &mut round, &earlier.disturbed)?;
        }
        Ok(Some(round))
    }

    /// Files that the branch may keep as it has them, while it gets everything else: nothing else is to take
    /// their names from what it has.
    fn to_leave(&self, role: Role, earlier: &Earlier, is_last: bool) -> BTreeSet<NodeId> {
        let none = Touched::new();
        let touched = self.behind(role).map_or(&none, |behind| &behind.touched);
        let may_stay = |id: &NodeId| {
            let (Some(before), Some(now)) = (touched.get(id), self.state.catalogue.get(*id)) else {
                return false;
            };
            let is_held = |name: &Name| {
                let mut others = touched.values().flatten();
                others.any(|other| other.names.contains(name))
            };
            match before {
                Some(before) => before.names == now.names,
                None => !now.names.iter().any(is_held),
            }
        };
        let is_hopeless = |id: &&NodeId| {
            let node = self.state.catalogue.get(**id);
            let is_large = node.is_some_and(|node| node.attributes.size > SNAPSHOTS_MOST_B);
            is_last && (is_large || earlier.without_copy.contains(id))
        };
        let hopeless = earlier.disturbed.iter().filter(is_hopeless);
        let wished = earlier.leave.iter().chain(hopeless).copied();
        let missing = wished.filter(|id| !earlier.staged.contains_key(id));
        missing.filter(may_stay).collect()
    }

    /// Whether these files are all that a branch lacks.
    fn lacks_only(&self, role: Role, files: &BTreeSet<NodeId>) -> bool {
        let behind = self.behind(role);
        behind.is_some_and(|behind| {
            let mut lacking = behind.touched.keys();
            behind.pushing.is_none() && lacking.all(|id| files.contains(id))
        })
    }

    /// Of the files that wait on a branch, forget those that are other now, or may be without a word.
    fn forget_outdated(&mut self, staged: &mut BTreeMap<NodeId, FileState>) -> io::Result<()> {
        for id in staged.keys() {
            self.note_file(*id)?;
        }
        staged.retain(|id, state| {
            let now = self.state.catalogue.get(*id).map(FileState::of);
            now == Some(*state) && !self.shared.contains_key(id)
        });
        Ok(())
    }

    /// Whether a copy that was made while programs went on is what the file was when the round began, as far
    /// as anything says that.
    pub(super) fn is_as_begun(
        &mut self,
        role: Role,
        put: &Put,
        copied: &Copied,
    ) -> io::Result<bool> {
        let is_same = self.is_version(put.node, copied.version)?;
        Ok(is_same || !copied.is_amid_write && self.has_only_grown(role, put))
    }

    /// Whether a file still has the data that it had, as far as anything says that.
    fn is_version(&mut self, id: NodeId, version: u64) -> io::Result<bool> {
        if self.is_at_work(id) || self.note_file(id)? {
            return Ok(false);
        }
        let node = self.state.catalogue.get(id);
        Ok(node.is_some_and(|node| node.version == version))
    }

    /// Whether all that was written to a file since the round began is behind the end that it had.
    fn has_only_grown(&self, role: Role, put: &Put) -> bool {
        let (id, end) = (put.node, put.expected.attributes.size);
        let behind = self.behind(role);
        let Some(pushing) = behind.and_then(|behind| behind.pushing.as_ref()) else {
            return false;
        };
        let noted = pushing.dirty.get(id).into_iter();
        let mut written = noted.chain(self.unnoted.get(id)).flat_map(Ranges::iter);
        !self.shared.contains_key(&id) && written.all(|range| range.start >= end)
    }

    /// The branch got what the round had to bring.
    pub(super) fn end_round(&mut self, role: Role) -> io::Result<()> {
        self.record(Change::Pushed(role))?;
        self.drop_snapshots(role)
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
