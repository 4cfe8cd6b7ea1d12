//! `serve`: a folder, to clients whose certificate an authority has signed.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::Duration;

use crate::fault::Fault;
use crate::net::keeping::{self, Keeping};
use crate::net::keys;
use crate::net::served::{Served, Slots};
use crate::net::session;
use crate::pool::Pool;
use crate::pool::tenants::{self, Tenant};
use crate::sys;
use mounting::signals;

/// Connections that have shown no certificate yet. Further ones are closed at once.
const STRANGERS_MOST: usize = 64;

/// Clients at once. Each takes about 3 MiB at most, and what it has listed; with a pool more.
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
    /// Where the data of files go; none if into the files.
    pub pool: Option<PathBuf>,
    /// The key by which they are encrypted there.
    pub pool_key: Option<PathBuf>,
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
    let keep = settings.keep.as_deref();
    let keep = keep
        .map(|keep| keeping::beside(keep, &folder))
        .transpose()?;
    let pool = pool(settings, &folder, keep.as_deref())?;
    let keeping = keep.map(Keeping::new).transpose()?;
    let served = Arc::new(Served {
        folder,
        pool,
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

/// The pool that is to be used, with the folder and that of what is kept as its own.
fn pool(settings: &Settings, folder: &Path, keep: Option<&Path>) -> Result<Option<Pool>, Fault> {
    let Some(root) = &settings.pool else {
        tenants::expect_plain(folder)?;
        return Ok(None);
    };
    let root = fs::canonicalize(root).map_err(|error| {
        let what = format!("this folder cannot be used: {error}");
        Fault::new(what, root, "make it with `mkdir -p`")
    })?;
    for other in [Some(folder), keep].into_iter().flatten() {
        if root.starts_with(other) || other.starts_with(&root) {
            let what = format!(
                "this pool is {} or in it, or that is in the pool",
                other.display()
            );
            return Err(Fault::new(
                what,
                &root,
                "name folders apart from each other",
            ));
        }
    }
    let pool = Pool::serve(&root, settings.pool_key.as_deref())?;
    Tenant::served(folder).enter(&pool)?;
    if let Some(keep) = keep {
        Tenant::kept(keep).enter(&pool)?;
    }
    Ok(Some(pool))
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
