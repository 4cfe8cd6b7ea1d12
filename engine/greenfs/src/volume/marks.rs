//! What files flash has in part, as the branch itself tells: by the mode of such a file, which says that
//! it is not whole, and by its status file, which says what of it is there.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use crate::branch::own;
use crate::branch::store::{Store, read_whole};
use crate::cache::part::{Part, Status};
use crate::journal::frame;
use crate::protocol::compare::Sights;
use crate::protocol::{Kind, Node, NodeId, State};
use crate::ranges::Ranges;

/// The mode of a file that is not whole: who copies it is refused, or, as root, copies this mode, too.
pub(super) const MARK: u32 = 0o1000;

/// The same while this process works in it.
pub(super) const AT_WORK: u32 = MARK | 0o600;

pub(super) const FOLDER: &str = "parts";

pub type Parts = BTreeMap<NodeId, Part>;

pub(super) fn place(id: NodeId) -> PathBuf {
    own(FOLDER).join(id.0.to_string())
}

fn is_marked(mode: u32) -> bool {
    mode & !0o600 == MARK
}

/// The status files, by the number of their node; none for one that is not whole.
fn statuses(flash: &impl Store) -> io::Result<BTreeMap<NodeId, Option<Status>>> {
    let mut statuses = BTreeMap::new();
    if flash.look(&own(FOLDER))?.is_none() {
        return Ok(statuses);
    }
    for name in flash.list(&own(FOLDER))? {
        let number = name.to_str().and_then(|text| text.parse().ok());
        let Some(id) = number.map(NodeId) else {
            continue;
        };
        let text = read_whole(flash, &place(id))?.unwrap_or_default();
        let status = text.strip_suffix(b"\n").and_then(frame::value);
        statuses.insert(id, status);
    }
    Ok(statuses)
}

/// Files that were removed and are back after a loss of power, as they were: which bytes of them are
/// here is known by their numbers alone.
pub(super) fn come_back(
    flash: &impl Store,
    state: &State,
    sights: &Sights,
) -> io::Result<Vec<(NodeId, Node)>> {
    let marked = sights
        .iter()
        .filter(|(_, found)| is_marked(found.attributes.mode));
    let marked: BTreeSet<u64> = marked.map(|(_, found)| found.inode).collect();
    if marked.is_empty() {
        return Ok(Vec::new());
    }
    let statuses = statuses(flash)?;
    let is_part = |inode| {
        let known = state.catalogue.by_inode(inode);
        known.is_some_and(|id| statuses.contains_key(&id))
    };
    let mut back = Vec::new();
    for (id, status) in &statuses {
        let inode = status.as_ref().map_or(0, |status| status.inode);
        if state.catalogue.get(*id).is_some() || !marked.contains(&inode) || is_part(inode) {
            continue;
        }
        // A branch was not told before flash had lost the name for good.
        let told = state.behind.values().flat_map(|behind| {
            let pushing = behind.pushing.as_ref().and_then(|p| p.touched.get(id));
            [behind.touched.get(id), pushing]
        });
        let was = told.flatten().flatten().find(|node| node.inode == inode);
        back.extend(was.map(|node| (*id, node.clone())));
    }
    Ok(back)
}

/// The files of which flash has a part. A status file that is not whole says that nothing is there.
pub(super) fn read(flash: &impl Store, state: &State) -> io::Result<Parts> {
    let mut parts = Parts::new();
    for (id, status) in statuses(flash)? {
        let Some(node) = state.catalogue.get(id) else {
            continue;
        };
        let (inode, size_b) = (node.inode, node.attributes.size);
        let is_of_it = |status: &Status| {
            let end = status.here.iter().next_back().map_or(0, |range| range.end);
            status.inode == inode && status.size_b == size_b && end <= size_b
        };
        let unknown = || Status {
            inode,
            size_b,
            here: Ranges::default(),
        };
        let status = status.filter(is_of_it).unwrap_or_else(unknown);
        parts.insert(id, Part::of(status));
    }
    Ok(parts)
}

/// Give files that are not whole the attributes that they had when they were. Parts of files that
/// were emptied or replaced are forgotten.
///
/// # Errors
/// With the path of a file that is marked as one that is not whole, and of which nobody knows what is
/// missing.
pub(super) fn undisguise(
    state: &State,
    parts: &mut Parts,
    sights: &mut Sights,
) -> Result<(), PathBuf> {
    for (path, found) in sights {
        if found.kind != Kind::File {
            continue;
        }
        let its = found.attributes;
        let known = state.catalogue.by_inode(found.inode);
        let known = known.and_then(|id| Some((id, state.catalogue.get(id)?)));
        let Some((id, node)) = known.filter(|(id, _)| parts.contains_key(id)) else {
            let was_so = known.is_some_and(|(_, node)| node.attributes.mode == its.mode);
            match is_marked(its.mode) && its.size > 0 && !was_so {
                true => return Err(path.clone()),
                false => continue,
            }
        };
        let was = node.attributes;
        let is_same_time = its.modified_ns == was.modified_ns;
        match (is_marked(its.mode), its.size == was.size) {
            (is_marked, true) if is_marked || is_same_time => {
                found.attributes.mode = was.mode;
                found.attributes.modified_ns = was.modified_ns;
                found.changed_ns = node.changed_ns;
            }
            (true, _) if its.size == 0 => {
                found.attributes.mode = was.mode;
                parts.insert(id, Part::whole(found.inode, 0));
            }
            (true, _) => return Err(path.clone()),
            // Another file has its number.
            (false, _) => drop(parts.remove(&id)),
        }
    }
    Ok(())
}
