//! What a branch lacks: the nodes that changed since, as it still holds them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::node::{Node, NodeId};

/// Nodes as they were before they changed; none for those that were not there.
pub type Touched = BTreeMap<NodeId, Option<Node>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// The branch holds what was so after this record.
    pub at: u64,
    pub touched: Touched,
    /// A push that has begun. Only the branch knows whether it came to its end.
    pub pushing: Option<Pushing>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pushing {
    /// The branch will hold what was so after this record.
    pub to: u64,
    /// What has changed since then.
    pub touched: Touched,
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

    /// A node changes that was like `before` until now.
    pub fn touch(&mut self, id: NodeId, before: Option<&Node>) {
        let touched = match &mut self.pushing {
            Some(pushing) => &mut pushing.touched,
            None => &mut self.touched,
        };
        touched.entry(id).or_insert_with(|| before.cloned());
    }

    /// The branch has none of these nodes, whatever was thought.
    pub fn lack(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.touched.extend(nodes.into_iter().map(|id| (id, None)));
    }

    pub fn begin(&mut self, to: u64) {
        self.abandon();
        self.pushing = Some(Pushing {
            to,
            touched: Touched::new(),
        });
    }

    /// The push came to its end.
    pub fn finish(&mut self) {
        if let Some(pushing) = self.pushing.take() {
            self.at = pushing.to;
            self.touched = pushing.touched;
        }
    }

    /// The push never took effect.
    pub fn abandon(&mut self) {
        if let Some(pushing) = self.pushing.take() {
            for (id, before) in pushing.touched {
                self.touched.entry(id).or_insert(before);
            }
        }
    }
}
