//! What a branch held at a time, found by names: each by the records of its own name alone.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::history::{self, Was};
use crate::branch::store::{PIECE_B, Store, dress_as_allowed, remove_tree};
use crate::branch::{OWN, is_being_restored};
use crate::protocol::{Attributes, Kind, OWNERS};

/// What a name stood for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its name then, from the root.
    pub path: PathBuf,
    /// Where it lies on the branch now; a folder's names may lie elsewhere.
    pub at: PathBuf,
    pub kind: Kind,
    pub attributes: Attributes,
    /// Until when it stood there, in microseconds since 1970; none if it still does.
    until_us: Option<i64>,
}

/// What was copied out of the past.
#[derive(Debug, Default)]
pub struct Copied {
    pub files: u64,
    pub size_b: u64,
    /// What could not be read is not there, with all that was in it.
    pub unread: Vec<(PathBuf, io::Error)>,
    /// Files and folders that are to be made durable.
    made: Vec<PathBuf>,
}

/// What keeps a file from being copied.
enum Stop {
    Reading(io::Error),
    Writing(io::Error),
}

/// A branch as it was at a time, in microseconds since 1970.
#[derive(Clone, Copy)]
pub struct Past<'a, S> {
    pub branch: &'a S,
    pub at_us: i64,
}

impl<S: Store> Past<'_, S> {
    pub fn root(&self) -> io::Result<Spot> {
        let root = self.now(Path::new(""))?;
        root.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What a path stood for; none if for nothing.
    pub fn find(&self, path: &Path) -> io::Result<Option<Spot>> {
        let mut spot = self.root()?;
        for name in path {
            match self.child(&spot, name)? {
                Some(child) => spot = child,
                None => return Ok(None),
            }
        }
        Ok(Some(spot))
    }

    /// What a name in a folder stood for.
    pub fn child(&self, folder: &Spot, name: &OsStr) -> io::Result<Option<Spot>> {
        let path = folder.path.join(name);
        if folder.kind != Kind::Folder || path == Path::new(OWN) || is_being_restored(&path) {
            return Ok(None);
        }
        // First: what is replaced meanwhile has a record then.
        let now = match folder.until_us {
            None => self.now(&path)?,
            Some(_) => None,
        };
        // A folder that came to its end took with it all that was in it.
        let is_then = |(until_us, ..): &(i64, Was, PathBuf)| {
            folder.until_us.is_none_or(|end_us| *until_us <= end_us)
        };
        let next = history::first_after(self.branch, &path, self.at_us)?;
        let Some((until_us, was, at)) = next.filter(is_then) else {
            return Ok(now);
        };
        let found = match was {
            Was::Nothing => None,
            _ => self.branch.look(&at)?,
        };
        let found = found.filter(|found| found.kind != Kind::Other);
        Ok(found.map(|found| Spot {
            path,
            at,
            kind: found.kind,
            attributes: found.attributes,
            until_us: Some(until_us),
        }))
    }

    /// Do something with what lies where it was found, until it still lies there afterwards: a push in
    /// between may have put something else there.
    pub fn steadily<R>(&self, spot: &Spot, mut act: impl FnMut(&Spot) -> R) -> io::Result<R> {
        let mut spot = spot.clone();
        loop {
            let done = act(&spot);
            if spot.until_us.is_some() {
                return Ok(done);
            }
            let again = self.find(&spot.path)?;
            let again = again.ok_or(io::ErrorKind::NotFound)?;
            if again == spot {
                return Ok(done);
            }
            spot = again;
        }
    }

    /// What was in a folder, in the order of the names.
    pub fn children(&self, folder: &Spot) -> io::Result<Vec<(OsString, Spot)>> {
        self.steadily(folder, |folder| self.children_now(folder))?
    }

    fn children_now(&self, folder: &Spot) -> io::Result<Vec<(OsString, Spot)>> {
        let mut names = BTreeSet::new();
        if folder.until_us.is_none() {
            match self.branch.list(&folder.at) {
                // It was moved at this moment: its names have records.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                listed => names.extend(listed?),
            }
        }
        names.extend(history::names(self.branch, &folder.path)?);
        let mut children = Vec::new();
        for name in names {
            if let Some(child) = self.child(folder, &name)? {
                children.push((name, child));
            }
        }
        Ok(children)
    }

    /// Copy what was there, with all that was in it, to where nothing is, and make it durable. Owners
    /// are set where that is allowed.
    ///
    /// # Errors
    /// If it cannot be written; what cannot be read is left out and said.
    pub fn copy(&self, spot: &Spot, to: &mut impl Store, place: &Path) -> io::Result<Copied> {
        let mut copied = Copied::default();
        self.copy_to(spot, to, place, &mut copied)?;
        to.sync_all()?;
        // A mounted volume does that only for what is named. For the first of these its remote gets
        // everything; so for the others nobody waits.
        for made in std::mem::take(&mut copied.made) {
            to.sync(&made)?;
        }
        Ok(copied)
    }

    fn copy_to(
        &self,
        spot: &Spot,
        to: &mut impl Store,
        place: &Path,
        copied: &mut Copied,
    ) -> io::Result<()> {
        match &spot.kind {
            Kind::File => {
                let file = self.steadily(spot, |spot| self.copy_file(spot, to, place));
                match file.map_err(Stop::Reading).and_then(|copied| copied) {
                    Ok(size_b) => {
                        copied.files += 1;
                        copied.size_b += size_b;
                        copied.made.push(place.to_owned());
                    }
                    Err(Stop::Writing(error)) => return Err(error),
                    Err(Stop::Reading(error)) => {
                        copied.unread.push((spot.path.clone(), error));
                        return remove_tree(to, place);
                    }
                }
                Ok(())
            }
            Kind::Symlink(target) => {
                to.symlink(place, target)?;
                dress_as_allowed(to, place, &spot.attributes)
            }
            Kind::Folder => {
                to.make_folder(place, OWNERS)?;
                copied.made.push(place.to_owned());
                match self.children(spot) {
                    Ok(children) => {
                        for (name, child) in children {
                            self.copy_to(&child, to, &place.join(name), copied)?;
                        }
                    }
                    Err(error) => copied.unread.push((spot.path.clone(), error)),
                }
                dress_as_allowed(to, place, &spot.attributes)
            }
            // No branch has them.
            Kind::Other => Ok(()),
        }
    }

    /// Returns the bytes of the file.
    fn copy_file(&self, spot: &Spot, to: &mut impl Store, place: &Path) -> Result<u64, Stop> {
        let begun = remove_tree(to, place).and_then(|()| to.create(place, 0o600));
        begun.map_err(Stop::Writing)?;
        let mut size_b = 0;
        loop {
            let piece = self.branch.read(&spot.at, size_b, PIECE_B);
            let piece = piece.map_err(Stop::Reading)?;
            to.write_copy(place, size_b, &piece)
                .map_err(Stop::Writing)?;
            size_b += piece.len() as u64;
            if piece.len() < PIECE_B {
                break;
            }
        }
        dress_as_allowed(to, place, &spot.attributes).map_err(Stop::Writing)?;
        Ok(size_b)
    }

    fn now(&self, path: &Path) -> io::Result<Option<Spot>> {
        let found = self.branch.look(path)?;
        let found = found.filter(|found| found.kind != Kind::Other);
        Ok(found.map(|found| Spot {
            path: path.to_owned(),
            at: path.to_owned(),
            kind: found.kind,
            attributes: found.attributes,
            until_us: None,
        }))
    }
}

/// What a path stood for, one after the other, the earliest first: from when on, and what, until the
/// next one. Each time is in microseconds since 1970; none of them is before `since_us`.
pub fn versions<S: Store>(
    branch: &S,
    since_us: i64,
    path: &Path,
) -> io::Result<Vec<(i64, Option<Spot>)>> {
    let mut times = BTreeSet::from([since_us]);
    for above in path.ancestors().filter(|path| *path != Path::new("")) {
        let records = history::records(branch, above)?;
        let ends = records.into_iter().map(|(until_us, ..)| until_us);
        times.extend(ends.filter(|until_us| *until_us > since_us));
    }
    let mut versions: Vec<(i64, Option<Spot>)> = Vec::new();
    for at_us in times {
        let spot = Past { branch, at_us }.find(path)?;
        let place = |spot: &Option<Spot>| spot.as_ref().map(|spot| spot.at.clone());
        if versions.last().map(|(_, last)| place(last)) != Some(place(&spot)) {
            versions.push((at_us, spot));
        }
    }
    Ok(versions)
}
