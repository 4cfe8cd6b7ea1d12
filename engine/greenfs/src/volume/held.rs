//! Data of files that flash has in part, read from a branch.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use crate::branch::store::Store;
use crate::cache::part::PIECE_B;
use crate::protocol::behind::Touched;
use crate::protocol::catalogue::path;
use crate::protocol::node::Expected;
use crate::protocol::{Node, NodeId, Role};
use crate::volume::access::Access;
use crate::volume::flash::Flash;
use crate::volume::parts::absent;

/// Where a branch may have a file: while it is brought up, at one path or at another.
pub type Held = Vec<(PathBuf, Expected)>;

/// Bring a range of a file to flash, and somewhat more of it: whole pieces. `read` reads them on the
/// branch in this role.
///
/// # Errors
/// If the branch does not have it as flash had it, or either fails.
pub fn bring<S: Store>(
    flash: &mut impl Access<S>,
    id: NodeId,
    range: Range<u64>,
    role: Role,
    mut read: impl FnMut(Held, Range<u64>) -> io::Result<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let next = flash.with(|flash| {
            let part = flash.part(id)?;
            let gaps = part.here.gaps(part.pieces(range.clone()));
            let gap = gaps.into_iter().next()?;
            let piece_end = (gap.start / PIECE_B + 1) * PIECE_B;
            Some((gap.start..gap.end.min(piece_end), flash.held(role, id)))
        });
        let Some((gap, held)) = next else {
            return Ok(());
        };
        let data = read(held, gap.clone())?;
        flash.with(|flash| flash.fill(id, gap.start, &data))?;
    }
}

/// The whole of a file that was brought to flash is one like any other from now on.
///
/// # Errors
/// If not all is there, or flash fails.
pub fn complete<S: Store>(flash: &mut impl Access<S>, id: NodeId) -> io::Result<()> {
    // While programs go on: what is left to do then is short.
    flash.sync()?;
    flash.with(|flash| flash.complete(id))
}

/// Read a range of a file, if the branch has it as it is to be.
///
/// # Errors
/// If it has not, or fails.
pub fn read_held(store: &impl Store, held: &Held, range: &Range<u64>) -> io::Result<Vec<u8>> {
    for (path, expected) in held {
        let look = || Ok::<_, io::Error>(store.look(path)?.filter(|found| expected.is(found)));
        let Some(before) = look()? else { continue };
        let length = (range.end - range.start) as usize;
        let data = store.read(path, range.start, length);
        let is_still_it = look()?.is_some_and(|after| after.inode == before.inode);
        match data {
            Ok(data) if is_still_it && data.len() == length => return Ok(data),
            Err(error) if is_still_it => return Err(error),
            _ => (),
        }
    }
    Err(absent())
}

impl<S: Store> Flash<S> {
    /// Where a branch may have the data that a file of which there is a part had.
    fn held(&self, role: Role, id: NodeId) -> Held {
        let catalogue = &self.state.catalogue;
        let (Some(now), Some(behind)) = (catalogue.get(id), self.behind(role)) else {
            return Held::new();
        };
        let none = Touched::new();
        let pushing = behind.pushing.as_ref().map_or(&none, |p| &p.touched);
        let mut held = Held::new();
        for (older, newer) in [(&behind.touched, pushing), (pushing, &none), (&none, &none)] {
            let then = |id: NodeId| -> Option<&Node> {
                let touched = older.get(&id).or_else(|| newer.get(&id));
                touched.map_or_else(|| catalogue.get(id), Option::as_ref)
            };
            let Some(node) = then(id) else { continue };
            let is_same = node.version == now.version || node.expected() == now.expected();
            let name = node.names.first().filter(|_| is_same);
            if let Some(path) = name.and_then(|name| path(name, then)) {
                held.push((path, node.expected()));
            }
        }
        held.dedup();
        held
    }
}
