//! The begin and the end of a server.

use std::fs::{self, File};
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::daemon::Shared;
use crate::export::{Export, Summary};
use crate::fault::Fault;
use crate::sys;

/// What is served, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub folder: PathBuf,
    /// With port 0 any that is free, the same for TCP and UDP.
    pub listen: SocketAddr,
    /// Requests that are answered at once; 4, as many as FreeBSD 4 starts.
    pub daemons: usize,
    pub read_ahead: readahead::Settings,
    /// Where each decision goes.
    pub log: Option<PathBuf>,
}

/// Files that are open beside those of connections: of the export, on the way to one, the program's.
const OTHER_FILES: usize = 512;

/// Another process may have the UDP port of the TCP port that is free.
const TRIES: usize = 100;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    /// Two ends: daemons look at the second, and the first is shut for them to stop.
    stop: [UnixStream; 2],
    daemons: Vec<JoinHandle<io::Result<()>>>,
}

impl Server {
    /// # Errors
    /// If the folder or the address cannot be had, or a number is out of its bounds.
    pub fn start(settings: &Settings) -> Result<Self, Fault> {
        let log = settings.log.as_ref().map(|log| {
            create(log).map_err(|error| Fault::of(log.display(), &error, "another --log"))
        });
        let log = log.transpose()?;
        let export = Export::new(&settings.folder, &settings.read_ahead, log)?;
        let other = "another address, or --listen 127.0.0.1:0 for any port that is free";
        let begun = Self::begin(export, settings);
        begun.map_err(|error| Fault::of(settings.listen, &error, other))
    }

    fn begin(export: Export, settings: &Settings) -> io::Result<Self> {
        let sockets = bind(settings.listen)?;
        let address = sockets.0.local_addr()?;
        let stop: [UnixStream; 2] = UnixStream::pair()?.into();
        let most_connections = sys::most_open_files()?.saturating_sub(OTHER_FILES).max(1);
        let shared = Arc::new(Shared::new(export, sockets, &stop[1], most_connections)?);
        let mut server = Self {
            address,
            shared,
            stop,
            daemons: Vec::new(),
        };
        for _ in 0..settings.daemons.max(1) {
            let shared = Arc::clone(&server.shared);
            let daemon = Builder::new().name("nfsd".to_owned());
            server.daemons.push(daemon.spawn(move || shared.work())?);
        }
        Ok(server)
    }

    /// What was done so far. What is to be logged is in the log then.
    pub fn summary(&self) -> Summary {
        self.shared.export.summary()
    }

    /// Clients over TCP, as far as the server knows.
    pub fn connections(&self) -> usize {
        self.shared.connections()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop[0].shutdown(Shutdown::Both);
        for daemon in self.daemons.drain(..) {
            let _ = daemon.join();
        }
    }
}

/// The same port for TCP and UDP.
fn bind(listen: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let mut tries = TRIES;
    loop {
        let tcp = TcpListener::bind(listen)?;
        match UdpSocket::bind(tcp.local_addr()?) {
            Ok(udp) => return Ok((tcp, udp)),
            Err(error) if listen.port() != 0 || tries == 0 => return Err(error),
            Err(_) => tries -= 1,
        }
    }
}

/// Begin a file; one that is there is replaced, a block device refused.
fn create(log: &Path) -> io::Result<File> {
    if fs::metadata(log).is_ok_and(|found| found.file_type().is_block_device()) {
        return Err(io::Error::other("its data would be lost"));
    }
    File::create(log)
}
