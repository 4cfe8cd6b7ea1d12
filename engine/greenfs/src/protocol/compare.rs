//! What a branch holds against what it should hold.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::protocol::catalogue::Catalogue;
use crate::protocol::node::{Found, Kind, NodeId, ROOT};

/// All that a branch holds, folders before what is in them.
pub type Sights = Vec<(PathBuf, Found)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Nodes that are not there, or not whole.
    pub lacking: Vec<NodeId>,
    /// What stands under a name of nothing, or of something else; with all that is in it.
    pub strangers: Vec<PathBuf>,
    /// What has another mode or owner.
    pub undressed: Vec<(PathBuf, NodeId)>,
}

/// Compare by names, kinds, sizes and times.
pub fn compare(catalogue: &Catalogue, sights: &Sights) -> Comparison {
    let mut result = Comparison::default();
    let mut folders = HashMap::from([(PathBuf::new(), ROOT)]);
    let mut inodes: BTreeMap<NodeId, Vec<u64>> = BTreeMap::new();
    let mut owners: HashMap<u64, NodeId> = HashMap::new();
    for (path, found) in sights {
        let Some(&parent) = folders.get(path.parent().unwrap_or(Path::new(""))) else {
            continue; // in a stranger
        };
        let child = path
            .file_name()
            .and_then(|name| catalogue.child(parent, name));
        let node = child.and_then(|id| Some((id, catalogue.get(id)?)));
        let Some((id, node)) = node.filter(|(_, node)| node.expected().is(found)) else {
            result.strangers.push(path.clone());
            continue;
        };
        if *owners.entry(found.inode).or_insert(id) != id {
            continue; // linked to another file: it is copied anew
        }
        inodes.entry(id).or_default().push(found.inode);
        if found.kind == Kind::Folder {
            folders.insert(path.clone(), id);
        }
        if node.attributes != found.attributes {
            result.undressed.push((path.clone(), id));
        }
    }
    for (id, node) in catalogue.nodes() {
        let seen = inodes.remove(id).unwrap_or_default();
        let is_one = seen.windows(2).all(|pair| pair[0] == pair[1]);
        if *id != ROOT && !(is_one && seen.len() == node.names.len()) {
            result.lacking.push(*id);
        }
    }
    result
}
