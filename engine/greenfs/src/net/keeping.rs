//! What a client destroys is kept where no client can get: `greenfs serve --keep`.
//!
//! Of whatever a request would destroy the last name or change the data, a hard link or a copy is made
//! first; and a line is written of each name that goes. Left out is scratch: what a greenfs writes for
//! itself over and over, and where nothing else can be moved to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;

use crate::branch::folder::Folder;
use crate::branch::store::Store;
use crate::branch::{OWN, own};
use crate::clock;
use crate::fault::Fault;
use crate::net::request::Request;
use crate::net::tree::Tree;
use crate::pool::tenants::LOG;
use crate::{sys, text};

/// Files of a branch that are written over and over, and a folder for what is not whole yet.
const SCRATCH: [&str; 7] = [
    "branch.json",
    "branch.new",
    "plan",
    "plan.new",
    "plan-taken",
    "probe",
    "stage",
];

pub struct Keeping {
    folder: PathBuf,
    log: Mutex<File>,
}

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    at: String,
    what: &'a str,
    #[serde(with = "text")]
    path: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The file in the folder of what is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// A folder to keep in, which lies beside the one that is served.
///
/// # Errors
/// If it lies in the other or that in it, or is on another file system.
pub fn beside(folder: &Path, served: &Path) -> Result<PathBuf, Fault> {
    let failed = |error: io::Error| failed(folder, &error);
    let found = fs::canonicalize(folder).map_err(failed)?;
    if found.starts_with(served) || served.starts_with(&found) {
        let what = "clients would get at what is kept there";
        return Err(unusable(folder, what.into()));
    }
    let device = |folder: &Path| fs::metadata(folder).map(|found| found.dev());
    if device(&found).map_err(failed)? != device(served).map_err(failed)? {
        return Err(unusable(folder, "this is another file system".into()));
    }
    Ok(found)
}

fn failed(folder: &Path, error: &io::Error) -> Fault {
    unusable(folder, format!("nothing can be kept there: {error}"))
}

fn unusable(folder: &Path, what: String) -> Fault {
    let next = "name a folder beside the one that is served, on the same file system";
    Fault::new(what, folder, next)
}

impl Keeping {
    /// Keep in a folder that is [`beside`] the one that is served.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(folder: PathBuf) -> Result<Self, Fault> {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(folder.join(LOG))
            .map_err(|error| failed(&folder, &error))?;
        let log = Mutex::new(log);
        Ok(Self { folder, log })
    }

    /// Do what a request asks, once what it would destroy is kept.
    ///
    /// # Errors
    /// If it fails; and, before it is done, if something cannot be kept or scratch would be made of what
    /// is none.
    pub fn around(
        &self,
        request: &Request,
        of: &mut Tree,
        act: impl FnOnce(&mut dyn Store) -> io::Result<()>,
    ) -> io::Result<()> {
        if !matches!(request, Request::Write { .. } | Request::Share { .. }) {
            of.finish()?;
        }
        let link = self.before(request, of.folder())?;
        act(of.store_mut()).inspect_err(|_| {
            // The client hears of the first failure.
            let _ = self.take_back(request, link.as_deref(), of.folder());
        })
    }

    /// Keep what a request would destroy. Returns the link that was made to it.
    fn before(&self, request: &Request, of: &Folder) -> io::Result<Option<String>> {
        match request {
            Request::Write { place, .. }
            | Request::Truncate { place, .. }
            | Request::Share { to: place, .. } => self.before_change(place.path(), of)?,
            Request::RemoveFile(place) => {
                of.reach(place.path())?;
                return self.before_loss("removed", place.path(), of);
            }
            Request::RemoveFolder(place) => {
                of.reach(place.path())?;
                if !is_scratch(place.path()) {
                    self.say("removed a folder", place.path(), None, None)?;
                }
            }
            Request::Link { from, to } => stays(from.path(), to.path())?,
            Request::Rename { from, to } => {
                let (from, to) = (from.path(), to.path());
                stays(from, to)?;
                of.reach(from)?;
                if from == to {
                    return Ok(None);
                }
                let link = self.before_loss("replaced", to, of)?;
                if !is_scratch(from) {
                    self.say("renamed", from, Some(to), None)?;
                }
                return Ok(link);
            }
            _ => (),
        }
        Ok(None)
    }

    /// A name that was to go did not: the log says so, and a link to what is still there goes again, for
    /// it would change with that.
    fn take_back(&self, request: &Request, link: Option<&str>, of: &Folder) -> io::Result<()> {
        let (path, to) = match request {
            Request::RemoveFile(place) | Request::RemoveFolder(place) => (place.path(), None),
            Request::Rename { from, to } => (from.path(), Some(to.path())),
            _ => return Ok(()),
        };
        if is_scratch(path) && to.is_none_or(is_scratch) {
            return Ok(());
        }
        self.say("not done", path, to, None)?;
        let Some(link) = link.map(|link| self.folder.join(link)) else {
            return Ok(());
        };
        let kept = fs::symlink_metadata(&link)?;
        match reached(to.unwrap_or(path), of)? {
            Some((_, found)) if found.ino() == kept.ino() => fs::remove_file(link),
            _ => Ok(()),
        }
    }

    /// A name goes; what it stands for is kept, by a link, if it has no other.
    fn before_loss(&self, what: &str, path: &Path, of: &Folder) -> io::Result<Option<String>> {
        if is_scratch(path) {
            return Ok(None);
        }
        let Some((node, found)) = reached(path, of)? else {
            return Ok(None);
        };
        let is_last = found.nlink() == 1 && (found.is_symlink() || found.size() > 0);
        let kept = match is_last {
            true => Some(self.put(|place| sys::link_node(&node, place))?),
            false => None,
        };
        self.say(what, path, None, kept.clone())?;
        Ok(kept)
    }

    /// The data of a file change in place, under all its names.
    fn before_change(&self, path: &Path, of: &Folder) -> io::Result<()> {
        if is_scratch(path) {
            return Ok(());
        }
        let Some((node, found)) = reached(path, of)? else {
            return Ok(());
        };
        if !found.is_file() || found.size() == 0 {
            return Ok(());
        }
        let kept = self.put(|place| {
            let mut to = File::create_new(place)?;
            let opened = format!("/proc/self/fd/{}", node.as_raw_fd());
            io::copy(&mut File::open(opened)?, &mut to)?;
            to.sync_all()
        })?;
        self.say("changed", path, None, Some(kept))
    }

    /// Put something into the folder, under the time as its name.
    fn put(&self, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<String> {
        let mut at_us = clock::now_us();
        loop {
            let name = clock::utc(at_us);
            match make(&self.folder.join(&name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => at_us += 1,
                made => return made.map(|()| name),
            }
        }
    }

    fn say(
        &self,
        what: &str,
        path: &Path,
        to: Option<&Path>,
        kept: Option<String>,
    ) -> io::Result<()> {
        let line = Line {
            at: clock::utc(clock::now_us()),
            what,
            path,
            to: to.map(|to| text::encoded(to.as_os_str())),
            kept,
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut log = self.log.lock().map_err(|_| io::Error::other("a panic"))?;
        log.write_all(&text)
    }
}

/// What is not a folder, to look at and to open; none if that is not there.
fn reached(path: &Path, of: &Folder) -> io::Result<Option<(File, fs::Metadata)>> {
    let node = match of.reach(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        node => node?,
    };
    let found = node.metadata()?;
    Ok((!found.is_dir()).then_some((node, found)))
}

fn is_scratch(path: &Path) -> bool {
    SCRATCH.iter().any(|name| path.starts_with(own(name)))
}

/// Nothing becomes scratch that was none.
fn stays(from: &Path, to: &Path) -> io::Result<()> {
    let moves_all = [from, to].contains(&Path::new(OWN));
    match moves_all || (is_scratch(to) && !is_scratch(from)) {
        true => Err(io::Error::from_raw_os_error(libc::EPERM)),
        false => Ok(()),
    }
}
