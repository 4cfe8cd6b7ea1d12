//! What stood under the names of a branch before: `.greenfs/history` there, plain files.
//!
//! Whatever is about to change under a name is kept first, with the time until which it stood there:
//! for `a/b` in the folder `.greenfs/history/a/in/b`. What has no later record is what stands there
//! now. Nothing here deletes any of it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::kept::{OWNERS, open_folder};
use crate::branch::own;
use crate::branch::store::{Store, copy_within, ensure_folder, named, remove_tree};
use crate::clock;
use crate::protocol::plan::Source;
use crate::protocol::{Attributes, Kind, Plan};

const ROOT: &str = "history";

/// Between a folder's own records and what is known of the names in it.
const IN: &str = "in";

const FOLDER: &str = ".folder";
const NOTHING: &str = ".none";

/// What stood under a name until some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// The record is that file or symbolic link.
    Itself,
    Folder,
    Nothing,
}

/// Where the records of a name are, and those of the names in it.
fn place(path: &Path) -> PathBuf {
    let mut place = own(ROOT);
    for (depth, name) in path.iter().enumerate() {
        if depth > 0 {
            place.push(IN);
        }
        place.push(name);
    }
    place
}

/// Where the names in a folder are, of which there are records.
fn place_in(folder: &Path) -> PathBuf {
    match folder.as_os_str().is_empty() {
        true => place(folder),
        false => place(folder).join(IN),
    }
}

/// The records of a name, the earliest first: until when, what, and where it lies on the branch.
pub fn records(on: &impl Store, path: &Path) -> io::Result<Vec<(i64, Was, PathBuf)>> {
    let place = place(path);
    let mut records = Vec::new();
    for name in list(on, &place)? {
        let Some(text) = name.to_str() else { continue };
        let (time, was) = match (text.strip_suffix(FOLDER), text.strip_suffix(NOTHING)) {
            (Some(time), _) => (time, Was::Folder),
            (_, Some(time)) => (time, Was::Nothing),
            _ => (text, Was::Itself),
        };
        let until_us = clock::read(time).filter(|us| clock::utc(*us) == time);
        records.extend(until_us.map(|until_us| (until_us, was, place.join(&name))));
    }
    records.sort_by_key(|(until_us, ..)| *until_us);
    Ok(records)
}

/// The names in a folder of which there are records.
pub fn names(on: &impl Store, folder: &Path) -> io::Result<Vec<OsString>> {
    list(on, &place_in(folder))
}

fn list(on: &impl Store, folder: &Path) -> io::Result<Vec<OsString>> {
    match on.look(folder)? {
        Some(found) if found.kind == Kind::Folder => on.list(folder),
        _ => Ok(Vec::new()),
    }
}

/// Keeps what a plan changes.
pub struct Keeping {
    /// The name of a record.
    until: String,
    /// What was before is not known: that nothing stood under a name is not worth a record.
    is_first: bool,
    /// Names that are not kept when something is put there: what was there was taken.
    taken: HashSet<PathBuf>,
    /// Folders that are put: nothing stood in them under their name.
    arriving: HashSet<PathBuf>,
    made: HashSet<PathBuf>,
}

impl Keeping {
    /// None for a branch without history. `is_first` if there is no record yet.
    pub fn new(plan: &Plan, is_first: bool) -> Option<Self> {
        let is_arriving = |source: &Source| matches!(source, Source::Make | Source::Held(_));
        let folders = plan
            .puts
            .iter()
            .filter(|put| put.expected.kind == Kind::Folder);
        let arriving = folders.filter(|put| is_arriving(&put.source));
        Some(Self {
            until: clock::utc(plan.history_us?),
            is_first,
            taken: plan.takes.iter().map(|take| take.path.clone()).collect(),
            arriving: arriving.map(|put| put.path.clone()).collect(),
            made: HashSet::new(),
        })
    }

    /// Keep what stands under a name, with all that is in it, before it is taken away.
    pub fn before_take(&mut self, on: &mut impl Store, path: &Path) -> io::Result<()> {
        self.keep(on, path)?;
        let folder = on.look(path)?.filter(|found| found.kind == Kind::Folder);
        let Some(folder) = folder else { return Ok(()) };
        open_folder(on, path)?;
        for name in on.list(path)? {
            self.before_take(on, &path.join(name))?;
        }
        match folder.attributes.mode & OWNERS {
            OWNERS => Ok(()),
            _ => on.dress(path, &folder.attributes),
        }
    }

    /// Keep what stands under a name, or that nothing does, before something is put there.
    pub fn before_put(&mut self, on: &mut impl Store, path: &Path) -> io::Result<()> {
        let is_new = |above: &Path| self.arriving.contains(above);
        let is_unknown = self.is_first && on.look(path)?.is_none();
        if is_unknown || self.taken.contains(path) || path.ancestors().skip(1).any(is_new) {
            return Ok(());
        }
        self.keep(on, path)
    }

    /// What was kept before stays as it is.
    fn keep(&mut self, on: &mut impl Store, path: &Path) -> io::Result<()> {
        let place = place(path);
        self.ensure(on, &place)?;
        let record = |suffix: &str| place.join(format!("{}{suffix}", self.until));
        let kept = match on.look(path)? {
            None => on.create(&record(NOTHING), 0o600),
            Some(found) if found.kind == Kind::Folder => {
                let folder = record(FOLDER);
                on.make_folder(&folder, 0o700)
                    .and_then(|()| on.dress(&folder, &found.attributes))
            }
            Some(found) if found.kind == Kind::Other => Ok(()),
            Some(found) => match on.link(path, &record("")) {
                Err(error) if has_no_links(&error) => {
                    copy(on, path, &found.attributes, &found.kind, &record(""))
                }
                linked => linked,
            },
        };
        match kept {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            kept => kept.map_err(named(&place)),
        }
    }

    fn ensure(&mut self, on: &mut impl Store, folder: &Path) -> io::Result<()> {
        if self.made.contains(folder) {
            return Ok(());
        }
        if let Some(above) = folder.parent().filter(|above| *above != Path::new("")) {
            self.ensure(on, above)?;
        }
        ensure_folder(on, folder)?;
        self.made.insert(folder.to_owned());
        Ok(())
    }
}

/// Whether a file system cannot give this file another name.
fn has_no_links(error: &io::Error) -> bool {
    let codes = [libc::EPERM, libc::EOPNOTSUPP, libc::ENOSYS, libc::EMLINK];
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

/// Keep a copy, where a second name cannot be had. It is there whole or not at all.
fn copy(
    on: &mut impl Store,
    from: &Path,
    attributes: &Attributes,
    kind: &Kind,
    to: &Path,
) -> io::Result<()> {
    if on.look(to)?.is_some() {
        return Ok(());
    }
    if let Kind::Symlink(target) = kind {
        return on.symlink(to, target);
    }
    let new = own("stage").join(ROOT);
    remove_tree(on, &new)?;
    copy_within(on, from, &new)?;
    on.dress(&new, attributes)?;
    on.sync(&new)?;
    on.rename(&new, to)
}
