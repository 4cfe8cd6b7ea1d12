//! What the remote held at any time, as programs see it: `.greenfs/history/TIME` in the mounted
//! folder, read-only.
//!
//! It is asked for in a thread of its own: when the remote hangs, only who looks there waits.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo};

use crate::branch::folder::Folder;
use crate::branch::past::{self, Spot};
use crate::branch::{OWN, identity};
use crate::clock;
use crate::mount::attributes::opened;
use crate::mount::handles::{Handles, Listing, Open, Way};
use crate::mount::names::error;
use crate::mount::places::{FROM, Place, Places, gone};
use crate::mount::standing::{Phase, Standings};
use crate::protocol::{Kind, NodeId, ROOT, Role};

const HISTORY: &str = "history";

/// Leads to the remote.
pub const REMOTE: &str = "remote";

const BLOCK_B: u64 = 512;

type Job = Box<dyn FnOnce() + Send>;

pub struct Past {
    remote: PathBuf,
    standings: Arc<Standings>,
    handles: Arc<Handles>,
    pub places: Places,
    jobs: Mutex<Sender<Job>>,
}

impl Past {
    pub fn new(remote: &Path, standings: Arc<Standings>, handles: Arc<Handles>) -> Arc<Self> {
        let (jobs, asked) = channel::<Job>();
        std::thread::spawn(move || asked.into_iter().for_each(|job| job()));
        Arc::new(Self {
            remote: remote.to_owned(),
            standings,
            handles,
            places: Places::default(),
            jobs: Mutex::new(jobs),
        })
    }

    /// Do this when what was asked before is done.
    pub fn later(self: &Arc<Self>, answer: impl FnOnce(&Self) + Send + 'static) {
        let own = Arc::clone(self);
        let jobs = self.jobs.lock().expect("a panic ends this process");
        // The thread ends with this process.
        let _ = jobs.send(Box::new(move || answer(&own)));
    }

    fn branch(&self) -> io::Result<Folder> {
        let is_away = self.standings.look(|branches| {
            let remote = branches.get(&Role::Remote);
            remote.is_some_and(|remote| matches!(remote.phase, Phase::Away(_)))
        });
        match is_away {
            true => Err(error(libc::EHOSTDOWN)),
            false => Folder::open(&self.remote),
        }
    }

    fn spot(&self, at_us: i64, path: &Path) -> io::Result<(Folder, Spot)> {
        let branch = self.branch()?;
        let then = past::Past {
            branch: &branch,
            at_us,
        };
        let spot = then.find(path)?.ok_or_else(gone)?;
        Ok((branch, spot))
    }

    /// The times of which the remote knows.
    fn span(&self) -> io::Result<Option<identity::Span>> {
        let identity = identity::read(&self.branch()?, &self.remote);
        let identity = identity.map_err(|fault| io::Error::other(fault.what))?;
        Ok(identity.and_then(|identity| identity.history))
    }

    pub fn look_up(&self, parent: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let place = match (parent.0 == ROOT.0, name.to_str()) {
            (true, Some(OWN)) => Place::Own,
            (true, _) => return Err(gone()),
            (false, text) => match (self.places.place(parent)?, text) {
                (Place::Own, Some(HISTORY)) => Place::History,
                (Place::Own, Some(REMOTE)) => Place::Remote,
                (Place::History, Some(text)) => {
                    let at_us = clock::read(text).ok_or_else(gone)?;
                    let is_known = |span: identity::Span| span.since_us <= at_us;
                    match self.span()?.is_some_and(is_known) && at_us <= clock::now_us() {
                        true => Place::Then(at_us, PathBuf::new()),
                        false => return Err(gone()),
                    }
                }
                (Place::Then(at_us, path), _) => Place::Then(at_us, path.join(name)),
                _ => return Err(gone()),
            },
        };
        let mut found = self.attributes(&place)?;
        found.ino = self.places.number(place);
        Ok(found)
    }

    pub fn look_at(&self, inode: INodeNo) -> io::Result<FileAttr> {
        let mut found = self.attributes(&self.places.place(inode)?)?;
        found.ino = inode;
        Ok(found)
    }

    /// Without the number.
    fn attributes(&self, place: &Place) -> io::Result<FileAttr> {
        let (kind, mode, size, at, owner) = match place {
            Place::Own | Place::History => {
                (FileType::Directory, 0o555, 0, UNIX_EPOCH, self.owner()?)
            }
            Place::Remote => (FileType::Symlink, 0o777, 0, UNIX_EPOCH, self.owner()?),
            Place::Then(at_us, path) => {
                let (_, spot) = self.spot(*at_us, path)?;
                let its = spot.attributes;
                let at_ns = match spot.kind {
                    Kind::File => its.modified_ns,
                    _ => at_us.saturating_mul(1000),
                };
                let at = UNIX_EPOCH + Duration::from_nanos(u64::try_from(at_ns).unwrap_or(0));
                let mode = match spot.kind {
                    Kind::Symlink(_) => its.mode,
                    _ => its.mode & !0o222,
                };
                (
                    file_type(&spot.kind),
                    mode,
                    its.size,
                    at,
                    (its.uid, its.gid),
                )
            }
        };
        Ok(attributes(kind, mode, size, at, owner))
    }

    /// Whose the mount is.
    fn owner(&self) -> io::Result<(u32, u32)> {
        use std::os::unix::fs::MetadataExt;
        let own = std::fs::metadata("/proc/self")?;
        Ok((own.uid(), own.gid()))
    }

    pub fn read_link(&self, inode: INodeNo) -> io::Result<Vec<u8>> {
        let target = match self.places.place(inode)? {
            Place::Remote => self.remote.clone().into_os_string(),
            Place::Then(at_us, path) => match self.spot(at_us, &path)?.1.kind {
                Kind::Symlink(target) => target,
                _ => return Err(error(libc::EINVAL)),
            },
            _ => return Err(error(libc::EINVAL)),
        };
        Ok(target.into_encoded_bytes())
    }

    pub fn list(&self, inode: INodeNo, handle: u64) -> io::Result<Listing> {
        let mut entries = Vec::new();
        match self.places.place(inode)? {
            Place::Own => {
                entries.push((HISTORY.into(), FileType::Directory));
                entries.push((REMOTE.into(), FileType::Symlink));
            }
            Place::History => {
                let days = self.span()?.map_or_else(Vec::new, days);
                entries.extend(
                    days.into_iter()
                        .map(|day| (day.into(), FileType::Directory)),
                );
            }
            Place::Then(at_us, path) => {
                let (branch, folder) = self.spot(at_us, &path)?;
                let then = past::Past {
                    branch: &branch,
                    at_us,
                };
                let children = then.children(&folder)?.into_iter();
                entries.extend(children.map(|(name, spot)| (name, file_type(&spot.kind))));
            }
            Place::Remote => return Err(error(libc::ENOTDIR)),
        }
        let dots = [".", ".."].map(|dot| (dot.into(), FileType::Directory));
        let all = dots.into_iter().chain(entries);
        // What is listed has a number only once it is looked up; none may be 0.
        let listing = all.map(|(name, kind)| (name, NodeId(FROM - 1), kind));
        Ok(self.handles.listing(handle, || Arc::new(listing.collect())))
    }

    /// Open a file for reading. Returns its handle.
    pub fn open(&self, inode: INodeNo) -> io::Result<u64> {
        let Place::Then(at_us, path) = self.places.place(inode)? else {
            return Err(error(libc::EISDIR));
        };
        let (branch, spot) = self.spot(at_us, &path)?;
        let open = Open {
            id: NodeId(inode.0),
            file: File::open(opened(&branch.reach(&spot.at)?))?,
            is_read_write: false,
        };
        Ok(self.handles.add(open, |_| Way::Asking).0)
    }

    pub fn read(&self, handle: u64, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.handles.read(handle, offset, most_b)
    }
}

/// The beginnings of the days since, as they are named; the last ones of very many.
fn days(span: identity::Span) -> Vec<String> {
    const DAY_US: i64 = 86_400_000_000;
    const MOST: i64 = 1000;
    let now_us = clock::now_us();
    let first_us = span.since_us.max(now_us - MOST * DAY_US);
    let mut days = vec![clock::local(span.since_us)];
    let mut at_us = first_us;
    while at_us <= now_us {
        let day = clock::day(at_us);
        let is_new = clock::read(&day).is_some_and(|begins_us| begins_us >= span.since_us);
        if is_new && days.last() != Some(&day) {
            days.push(day);
        }
        // Some days have 23 hours.
        at_us += DAY_US / 2;
    }
    let today = clock::day(now_us);
    let is_known = clock::read(&today).is_some_and(|begins_us| begins_us >= span.since_us);
    if is_known && days.last() != Some(&today) {
        days.push(today);
    }
    days
}

fn file_type(kind: &Kind) -> FileType {
    match kind {
        Kind::Folder => FileType::Directory,
        Kind::Symlink(_) => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}

fn attributes(
    kind: FileType,
    mode: u32,
    size: u64,
    at: SystemTime,
    (uid, gid): (u32, u32),
) -> FileAttr {
    FileAttr {
        ino: INodeNo(FROM),
        size,
        blocks: size.div_ceil(BLOCK_B),
        atime: at,
        mtime: at,
        ctime: at,
        crtime: UNIX_EPOCH,
        kind,
        perm: mode as u16,
        nlink: 1,
        uid,
        gid,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
