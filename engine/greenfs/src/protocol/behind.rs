//! What a branch lacks: the nodes that changed since, as it still holds them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::protocol::dirty::{Dirty, EVERYTHING};
use crate::protocol::node::{Node, NodeId};
use crate::ranges::Ranges;

/// Nodes as they were before they changed; none for those that were not there.
pub type Touched = BTreeMap<NodeId, Option<Node>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// The branch holds what was so after this record.
    pub at: u64,
    pub touched: Touched,
    /// What of the data of touched files may be other; of those that are not here, all.
    #[serde(default, skip_serializing_if = "Dirty::is_empty")]
    pub dirty: Dirty,
    /// A push that has begun. Only the branch knows whether it came to its end.
    pub pushing: Option<Pushing>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pushing {
    /// The branch will hold what was so after this record.
    pub to: u64,
    /// What has changed since then.
    pub touched: Touched,
    #[serde(default, skip_serializing_if = "Dirty::is_empty")]
    pub dirty: Dirty,
    /// Nodes that the branch will hold as before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left: BTreeSet<NodeId>,
}

impl Behind {
    /// A branch that lacks these nodes and holds all others.
    pub fn lacking(at: u64, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut behind = Self {
            at,
            ..Self::default()
        };
        behind.lack(nodes);
        behind
    }

    /// A node changes that was like `before` until now; of its data, the bytes `written` may.
    pub fn touch(&mut self, id: NodeId, before: Option<&Node>, written: Range<u64>) {
        let (touched, dirty) = match &mut self.pushing {
            Some(pushing) => (&mut pushing.touched, &mut pushing.dirty),
            None => (&mut self.touched, &mut self.dirty),
        };
        let had = touched.entry(id).or_insert_with(|| before.cloned());
        let Some(had) = had.as_ref().filter(|_| !written.is_empty()) else {
            return;
        };
        // What was written down before there were ranges does not say which changed.
        let is_same = before.is_some_and(|before| before.version == had.version);
        let is_known = is_same || dirty.get(id).is_some();
        dirty.insert(id, if is_known { written } else { EVERYTHING });
    }

    /// What has changed since the push that has begun, or else since the last one.
    fn latest(&self) -> (&Touched, &Dirty) {
        match &self.pushing {
            Some(pushing) => (&pushing.touched, &pushing.dirty),
            None => (&self.touched, &self.dirty),
        }
    }

    /// Whether the branch will have nothing of a node, so that it gets all of it.
    pub fn lacks_all(&self, id: NodeId) -> bool {
        let (touched, _) = self.latest();
        matches!(touched.get(&id), Some(None))
    }

    /// Whether it is known already that these bytes of a file may be other.
    pub fn has_noted(&self, id: NodeId, written: &Range<u64>) -> bool {
        let (touched, dirty) = self.latest();
        match touched.get(&id) {
            None => false,
            Some(None) => true,
            Some(Some(had)) => dirty.get(id).is_some_and(|noted| {
                // The branch has nothing behind the end of what it has.
                let end = written.end.min(had.attributes.size);
                noted.has_all(written.start.min(end)..end)
            }),
        }
    }

    /// The branch has none of these nodes, whatever was thought.
    pub fn lack(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.touched.extend(nodes.into_iter().map(|id| (id, None)));
    }

    /// A push begins that leaves these nodes as they are on the branch.
    pub fn begin(&mut self, to: u64, left: BTreeSet<NodeId>) {
        self.abandon();
        self.pushing = Some(Pushing {
            to,
            touched: Touched::new(),
            dirty: Dirty::default(),
            left,
        });
    }

    /// The push came to its end.
    pub fn finish(&mut self) {
        let Some(pushing) = self.pushing.take() else {
            return;
        };
        let now = Self {
            at: pushing.to,
            touched: pushing.touched,
            dirty: pushing.dirty,
            pushing: None,
        };
        let before = std::mem::replace(self, now);
        for id in pushing.left {
            if let Some(had) = before.touched.get(&id) {
                self.touched.insert(id, had.clone());
                match before.dirty.get(id) {
                    Some(ranges) => ranges.iter().for_each(|range| self.dirty.insert(id, range)),
                    None => self.dirty.insert(id, EVERYTHING),
                }
            }
        }
    }

    /// The push never took effect.
    pub fn abandon(&mut self) {
        let Some(pushing) = self.pushing.take() else {
            return;
        };
        for (id, before) in pushing.touched {
            let written = pushing.dirty.get(id).into_iter().flat_map(Ranges::iter);
            self.touch(id, before.as_ref(), 0..0);
            written.for_each(|range| self.touch(id, before.as_ref(), range));
        }
    }
}
