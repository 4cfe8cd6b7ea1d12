//! Files of a server: mounted, looked up and read.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::link::{Link, Protocol, Tally};
use crate::protocol::nfs3::{
    self, Attributes, HANDLE_MOST_B, MOUNT, NFS, Status, mount, procedure, some_attributes,
};
use crate::protocol::rpc;
use crate::protocol::xdr::{Reader, Write};

/// A mounted export.
#[derive(Debug)]
pub struct Session {
    link: Link,
    next: AtomicU32,
    root: Handle,
}

/// What a server knows a file by.
pub type Handle = Vec<u8>;

const MOST_DATA_B: usize = 1 << 20;

impl Session {
    /// Mount the export `/`. Over UDP a call is sent again after the time-out.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not let us.
    pub fn mount(server: SocketAddr, protocol: Protocol, timeout: Duration) -> io::Result<Self> {
        // Numbers of another client that had our port before are not ours.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut session = Self {
            link: Link::new(server, protocol, timeout)?,
            next: AtomicU32::new(now.unwrap_or_default().subsec_nanos()),
            root: Handle::new(),
        };
        let number = session.number();
        let reply = session.call(number, MOUNT, mount::MNT, |out| out.opaque(b"/"))?;
        session.root = results(&reply, |reader| reader.opaque(HANDLE_MOST_B))?.to_vec();
        Ok(session)
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
            let reply = self.call(self.number(), NFS, procedure::LOOKUP, |out| {
                out.opaque(&handle);
                out.opaque(name.as_bytes());
            })?;
            handle = results(&reply, |reader| reader.opaque(HANDLE_MOST_B))?.to_vec();
        }
        let reply = self.call(self.number(), NFS, procedure::GETATTR, |out| {
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
    ) -> io::Result<Vec<u8>> {
        let reply = self.call(number, NFS, procedure::READ, |out| {
            out.opaque(handle);
            out.hyper(offset_b);
            out.word(count_b);
        })?;
        results(&reply, |reader| {
            some_attributes(reader)?;
            let _count_and_end = (reader.word()?, reader.word()?);
            reader.opaque(MOST_DATA_B)
        })
        .map(<[u8]>::to_vec)
    }

    /// What went over the link.
    pub fn tally(&self) -> Tally {
        self.link.tally()
    }

    fn call(
        &self,
        number: u32,
        program: (u32, u32),
        procedure: u32,
        arguments: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Vec<u8>> {
        let mut call = Vec::new();
        rpc::put_call(&mut call, number, program, procedure);
        arguments(&mut call);
        self.link.call(number, &call)
    }
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
