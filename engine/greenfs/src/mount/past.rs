//! What the remote held at any time, as programs see it: `.greenfs/history/TIME` in the mounted
//! folder, read-only.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo};

use crate::branch::OWN;
use crate::branch::past::{self, Spot};
use crate::branch::store::Store;
use crate::clock;
use crate::mount::answers::{ATTRIBUTES_CHANGE, Lasting, NAMES_LAST};
use crate::mount::attributes::{opened, unchanging};
use crate::mount::calendar;
use crate::mount::errors::{error, gone};
use crate::mount::handles::{Handles, Listing, Open, Way};
use crate::mount::patience::Timed;
use crate::mount::places::{FROM, Place, Places};
use crate::mount::remote::{Asking, Remote, away};
use crate::net::{Site, copied};
use crate::protocol::{Kind, NodeId, ROOT};
use crate::sys;

const HISTORY: &str = "history";

/// Leads to the remote.
pub const REMOTE: &str = "remote";

/// Who mounted may look at what was, and nobody else: a folder has the mode that it has now, and what
/// stood in it may have been closed to others then.
const OWNERS: u32 = 0o500;

/// What may be done with what was.
const MODE: u32 = 0o555;

pub struct Past {
    remote: Remote,
    asking: Arc<Asking>,
    handles: Arc<Handles>,
    pub places: Places,
}

impl Past {
    pub fn new(remote: Remote, handles: Arc<Handles>) -> Arc<Self> {
        Arc::new(Self {
            asking: remote.asking(),
            remote,
            handles,
            places: Places::default(),
        })
    }

    /// Find what something is or has, and answer that; of the remote, when what was asked before is
    /// answered.
    pub fn of<R>(
        self: &Arc<Self>,
        inode: INodeNo,
        find: impl FnOnce(&Self) -> io::Result<R> + Send + 'static,
        answer: impl FnOnce(io::Result<R>) + Send + 'static,
    ) {
        match self.places.place(inode) {
            Ok(Place::Then(..)) => self.later(find, answer),
            _ => answer(find(self)),
        }
    }

    /// Find what is in a folder, and answer that; of the remote, when what was asked before is
    /// answered.
    pub fn within<R>(
        self: &Arc<Self>,
        folder: INodeNo,
        find: impl FnOnce(&Self) -> io::Result<R> + Send + 'static,
        answer: impl FnOnce(io::Result<R>) + Send + 'static,
    ) {
        match self.places.place(folder) {
            Ok(Place::History | Place::Then(..)) => self.later(find, answer),
            _ => answer(find(self)),
        }
    }

    /// A remote that hangs is not asked.
    fn later<R>(
        self: &Arc<Self>,
        find: impl FnOnce(&Self) -> io::Result<R> + Send + 'static,
        answer: impl FnOnce(io::Result<R>) + Send + 'static,
    ) {
        match self.remote.hangs() {
            true => answer(Err(away())),
            false => self.queue(move |past| answer(find(past))),
        }
    }

    fn queue(self: &Arc<Self>, job: impl FnOnce(&Self) + Send + 'static) {
        let own = Arc::clone(self);
        self.remote.queue(Box::new(move || job(&own)));
    }

    /// What is known of a time, by `find`. Also returns whether it is known for good: a change that is
    /// being made may still be of the time.
    fn then<R>(
        &self,
        at_us: i64,
        find: impl FnOnce(past::Past<Timed<Site>>) -> io::Result<R>,
    ) -> io::Result<(R, bool)> {
        let (branch, span) = self.asking.branch()?;
        let span = span.filter(|span| span.has(at_us, clock::now_us()));
        let span = span.ok_or_else(gone)?;
        let found = find(past::Past {
            branch: &branch,
            at_us,
        })?;
        Ok((found, at_us <= span.last_us))
    }

    /// Returns what a name stands for, and for how long it does.
    pub fn look_up(&self, parent: INodeNo, name: &OsStr) -> io::Result<(Lasting, Duration)> {
        let place = match (parent.0 == ROOT.0, name.to_str()) {
            (true, Some(OWN)) => Place::Own,
            (true, _) => return Err(gone()),
            (false, text) => match (self.places.place(parent)?, text) {
                (Place::Own, Some(HISTORY)) => Place::History,
                (Place::Own, Some(REMOTE)) => Place::Remote,
                (Place::History, Some(text)) => {
                    Place::Then(clock::read(text).ok_or_else(gone)?, PathBuf::new())
                }
                (Place::Then(at_us, path), _) => Place::Then(at_us, path.join(name)),
                _ => return Err(gone()),
            },
        };
        let (mut found, is_for_good) = self.attributes(&place)?;
        found.ino = self.places.number(place);
        let lasts = match is_for_good {
            true => NAMES_LAST,
            false => Duration::ZERO,
        };
        Ok(((found, ATTRIBUTES_CHANGE), lasts))
    }

    pub fn look_at(&self, inode: INodeNo) -> io::Result<Lasting> {
        let (mut found, _) = self.attributes(&self.places.place(inode)?)?;
        found.ino = inode;
        Ok((found, ATTRIBUTES_CHANGE))
    }

    /// Without the number. Also returns whether they are so for good.
    fn attributes(&self, place: &Place) -> io::Result<(FileAttr, bool)> {
        let ours = |kind, mode| {
            let own = std::fs::metadata("/proc/self")?;
            let owner = (own.uid(), own.gid());
            Ok((unchanging(kind, mode, 0, UNIX_EPOCH, owner), true))
        };
        let (at_us, path) = match place {
            Place::Own => return ours(FileType::Directory, OWNERS),
            Place::History => return ours(FileType::Directory, MODE),
            Place::Remote => return ours(FileType::Symlink, 0o777),
            Place::Then(at_us, path) => (*at_us, path),
        };
        let (spot, is_for_good) = self.then(at_us, |then| existing(&then, path))?;
        let its = spot.attributes;
        let (mode, at_ns) = match spot.kind {
            Kind::File => (its.mode & MODE, its.modified_ns),
            Kind::Symlink(_) => (its.mode, at_us.saturating_mul(1000)),
            _ => (its.mode & MODE, at_us.saturating_mul(1000)),
        };
        let at = UNIX_EPOCH + Duration::from_nanos(u64::try_from(at_ns).unwrap_or(0));
        let (kind, owner) = (file_type(&spot.kind), (its.uid, its.gid));
        Ok((unchanging(kind, mode, its.size, at, owner), is_for_good))
    }

    pub fn read_link(&self, inode: INodeNo) -> io::Result<Vec<u8>> {
        let target = match self.places.place(inode)? {
            Place::Remote => self.remote.place().to_owned().into_os_string(),
            Place::Then(at_us, path) => {
                let (spot, _) = self.then(at_us, |then| existing(&then, &path))?;
                match spot.kind {
                    Kind::Symlink(target) => target,
                    _ => return Err(error(libc::EINVAL)),
                }
            }
            _ => return Err(error(libc::EINVAL)),
        };
        Ok(target.into_encoded_bytes())
    }

    pub fn list(&self, inode: INodeNo, handle: u64) -> io::Result<Listing> {
        self.handles.listing(handle, || {
            let dots = [".", ".."].map(|dot| (dot.into(), FileType::Directory));
            let all = dots.into_iter().chain(self.entries(inode)?);
            // What is listed has a number only once it is looked up; none may be 0.
            let listing = all.map(|(name, kind)| (name, NodeId(FROM - 1), kind));
            Ok(Arc::new(listing.collect()))
        })
    }

    fn entries(&self, inode: INodeNo) -> io::Result<Vec<(OsString, FileType)>> {
        let mut entries = Vec::new();
        match self.places.place(inode)? {
            Place::Own => {
                entries.push((HISTORY.into(), FileType::Directory));
                entries.push((REMOTE.into(), FileType::Symlink));
            }
            Place::History => {
                let times = self
                    .asking
                    .branch()?
                    .1
                    .map_or_else(Vec::new, calendar::times);
                let folders = times.into_iter().map(|time| time.into());
                entries.extend(folders.map(|time| (time, FileType::Directory)));
            }
            Place::Then(at_us, path) => {
                let listed =
                    |then: past::Past<Timed<Site>>| then.children(&existing(&then, &path)?);
                let (children, _) = self.then(at_us, listed)?;
                let children = children.into_iter();
                entries.extend(children.map(|(name, spot)| (name, file_type(&spot.kind))));
            }
            Place::Remote => return Err(error(libc::ENOTDIR)),
        }
        Ok(entries)
    }

    /// Open a file for reading. Returns its handle.
    pub fn open(&self, inode: INodeNo) -> io::Result<u64> {
        let Place::Then(at_us, path) = self.places.place(inode)? else {
            return Err(error(libc::EISDIR));
        };
        let opened = |then: past::Past<Timed<Site>>| {
            let open = |spot: &Spot| open_file(then.branch, &spot.at);
            then.steadily(&existing(&then, &path)?, open)?
        };
        let open = Open {
            id: NodeId(inode.0),
            file: self.then(at_us, opened)?.0,
            is_for_writing: false,
            is_read_write: false,
            is_part: false,
            is_synchronous: false,
            is_unnoted: false,
            read_ns: AtomicI64::new(0),
        };
        Ok(self.handles.add(open, |_| Way::Asking).0)
    }

    pub fn read(&self, handle: u64, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.asking
            .steps
            .time(|| self.handles.read(handle, offset, most_b))
    }

    /// Find data or a hole in an open file, as lseek(2).
    pub fn seek(&self, handle: u64, offset: i64, whence: i32) -> io::Result<i64> {
        let open = self.handles.file(handle)?;
        self.asking
            .steps
            .time(|| sys::seek(&open.file, offset, whence))
    }

    /// A program has closed a file, and waits for nothing.
    pub fn release(self: &Arc<Self>, handle: u64) {
        self.queue(move |past| past.asking.steps.time(|| drop(past.handles.remove(handle))));
    }
}

fn existing(then: &past::Past<impl Store>, path: &Path) -> io::Result<Spot> {
    then.find(path)?.ok_or_else(gone)
}

/// Open a file for reading; a pipe in its place must not make this wait.
fn open_file(branch: &Timed<Site>, at: &Path) -> io::Result<File> {
    let Site::Here(folder) = &branch.inner else {
        return copied(branch, at);
    };
    let options = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .to_owned();
    branch
        .steps
        .time(|| options.open(opened(&folder.reach(at)?)))
}

fn file_type(kind: &Kind) -> FileType {
    match kind {
        Kind::Folder => FileType::Directory,
        Kind::Symlink(_) => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}
