//! Everything that a branch holds.

use std::io;
use std::path::{Path, PathBuf};

use crate::branch::OWN;
use crate::branch::store::{Store, named};
use crate::protocol::compare::Sights;
use crate::protocol::{Found, Kind};

/// All names below the root but our own, folders before what is in them.
pub fn walk(store: &impl Store) -> io::Result<Sights> {
    walk_by(|folder| see(store, folder))
}

/// The same of a branch that others use too, and the folders into which this user may not look, with
/// why.
pub fn walk_allowed(store: &impl Store) -> io::Result<(Sights, Vec<(PathBuf, io::Error)>)> {
    let mut refused = Vec::new();
    let sights = walk_by(|folder| match see(store, folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            refused.push((folder.to_owned(), error));
            Ok(Sights::new())
        }
        seen => seen,
    })?;
    Ok((sights, refused))
}

fn walk_by(mut see: impl FnMut(&Path) -> io::Result<Sights>) -> io::Result<Sights> {
    let mut sights = Sights::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let seen = see(&folder).map_err(named(&folder))?;
        let is_folder = |(_, found): &&(PathBuf, Found)| found.kind == Kind::Folder;
        folders.extend(seen.iter().filter(is_folder).map(|(path, _)| path.clone()));
        sights.extend(seen);
    }
    Ok(sights)
}

/// What is in a folder.
fn see(store: &impl Store, folder: &Path) -> io::Result<Sights> {
    let mut names = store.list(folder)?;
    names.sort();
    let mut sights = Sights::new();
    for name in names {
        let path = folder.join(name);
        if path == Path::new(OWN) {
            continue;
        }
        // What was removed meanwhile is not there.
        if let Some(found) = store.look(&path)? {
            sights.push((path, found));
        }
    }
    Ok(sights)
}
