//! Files of a server: mounted, looked up and read.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::link::{Link, Protocol, Tally};
use crate::protocol::nfs3::{
    self, Attributes, HANDLE_MOST_B, MOUNT, NFS, Status, mount, procedure, some_attributes,
};
use crate::protocol::rpc;
use crate::protocol::xdr::{Reader, Write};

/// Where an export is.
#[derive(Clone, Debug)]
pub struct Place {
    pub server: SocketAddr,
    /// Where MOUNT is: the port of NFS for servers like ours.
    pub mount_port: u16,
    pub export: String,
}

impl From<SocketAddr> for Place {
    /// That of a server like ours.
    fn from(server: SocketAddr) -> Self {
        Self {
            server,
            mount_port: server.port(),
            export: "/".to_owned(),
        }
    }
}

/// A mounted export.
#[derive(Debug)]
pub struct Session {
    link: Link,
    next: AtomicU32,
    root: Handle,
}

/// What a server knows a file by.
pub type Handle = Vec<u8>;

/// What was read: a part of a reply.
#[derive(Debug)]
pub struct Data {
    reply: Vec<u8>,
    within: Range<usize>,
}

impl Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.reply[self.within.clone()]
    }
}

impl Session {
    /// Mount an export. Over UDP a call is sent again after the time-out.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not let us.
    pub fn mount(place: &Place, protocol: Protocol, timeout: Duration) -> io::Result<Self> {
        // Numbers of another client that had our port before are not ours.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let first = now.unwrap_or_default().subsec_nanos();
        let mut mount_at = place.server;
        mount_at.set_port(place.mount_port);
        let link = Link::new(mount_at, protocol, timeout)?;
        let path = |out: &mut Vec<u8>| out.opaque(place.export.as_bytes());
        let reply = link.call(first, &message(first, MOUNT, mount::MNT, path))?;
        Ok(Self {
            link: Link::new(place.server, protocol, timeout)?,
            next: AtomicU32::new(first.wrapping_add(1)),
            root: results(&reply, |reader| reader.opaque(HANDLE_MOST_B))?.to_vec(),
        })
    }

    /// The number of the next call: later calls have higher ones.
    pub fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Find a file by its path below the export.
    ///
    /// # Errors
    /// If there is none, or the server does not answer.
    pub fn look_up(&self, path: &str) -> io::Result<(Handle, Attributes)> {
        let mut handle = self.root.clone();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let reply = self.call(self.number(), procedure::LOOKUP, |out| {
                out.opaque(&handle);
                out.opaque(name.as_bytes());
            })?;
            handle = results(&reply, |reader| reader.opaque(HANDLE_MOST_B))?.to_vec();
        }
        let reply = self.call(self.number(), procedure::GETATTR, |out| {
            out.opaque(&handle);
        })?;
        let attributes = results(&reply, nfs3::attributes)?;
        Ok((handle, attributes))
    }

    /// Read from a file by a call of this number: less than asked for at the end of the file, or
    /// beyond what the server sends at once.
    ///
    /// # Errors
    /// If the file has gone, or the server does not answer.
    pub fn read(
        &self,
        number: u32,
        handle: &[u8],
        offset_b: u64,
        count_b: u32,
    ) -> io::Result<Data> {
        let reply = self.call(number, procedure::READ, |out| {
            out.opaque(handle);
            out.hyper(offset_b);
            out.word(count_b);
        })?;
        let (length_b, padded_b) = results(&reply, |reader| {
            some_attributes(reader)?;
            let _count_and_end = (reader.word()?, reader.word()?);
            let length_b = reader.word()? as usize;
            // The data are the last of the reply, but for zeros up to a whole word.
            let padded_b = reader.rest().len();
            (padded_b == length_b.next_multiple_of(4)).then_some((length_b, padded_b))
        })?;
        let begin = reply.len() - padded_b;
        Ok(Data {
            within: begin..begin + length_b,
            reply,
        })
    }

    /// What went over the link.
    pub fn tally(&self) -> Tally {
        self.link.tally()
    }

    fn call(
        &self,
        number: u32,
        procedure: u32,
        arguments: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Vec<u8>> {
        self.link
            .call(number, &message(number, NFS, procedure, arguments))
    }
}

fn message(
    number: u32,
    program: (u32, u32),
    procedure: u32,
    arguments: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut message = Vec::new();
    rpc::put_call(&mut message, number, program, procedure);
    arguments(&mut message);
    message
}

/// The results of a call that was done.
fn results<'a, T>(
    reply: &'a [u8],
    read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> io::Result<T> {
    let garbage = || io::Error::new(ErrorKind::InvalidData, "the reply is not one of NFS 3");
    let mut reader = rpc::results(reply).ok_or_else(garbage)?;
    match reader.word().ok_or_else(garbage)? {
        ok if ok == Status::Ok as u32 => read(&mut reader).ok_or_else(garbage),
        // Up to there the numbers of NFS are those of the system.
        error @ ..10_000 => Err(io::Error::from_raw_os_error(error as i32)),
        error => Err(io::Error::other(format!(
            "the server says {error} (RFC 1813, nfsstat3)"
        ))),
    }
}
