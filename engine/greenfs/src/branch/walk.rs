//! Everything that a branch holds.

use std::io;
use std::path::{Path, PathBuf};

use crate::branch::OWN;
use crate::branch::store::{Store, named};
use crate::protocol::Kind;
use crate::protocol::compare::Sights;

/// All names below the root but our own, folders before what is in them.
pub fn walk(store: &impl Store) -> io::Result<Sights> {
    let mut sights = Sights::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let mut names = store.list(&folder).map_err(named(&folder))?;
        names.sort();
        for name in names {
            let path = folder.join(name);
            if path == Path::new(OWN) {
                continue;
            }
            // What was removed meanwhile is not there.
            if let Some(found) = store.look(&path).map_err(named(&path))? {
                if found.kind == Kind::Folder {
                    folders.push(path.clone());
                }
                sights.push((path, found));
            }
        }
    }
    Ok(sights)
}
