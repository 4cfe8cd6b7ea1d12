//! What others made of a branch: moved to `.greenfs/kept` there, and never deleted.

use std::io;
use std::path::{Path, PathBuf};

use crate::branch::own;
use crate::branch::store::{Store, ensure_folder, open_folder};
use crate::protocol::Kind;

/// Move what a name stands for out of the tree, to `.greenfs/kept/SEQ/PATH`. It is never deleted.
///
/// # Errors
/// If it may not be moved; then it stays, and nothing is in `.greenfs/kept` that was not there before.
pub fn keep(on: &mut impl Store, seq: u64, from: &Path, path: &Path) -> io::Result<()> {
    open_folder(on, from)?;
    let mut count = 0;
    loop {
        let folder = match count {
            0 => seq.to_string(),
            _ => format!("{seq}.{count}"),
        };
        let target = own("kept").join(folder).join(path);
        if is_free(on, &target)? {
            let moved = on.rename(from, &target);
            if moved.is_err() {
                let mut made = target.ancestors().skip(1);
                while made
                    .next()
                    .is_some_and(|folder| on.remove_folder(folder).is_ok())
                {}
            }
            return moved;
        }
        count += 1;
    }
}

/// Whether nothing has this path in `.greenfs/kept`; the folders above are made.
fn is_free(on: &mut impl Store, target: &Path) -> io::Result<bool> {
    let mut above: Vec<_> = target.ancestors().skip(1).collect();
    above.truncate(above.len() - 2); // the root, and our own folder
    for folder in above.into_iter().rev() {
        match on.look(folder)? {
            None => ensure_folder(on, folder)?,
            Some(found) if found.kind == Kind::Folder => (),
            Some(_) => return Ok(false),
        }
    }
    Ok(on.look(target)?.is_none())
}

/// What was kept on a branch, as paths in `.greenfs/kept`.
pub fn kept(on: &impl Store) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if on.look(&own("kept"))?.is_some() {
        for name in on.list(&own("kept"))? {
            found.push(own("kept").join(name));
        }
    }
    found.sort();
    Ok(found)
}
