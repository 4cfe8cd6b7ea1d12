//! A branch that is asked over the network.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::branch::store::Store;
use crate::fault::Fault;
use crate::net::frame;
use crate::net::keys;
use crate::net::request::{Answer, Place, Request, VERSION};
use crate::net::timely::Timely;
use crate::protocol::{Attributes, Found};

/// The names in a folder take no more.
const NAMES_MOST_B: usize = 256 << 20;

const NEXT: &str = "see that `greenfs serve` runs there, and that both have keys of one authority";

type Stream = StreamOwned<ClientConnection, Timely>;

pub struct Client {
    /// None once it has failed: what the server did last is not known then.
    stream: RefCell<Option<Box<Stream>>>,
    patience: Duration,
}

impl Client {
    /// Connect to `HOST:PORT`; a server that is silent for `patience` is away.
    ///
    /// # Errors
    /// If it is away, is not trusted, or does not serve this client.
    pub fn connect(
        address: &str,
        place: &Path,
        claims: bool,
        patience: Duration,
    ) -> Result<Self, Fault> {
        let config = keys::client()?;
        let away = |error: io::Error| {
            let what = format!("the server cannot be used: {error}");
            Fault::new(what, place, NEXT)
        };
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| away(io::Error::other(error)))?;
        let connection = ClientConnection::new(config, name);
        let connection = connection.map_err(|error| away(io::Error::other(error)))?;
        let socket = dial(address, patience).map_err(away)?;
        let stream = StreamOwned::new(connection, Timely::new(socket).map_err(away)?);
        let client = Self {
            stream: RefCell::new(Some(Box::new(stream))),
            patience,
        };
        let hello = Request::Hello {
            version: VERSION,
            claims,
        };
        match client.ask(&hello, &[], 0).map_err(away)? {
            (Answer::Done, _) => Ok(client),
            (Answer::Refused { what, next }, _) => Err(Fault::new(what, place, next)),
            (answer, _) => Err(away(odd(&answer))),
        }
    }

    /// Ask, and wait for what was asked for: no longer than the server is silent.
    fn ask(&self, request: &Request, data: &[u8], most_b: usize) -> io::Result<(Answer, Vec<u8>)> {
        let mut slot = self.stream.borrow_mut();
        let lost = || io::Error::from_raw_os_error(libc::EHOSTDOWN);
        let mut stream = slot.take().ok_or_else(lost)?;
        let answered = exchange(&mut stream, self.patience, (request, data), most_b);
        let answered = answered.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the server has hung up"),
            _ => error,
        })?;
        *slot = Some(stream);
        Ok(answered)
    }

    fn done(&self, request: &Request, data: &[u8], most_b: usize) -> io::Result<Vec<u8>> {
        match self.ask(request, data, most_b)? {
            (Answer::Done, data) => Ok(data),
            (Answer::Failed(code), _) => Err(io::Error::from_raw_os_error(code)),
            (answer, _) => Err(odd(&answer)),
        }
    }

    fn change(&self, request: &Request) -> io::Result<()> {
        self.done(request, &[], 0).map(drop)
    }
}

fn dial(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let until = Instant::now() + patience;
    let mut failed = io::Error::other("this host has no address");
    for address in address.to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(Duration::from_millis(1))) {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn exchange(
    stream: &mut Stream,
    patience: Duration,
    (request, data): (&Request, &[u8]),
    most_b: usize,
) -> io::Result<(Answer, Vec<u8>)> {
    stream.sock.allow(patience);
    frame::write(stream, request, data)?;
    let mut all = Vec::new();
    loop {
        stream.sock.allow(patience);
        let (answer, part) = frame::read(stream)?;
        all.extend(part);
        if all.len() > most_b {
            let what = "the server sends more than it was asked for";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        match answer {
            Answer::Part | Answer::Working => (),
            last => return Ok((last, all)),
        }
    }
}

fn odd(answer: &Answer) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the server answers something else: {answer:?}"),
    )
}

fn place(path: &Path) -> io::Result<Place> {
    Place::new(path).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

impl Store for Client {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let names = self.done(&Request::List(place(folder)?), &[], NAMES_MOST_B)?;
        let names = names.split_inclusive(|byte| *byte == 0);
        let name = |name: &[u8]| OsString::from_vec(name.strip_suffix(&[0]).unwrap_or(name).into());
        Ok(names.map(name).collect())
    }

    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        match self.ask(&Request::Look(place(path)?), &[], 0)? {
            (Answer::Found(found), _) => Ok(found),
            (Answer::Failed(code), _) => Err(io::Error::from_raw_os_error(code)),
            (answer, _) => Err(odd(&answer)),
        }
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        let mut data = Vec::new();
        while data.len() < most_b {
            let piece_b = (most_b - data.len()).min(frame::TAIL_MOST_B);
            let request = Request::Read {
                place: place(path)?,
                offset: offset + data.len() as u64,
                most_b: piece_b,
            };
            let piece = self.done(&request, &[], piece_b)?;
            data.extend_from_slice(&piece);
            if piece.len() < piece_b {
                break;
            }
        }
        Ok(data)
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let place = place(path)?;
        self.change(&Request::Create { place, mode })
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut at = offset;
        for piece in data.chunks(frame::TAIL_MOST_B) {
            let place = place(path)?;
            self.done(&Request::Write { place, offset: at }, piece, 0)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(path, offset, data)
    }

    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        let place = place(path)?;
        self.change(&Request::Truncate { place, size_b })
    }

    /// Always: the data do not go over the network.
    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        let (from, to) = (place(from)?, place(to)?);
        let Range { start, end } = range;
        let request = Request::Share {
            from,
            to,
            start,
            end,
        };
        self.change(&request).map(|()| true)
    }

    /// Only flash frees parts of files.
    fn punch(&mut self, _path: &Path, _range: Range<u64>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let place = place(path)?;
        self.change(&Request::MakeFolder { place, mode })
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        let (place, target) = (place(path)?, target.to_owned());
        self.change(&Request::Symlink { place, target })
    }

    /// Never: by a device in its folder a server would give away the machine; they stay on flash.
    fn make_other(&mut self, _: &Path, _: u32, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (place(from)?, place(to)?);
        self.change(&Request::Link { from, to })
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (place(from)?, place(to)?);
        self.change(&Request::Rename { from, to })
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.change(&Request::RemoveFile(place(path)?))
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.change(&Request::RemoveFolder(place(path)?))
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        let (place, attributes) = (place(path)?, *attributes);
        self.change(&Request::Dress { place, attributes })
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.change(&Request::Sync(place(path)?))
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.change(&Request::SyncAll)
    }
}
