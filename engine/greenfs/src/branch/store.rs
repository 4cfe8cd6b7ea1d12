//! What a branch can do. All paths are relative to its root, and no symbolic link is followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::protocol::{Attributes, Found, Kind, OWNERS};

/// A tree of files that can be changed step by step.
///
/// Each step is done or not done when the process ends. What was done is durable after `sync` or
/// `sync_all`; without, a loss of power may undo it, the latest steps first.
pub trait Store {
    /// The names in a folder, in any order.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// What a name stands for; none if for nothing.
    fn look(&self, path: &Path) -> io::Result<Option<Found>>;
    /// Up to so many bytes from an offset; fewer only at the end of the file.
    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>>;
    /// Whether a program may change a file now without a word: through memory that it has of it.
    ///
    /// # Errors
    /// If nobody can tell, now or later.
    fn may_be_written(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Whether a change that a program makes through memory is told by the time of the file, too.
    fn tells_of_memory(&self) -> bool {
        false
    }

    /// Bytes that are free for files, as far as anybody can tell.
    fn free_b(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    /// A new, empty file.
    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()>;
    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()>;
    /// As `write`, to a copy of a file: what is zeros behind its end may be left a hole.
    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Keep a file open that is written to all the time, and is never replaced by another one.
    fn keep_open(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()>;
    /// Give a file a range of another one, at the same place, where that takes less than to write it.
    /// Returns whether it was done.
    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool>;
    /// Free the room of a range of a file, which is of zeros then.
    fn punch(&mut self, path: &Path, range: Range<u64>) -> io::Result<()>;
    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()>;
    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()>;
    /// A device, a socket or a pipe, as mknod(2).
    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()>;
    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    /// Remove an empty folder.
    fn remove_folder(&mut self, path: &Path) -> io::Result<()>;
    /// Set mode, owner and time of change, as far as the kind of node has them.
    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()>;

    /// Make a file or the names in a folder durable.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    /// Make everything durable.
    fn sync_all(&mut self) -> io::Result<()>;
}

/// All bytes of a file; none if there is no such file.
pub fn read_whole(store: &impl Store, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(found) = store.look(path)? else {
        return Ok(None);
    };
    let size = usize::try_from(found.attributes.size).map_err(io::Error::other)?;
    store.read(path, 0, size).map(Some)
}

/// Put a text in the place of a file, so that either is there whole after any end.
pub fn replace(store: &mut impl Store, path: &Path, text: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    if store.look(&new)?.is_some() {
        store.remove_file(&new)?;
    }
    store.create(&new, 0o600)?;
    let written = store.write(&new, 0, text).and_then(|()| store.sync(&new));
    if written.is_err() {
        let _ = store.remove_file(&new); // else it keeps the room that it was too large for
    }
    written?;
    store.rename(&new, path)?;
    store.sync(path.parent().unwrap_or(Path::new("")))
}

/// Files are copied in pieces of so many bytes.
pub const PIECE_B: usize = 1 << 20;

/// Write the data of a file to a new one.
pub fn copy_within(store: &mut impl Store, from: &Path, to: &Path) -> io::Result<()> {
    store.create(to, 0o600)?;
    let mut offset = 0;
    loop {
        let piece = store.read(from, offset, PIECE_B)?;
        if !piece.is_empty() {
            store.write_copy(to, offset, &piece)?;
        }
        offset += piece.len() as u64;
        if piece.len() < PIECE_B {
            return Ok(());
        }
    }
}

/// Write a range of a file to the same place in another one.
///
/// # Errors
/// If the file has not all of it, or the branch fails.
pub fn copy_range(
    store: &mut (impl Store + ?Sized),
    from: &Path,
    to: &Path,
    range: Range<u64>,
) -> io::Result<()> {
    let mut offset = range.start;
    while offset < range.end {
        let most_b = (range.end - offset).min(PIECE_B as u64) as usize;
        let piece = store.read(from, offset, most_b)?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        store.write_copy(to, offset, &piece)?;
        offset += piece.len() as u64;
    }
    Ok(())
}

/// Make a folder that may be there.
pub fn ensure_folder(store: &mut impl Store, path: &Path) -> io::Result<()> {
    match store.make_folder(path, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Make a folder writable for its owner; it is dressed again at the end.
pub fn open_folder(on: &mut impl Store, path: &Path) -> io::Result<()> {
    match on.look(path)? {
        Some(found) if found.kind == Kind::Folder && found.attributes.mode & OWNERS != OWNERS => {
            let mut attributes = found.attributes;
            attributes.mode |= OWNERS;
            on.dress(path, &attributes)
        }
        _ => Ok(()),
    }
}

/// The same for all folders above a path, as far as this user may.
pub fn open_above(on: &mut impl Store, path: &Path) -> io::Result<()> {
    let mut above: Vec<_> = path.ancestors().skip(1).collect();
    above.pop(); // the root of a branch is its owner's
    for folder in above.into_iter().rev() {
        if_allowed(open_folder(on, folder))?;
    }
    Ok(())
}

/// None for what this user may not do.
pub fn if_allowed<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        done => done.map(Some),
    }
}

/// The bits by which a file acts as its owner.
const ACTING: u32 = 0o6000;

/// What the group of a file may do with it.
const GROUPS: u32 = 0o070;

/// Set mode, owner and time of change. Where that owner cannot be set, the mode lacks what acts as
/// one; where it is another group, that may do nothing.
pub fn dress_as_allowed(
    store: &mut impl Store,
    path: &Path,
    attributes: &Attributes,
) -> io::Result<()> {
    let refused = match store.dress(path, attributes) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => error,
        dressed => return dressed,
    };
    let there = store.look(path)?.ok_or(refused)?.attributes;
    let foreign = match there.gid == attributes.gid {
        true => ACTING,
        false => ACTING | GROUPS,
    };
    let allowed = Attributes {
        mode: attributes.mode & !foreign,
        uid: there.uid,
        gid: there.gid,
        ..*attributes
    };
    store.dress(path, &allowed)
}

/// Remove what a name stands for, with all that is in it.
pub fn remove_tree(store: &mut impl Store, path: &Path) -> io::Result<()> {
    match store.look(path)? {
        None => Ok(()),
        Some(found) if found.kind == Kind::Folder => {
            open_folder(store, path)?;
            for name in store.list(path)? {
                remove_tree(store, &path.join(name))?;
            }
            store.remove_folder(path)
        }
        Some(_) => store.remove_file(path),
    }
}

/// Say with an error which file or folder it is about.
pub fn named(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
