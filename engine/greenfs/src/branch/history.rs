//! What stood under the names of a branch before: `.greenfs/history` there, plain files.
//!
//! Whatever is about to change under a name is kept first, with the time until which it stood there:
//! for `a/b` in the folder `.greenfs/history/a/in/b`. What has no later record is what stands there
//! now. Nothing here deletes any of it. What this user may not read is others', and is left out; so is
//! what is being restored.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::store::{
    Store, copy_within, dress_as_allowed, ensure_folder, if_allowed, named, remove_tree,
};
use crate::branch::{is_being_restored, own};
use crate::clock;
use crate::protocol::plan::Source;
use crate::protocol::{Attributes, Found, Kind, OWNERS, Plan};

const ROOT: &str = "history";

/// Between a folder's own records and what is known of the names in it.
const IN: &str = "in";

const FOLDER: &str = ".folder";
const NOTHING: &str = ".none";

/// The bits without which the owner cannot look at what is in a folder.
const LOOKING: u32 = 0o500;

/// The bit without which the owner cannot read a file.
const READING: u32 = 0o400;

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
    let names = list(on, &place)?;
    let mut records: Vec<_> = names
        .iter()
        .filter_map(|name| {
            let (time, was) = parts(name)?;
            Some((until(time)?, was, place.join(name)))
        })
        .collect();
    records.sort_by_key(|(until_us, ..)| *until_us);
    Ok(records)
}

/// The earliest record of a name that is later than this time: of many, only few are looked at closely.
pub fn first_after(
    on: &impl Store,
    path: &Path,
    after_us: i64,
) -> io::Result<Option<(i64, Was, PathBuf)>> {
    let place = place(path);
    let names = list(on, &place)?;
    let after = clock::utc(after_us);
    let mut first: Option<(&str, i64, Was, &OsString)> = None;
    for name in &names {
        let Some((time, was)) = parts(name) else {
            continue;
        };
        let is_first = first.as_ref().is_none_or(|(first, ..)| time < *first);
        if time > after.as_str() && is_first {
            first = until(time)
                .map(|until_us| (time, until_us, was, name))
                .or(first);
        }
    }
    Ok(first.map(|(_, until_us, was, name)| (until_us, was, place.join(name))))
}

/// The time that is in the name of a record, and what stood there.
fn parts(name: &OsStr) -> Option<(&str, Was)> {
    let text = name.to_str()?;
    Some(
        match (text.strip_suffix(FOLDER), text.strip_suffix(NOTHING)) {
            (Some(time), _) => (time, Was::Folder),
            (_, Some(time)) => (time, Was::Nothing),
            _ => (text, Was::Itself),
        },
    )
}

fn until(time: &str) -> Option<i64> {
    clock::read(time).filter(|us| clock::utc(*us) == time)
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
    until_us: i64,
    /// What was before is not known: that nothing stood under a name is not worth a record.
    is_first: bool,
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
            until_us: plan.history_us?,
            is_first,
            taken: plan.takes.iter().map(|take| take.path.clone()).collect(),
            arriving: arriving.map(|put| put.path.clone()).collect(),
            made: HashSet::new(),
        })
    }

    fn record(&self, path: &Path, suffix: &str) -> PathBuf {
        place(path).join(format!("{}{suffix}", clock::utc(self.until_us)))
    }

    /// Keep what stands under a name, with all in it that is not taken for itself, before anything is
    /// taken away.
    pub fn before_take(&mut self, on: &mut impl Store, path: &Path) -> io::Result<()> {
        if is_being_restored(path) {
            return Ok(());
        }
        let Some(found) = if_allowed(on.look(path))?.flatten() else {
            return Ok(());
        };
        self.keep(on, path, Some(&found))?;
        if found.kind != Kind::Folder {
            return Ok(());
        }
        let record = on
            .look(&self.record(path, FOLDER))?
            .unwrap_or(found.clone());
        // Of the record: one that was killed here has left the folder open.
        let missing = LOOKING & !record.attributes.mode;
        if missing != 0 {
            let open = with_mode(&found.attributes, found.attributes.mode | missing);
            if_allowed(on.dress(path, &open))?;
        }
        for name in if_allowed(on.list(path))?.unwrap_or_default() {
            let path = path.join(name);
            if !self.taken.contains(&path) {
                self.before_take(on, &path)?;
            }
        }
        if missing != 0 {
            let closed = with_mode(&found.attributes, found.attributes.mode & !missing);
            if_allowed(on.dress(path, &closed))?;
        }
        Ok(())
    }

    /// Keep what stands under a name, or that nothing does, before something is put there.
    pub fn before_put(&mut self, on: &mut impl Store, path: &Path) -> io::Result<()> {
        if is_being_restored(path) {
            return Ok(());
        }
        let there = on.look(path)?;
        let is_unknown = self.is_first && there.is_none();
        let is_new = |above: &Path| self.arriving.contains(above);
        if is_unknown || path.ancestors().skip(1).any(is_new) || self.was_taken(on, path)? {
            return Ok(());
        }
        self.keep(on, path, there.as_ref())
    }

    /// Whether there is a record of what was taken; there is none of what others had put there.
    fn was_taken(&self, on: &impl Store, path: &Path) -> io::Result<bool> {
        if !self.taken.contains(path) {
            return Ok(false);
        }
        let records = records(on, path)?;
        Ok(records
            .iter()
            .any(|(until_us, ..)| *until_us == self.until_us))
    }

    /// What was kept before stays as it is.
    fn keep(&mut self, on: &mut impl Store, path: &Path, found: Option<&Found>) -> io::Result<()> {
        let place = place(path);
        self.ensure(on, &place)?;
        let kept = match found {
            None => on.create(&self.record(path, NOTHING), 0o600),
            Some(found) => match found.kind {
                Kind::Other => Ok(()),
                Kind::Folder => keep_folder(on, &self.record(path, FOLDER), &found.attributes),
                _ => keep_file(on, path, found, &self.record(path, "")),
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

fn keep_folder(on: &mut impl Store, record: &Path, attributes: &Attributes) -> io::Result<()> {
    match on.make_folder(record, OWNERS) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let kept = on.look(record)?.map_or(0, |kept| kept.attributes.mode);
            // A record that lacks these bits is dressed, and its folder may have been opened since.
            if kept & LOOKING != LOOKING {
                return Ok(());
            }
        }
        made => made?,
    }
    dress_as_allowed(on, record, attributes)
}

fn keep_file(on: &mut impl Store, path: &Path, found: &Found, record: &Path) -> io::Result<()> {
    match on.link(path, record) {
        Err(error) if can_be_copied(&error) => copy(on, path, found, record),
        linked => linked,
    }
}

/// Whether there may be room for a copy although there is no further name: file systems refuse those
/// with many an error.
fn can_be_copied(error: &io::Error) -> bool {
    let others = [
        libc::EEXIST,
        libc::ENOENT,
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EIO,
        libc::ESTALE,
        libc::EROFS,
    ];
    let code = error.raw_os_error();
    code.is_some_and(|code| !others.contains(&code))
}

/// Keep a copy. It is there whole or not at all.
fn copy(on: &mut impl Store, from: &Path, found: &Found, to: &Path) -> io::Result<()> {
    if on.look(to)?.is_some() {
        return Ok(());
    }
    if let Kind::Symlink(target) = &found.kind {
        return on.symlink(to, target);
    }
    // A branch that was left in the middle of a plan may have lost it.
    ensure_folder(on, &own("stage"))?;
    let (new, its) = (own("stage").join(ROOT), &found.attributes);
    remove_tree(on, &new)?;
    let mut copied = if_allowed(copy_within(on, from, &new))?;
    let open = with_mode(its, its.mode | READING);
    if copied.is_none() && if_allowed(on.dress(from, &open))?.is_some() {
        remove_tree(on, &new)?;
        copied = if_allowed(copy_within(on, from, &new))?;
        on.dress(from, its)?;
    }
    if copied.is_none() {
        return remove_tree(on, &new);
    }
    dress_as_allowed(on, &new, its)?;
    on.sync(&new)?;
    on.rename(&new, to)
}

fn with_mode(attributes: &Attributes, mode: u32) -> Attributes {
    Attributes {
        mode,
        ..*attributes
    }
}
