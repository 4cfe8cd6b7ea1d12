//! `serve`: a folder, to clients whose certificate an authority has signed.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::Duration;

use crate::fault::Fault;
use crate::net::keeping::Keeping;
use crate::net::keys;
use crate::net::served::{Served, Slots};
use crate::net::session;
use crate::sys;
use mounting::signals;

/// Connections that have shown no certificate yet. Further ones are closed at once.
const STRANGERS_MOST: usize = 64;

/// Clients at once. Each takes about 3 MiB at most, and what it has listed.
const CLIENTS_MOST: usize = 64;

/// What is needed for a connection may be there again after this time.
const AGAIN: Duration = Duration::from_millis(50);

/// What to serve, and to whom.
pub struct Settings {
    pub folder: PathBuf,
    /// With port 0 any that is free.
    pub listen: SocketAddr,
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The authority of the clients.
    pub clients: PathBuf,
    /// Where what clients destroy is kept.
    pub keep: Option<PathBuf>,
}

/// Serve until a signal asks for the end. `ready` is called with the address once clients can come.
///
/// # Errors
/// If the folder, the keys or the address cannot be used.
pub fn serve(settings: &Settings, ready: impl FnOnce(SocketAddr)) -> Result<(), Fault> {
    signals::block_stops();
    let folder = fs::canonicalize(&settings.folder).and_then(|folder| {
        fs::read_dir(&folder)?;
        Ok(folder)
    });
    let folder = folder.map_err(|error| {
        let what = format!("this folder cannot be served: {error}");
        Fault::new(what, &settings.folder, "make it with `mkdir -p`")
    })?;
    let keep = settings.keep.as_ref();
    let keeping = keep.map(|keep| Keeping::new(keep, &folder)).transpose()?;
    let served = Arc::new(Served {
        folder,
        tls: keys::server(&settings.certificate, &settings.key, &settings.clients)?,
        keeping,
        clients: Slots::new(CLIENTS_MOST),
        strangers: Slots::new(STRANGERS_MOST),
    });
    sys::no_mask();
    let bound = TcpListener::bind(settings.listen).and_then(|listener| {
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    let (listener, address) = bound.map_err(|error| {
        let place = PathBuf::from(settings.listen.to_string());
        let next = "name another address with --listen; port 0 is any that is free";
        Fault::new(format!("nobody can come there: {error}"), &place, next)
    })?;
    thread::spawn(move || welcome(&listener, &served));
    ready(address);
    // What a client is told to be done is done: there is nothing to be ended.
    signals::wait_for_stop();
    Ok(())
}

fn welcome(listener: &TcpListener, served: &Arc<Served>) {
    loop {
        let Ok((socket, from)) = listener.accept() else {
            thread::sleep(AGAIN);
            continue;
        };
        let Some(stranger) = served.strangers.take() else {
            continue;
        };
        let served = Arc::clone(served);
        let attending = Builder::new().spawn(move || {
            if let Err(error) = session::attend(socket, &served, stranger) {
                say(from, &error);
            }
        });
        if attending.is_err() {
            thread::sleep(AGAIN);
        }
    }
}

/// A client that just leaves is not worth a line.
fn say(from: SocketAddr, error: &io::Error) {
    if error.kind() != io::ErrorKind::UnexpectedEof {
        use io::Write;
        let _ = writeln!(io::stderr(), "greenfs: {from}: {error}");
    }
}
