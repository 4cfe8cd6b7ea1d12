//! What a server does for one client: each request on the folder that is served.

use std::io;
use std::os::unix::ffi::OsStrExt;

use crate::branch::folder::Folder;
use crate::branch::store::Store;
use crate::net::frame::TAIL_MOST_B;
use crate::net::keeping::Keeping;
use crate::net::request::{Answer, Request};

pub struct Hands<'a> {
    pub folder: Folder,
    /// The client claimed the folder.
    pub may_change: bool,
    pub keeping: Option<&'a Keeping>,
}

impl Hands<'_> {
    /// Do what is asked. Returns the answer, and what was asked for.
    pub fn answer(&mut self, request: &Request, data: &[u8]) -> (Answer, Vec<u8>) {
        let looked = match request {
            Request::List(place) => self.folder.list(place.path()).map(|names| {
                let mut all = Vec::new();
                for name in names {
                    all.extend_from_slice(name.as_bytes());
                    all.push(0);
                }
                (Answer::Done, all)
            }),
            Request::Look(place) => {
                let found = self.folder.look(place.path());
                found.map(|found| (Answer::Found(found), Vec::new()))
            }
            Request::Read {
                place,
                offset,
                most_b,
            } => {
                let most_b = (*most_b).min(TAIL_MOST_B);
                let read = self.folder.read(place.path(), *offset, most_b);
                read.map(|read| (Answer::Done, read))
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
        let act = |folder: &mut Folder| match request {
            Request::Create { place, mode } => folder.create(place.path(), *mode),
            Request::Write { place, offset } => folder.write(place.path(), *offset, data),
            Request::Truncate { place, size_b } => folder.truncate(place.path(), *size_b),
            Request::MakeFolder { place, mode } => folder.make_folder(place.path(), *mode),
            Request::Symlink { place, target } => folder.symlink(place.path(), target),
            Request::Link { from, to } => folder.link(from.path(), to.path()),
            Request::Rename { from, to } => folder.rename(from.path(), to.path()),
            Request::RemoveFile(place) => folder.remove_file(place.path()),
            Request::RemoveFolder(place) => folder.remove_folder(place.path()),
            Request::Dress { place, attributes } => folder.dress(place.path(), attributes),
            Request::Sync(place) => folder.sync(place.path()),
            Request::SyncAll => folder.sync_all(),
            Request::Hello { .. } | Request::List(_) | Request::Look(_) | Request::Read { .. } => {
                Err(io::ErrorKind::InvalidInput.into())
            }
        };
        match self.keeping {
            Some(keeping) => keeping.around(request, &mut self.folder, act),
            None => act(&mut self.folder),
        }
    }
}
