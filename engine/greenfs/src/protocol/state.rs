//! The state of a volume, and the records that lead from one state to the next.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::protocol::behind::Behind;
use crate::protocol::catalogue::Catalogue;
use crate::protocol::dirty::EVERYTHING;
use crate::protocol::node::{Node, NodeId, Role};

/// Nodes as they are from now on; none for those that are gone.
pub type Changes = Vec<(NodeId, Option<Node>)>;

/// What a record changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// What has another version has other data, wherever.
    Nodes(Changes),
    /// The data of a file change from the first of these bytes to before the second, as far as they go.
    Write(NodeId, u64, u64),
    /// A push begins; the branch will then hold what is so now.
    Push(Role),
    /// The same, but for these files: of them it will hold what it holds.
    PushAllBut(Role, Vec<NodeId>),
    /// The push of this branch came to its end.
    Pushed(Role),
    /// The push of this branch never took effect.
    Abandoned(Role),
    /// Everything on the branch is looked at: it is at this record, but lacks these nodes.
    Surveyed(Role, u64, Vec<NodeId>),
    /// That look has found that it lacks these nodes, too.
    Lacking(Role, Vec<NodeId>),
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub seq: u64,
    pub change: Change,
}

/// What flash knows of all branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The last record.
    pub seq: u64,
    /// Identities from here on were never given.
    pub next_node: u64,
    pub catalogue: Catalogue,
    /// A branch that is not here was never looked at.
    pub behind: BTreeMap<Role, Behind>,
}

impl State {
    /// Go on by one record.
    ///
    /// # Errors
    /// If it is not the one that follows.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        if record.seq != self.seq + 1 {
            return Err(format!("record {} follows {}", record.seq, self.seq));
        }
        match record.change {
            Change::Nodes(nodes) => {
                for (id, node) in nodes {
                    self.next_node = self.next_node.max(id.0.saturating_add(1));
                    let before = self.catalogue.set(id, node);
                    let now = self.catalogue.get(id);
                    if Node::is_same_elsewhere(before.as_ref(), now) {
                        continue;
                    }
                    let version = |node: Option<&Node>| node.map(|node| node.version);
                    let written = match version(before.as_ref()) == version(now) {
                        true => 0..0,
                        false => EVERYTHING,
                    };
                    for behind in self.behind.values_mut() {
                        behind.touch(id, before.as_ref(), written.clone());
                    }
                }
            }
            Change::Write(id, from, to) => {
                let before = self.catalogue.get(id).cloned();
                let before = before.ok_or_else(|| format!("node {} is not there", id.0))?;
                // Until its time is written down, it does not tell which changes are known.
                let now = Node {
                    version: record.seq,
                    changed_ns: 0,
                    ..before.clone()
                };
                self.catalogue.set(id, Some(now));
                for behind in self.behind.values_mut() {
                    behind.touch(id, Some(&before), from..to);
                }
            }
            Change::Push(role) => self.known(role)?.begin(record.seq, BTreeSet::new()),
            Change::PushAllBut(role, left) => {
                self.known(role)?
                    .begin(record.seq, left.into_iter().collect());
            }
            Change::Pushed(role) => self.known(role)?.finish(),
            Change::Abandoned(role) => self.known(role)?.abandon(),
            Change::Surveyed(role, at, nodes) => {
                let behind = Behind::lacking(at, nodes);
                self.behind.insert(role, behind);
            }
            Change::Lacking(role, nodes) => self.known(role)?.lack(nodes),
        }
        self.seq = record.seq;
        Ok(())
    }

    fn known(&mut self, role: Role) -> Result<&mut Behind, String> {
        let behind = self.behind.get_mut(&role);
        behind.ok_or_else(|| format!("the {role} was never looked at"))
    }
}
