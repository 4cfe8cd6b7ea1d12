//! What a server does for one client: each request on the folder that is served.

use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::branch::store::{Store, copy_range};
use crate::net::frame::TAIL_MOST_B;
use crate::net::keeping::Keeping;
use crate::net::request::{Answer, Request};
use crate::net::tree::Tree;
use crate::text::shown;

pub struct Hands<'a> {
    pub tree: Tree<'a>,
    /// The client claimed the folder.
    pub may_change: bool,
    pub keeping: Option<&'a Keeping>,
}

impl Hands<'_> {
    /// Do what is asked. Returns the answer, and what was asked for.
    pub fn answer(&mut self, request: &Request, data: &[u8]) -> (Answer, Vec<u8>) {
        let looked = match request {
            Request::List(place) => self.tree.store().list(place.path()).map(|names| {
                let mut all = Vec::new();
                for name in names {
                    all.extend_from_slice(name.as_bytes());
                    all.push(0);
                }
                (Answer::Done, all)
            }),
            Request::Look(place) => {
                let found = self.tree.store().look(place.path());
                found.map(|found| (Answer::Found(found), Vec::new()))
            }
            Request::Read {
                place,
                offset,
                most_b,
            } => {
                let most_b = (*most_b).min(TAIL_MOST_B);
                let read = self.tree.store().read(place.path(), *offset, most_b);
                read.inspect_err(|error| say(place.path(), error))
                    .map(|read| (Answer::Done, read))
            }
            request => self
                .change(request, data)
                .map(|()| (Answer::Done, Vec::new())),
        };
        looked.unwrap_or_else(|error| {
            let code = error.raw_os_error().unwrap_or(libc::EIO);
            (Answer::Failed(code), Vec::new())
        })
    }

    fn change(&mut self, request: &Request, data: &[u8]) -> io::Result<()> {
        if !self.may_change {
            return Err(io::Error::from_raw_os_error(libc::EROFS));
        }
        let act = |on: &mut dyn Store| match request {
            Request::Create { place, mode } => on.create(place.path(), *mode),
            Request::Write { place, offset } => on.write_copy(place.path(), *offset, data),
            Request::Truncate { place, size_b } => on.truncate(place.path(), *size_b),
            Request::Share {
                from,
                to,
                start,
                end,
            } => share(on, (from.path(), to.path()), *start..*end),
            Request::MakeFolder { place, mode } => on.make_folder(place.path(), *mode),
            Request::Symlink { place, target } => on.symlink(place.path(), target),
            Request::Link { from, to } => on.link(from.path(), to.path()),
            Request::Rename { from, to } => on.rename(from.path(), to.path()),
            Request::RemoveFile(place) => on.remove_file(place.path()),
            Request::RemoveFolder(place) => on.remove_folder(place.path()),
            Request::Dress { place, attributes } => on.dress(place.path(), attributes),
            Request::Sync(place) => on.sync(place.path()),
            Request::SyncAll => on.sync_all(),
            Request::Hello { .. } | Request::List(_) | Request::Look(_) | Request::Read { .. } => {
                Err(io::ErrorKind::InvalidInput.into())
            }
        };
        match self.keeping {
            Some(keeping) => keeping.around(request, &mut self.tree, act),
            None => act(self.tree.store_mut()),
        }
    }
}

/// The data are here, however they get from one file to the other.
fn share(on: &mut dyn Store, (from, to): (&Path, &Path), range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    match on.share(from, to, range.clone())? {
        true => Ok(()),
        false => copy_range(on, from, to, range),
    }
}

/// What the kernel has no number for, the client cannot be told: that a file in a pool is damaged.
fn say(path: &Path, error: &io::Error) {
    if error.raw_os_error().is_none() {
        let _ = writeln!(io::stderr(), "greenfs: {}: {error}", shown(path));
    }
}
