//! What changed on flash while nobody wrote it down: after a crash, or by other programs.
//!
//! On flash an inode number is an identity: what has a known one was moved, not made.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::protocol::compare::Sights;
use crate::protocol::node::{Found, Kind, Name, Node, NodeId, ROOT};
use crate::protocol::state::{Changes, State};

/// The nodes that are other than in the catalogue, as they are now.
pub fn reconcile(state: &State, root: &Found, sights: &Sights) -> Changes {
    let catalogue = &state.catalogue;
    let mut next = state.next_node.max(ROOT.0 + 1);
    let mut now = BTreeMap::from([(ROOT, node(state, ROOT, root))]);
    let mut folders = HashMap::from([(PathBuf::new(), ROOT)]);
    let mut met: HashMap<u64, NodeId> = HashMap::from([(root.inode, ROOT)]);
    for (path, found) in sights {
        let parent = folders.get(path.parent().unwrap_or(Path::new("")));
        let (Some(&parent), Some(name)) = (parent, path.file_name()) else {
            continue; // in what is left out
        };
        if found.kind == Kind::Other {
            continue;
        }
        let id = *met.entry(found.inode).or_insert_with(|| {
            let known = catalogue.by_inode(found.inode);
            let is_it = |id: &NodeId| {
                *id != ROOT
                    && catalogue
                        .get(*id)
                        .is_some_and(|node| node.kind == found.kind)
            };
            known.filter(is_it).unwrap_or_else(|| {
                next += 1;
                NodeId(next - 1)
            })
        });
        // What moves while it is looked at may be seen twice. A folder has one name, and no number is
        // of two kinds.
        let is_twice = |node: &Node| node.kind != found.kind || node.kind == Kind::Folder;
        if now.get(&id).is_some_and(is_twice) {
            continue;
        }
        let node = now.entry(id).or_insert_with(|| node(state, id, found));
        node.names.insert(Name {
            parent,
            name: name.to_owned(),
        });
        if found.kind == Kind::Folder {
            folders.insert(path.clone(), id);
        }
    }
    let gone = catalogue.nodes().keys().filter(|id| !now.contains_key(id));
    let mut changes: Vec<_> = gone.map(|&id| (id, None)).collect();
    let is_other = |(id, node): &(NodeId, Node)| catalogue.get(*id) != Some(node);
    let others = now.into_iter().filter(is_other);
    changes.extend(others.map(|(id, node)| (id, Some(node))));
    changes
}

/// A node as it was found, without its names. Its data are those that were known only if nothing
/// says that they changed.
fn node(state: &State, id: NodeId, found: &Found) -> Node {
    let before = state.catalogue.get(id);
    let is_same = |before: &&Node| {
        let is_known = before.changed_ns != 0 && before.changed_ns == found.changed_ns;
        before.expected().is(found) && (is_known || found.kind != Kind::File)
    };
    let version = before
        .filter(is_same)
        .map_or(state.seq + 1, |before| before.version);
    Node::new(found.clone(), version)
}
