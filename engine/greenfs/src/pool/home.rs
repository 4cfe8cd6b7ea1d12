//! A pool in its folder: what it says of itself, and who uses it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use mounting::place::lock;
use serde::{Deserialize, Serialize};

use crate::branch::identity;
use crate::fault::Fault;
use crate::pool::chunks::{CHUNKS, Chunks, FRESH};
use crate::pool::secret::Secret;
use crate::sys;

/// The version of what is in a pool, and of recipes.
pub const FORMAT: u32 = 1;

const FILE: &str = "pool.json";
const NEW: &str = "pool.json.new";

/// Another server that starts needs the pool for itself for a moment.
const TRIES: u32 = 50;
const AGAIN: Duration = Duration::from_millis(100);

/// What a pool says that it is.
#[derive(Serialize, Deserialize)]
struct Identity {
    format: u32,
    /// By which the folders that live of it know it.
    pool: String,
    /// By which it knows its key; null if it has none.
    key: Option<String>,
}

pub struct Pool {
    pub root: PathBuf,
    pub id: String,
    pub chunks: Chunks,
    /// The root; it has the lock.
    folder: File,
}

impl Pool {
    /// Use a pool together with other servers; make it in a folder that is empty.
    ///
    /// # Errors
    /// If it cannot be used, has another key, is newer, or somebody has it alone.
    pub fn serve(root: &Path, key: Option<&Path>) -> Result<Self, Fault> {
        let secret = secret(key)?;
        let unusable = |error: io::Error| unusable(root, &error);
        let folder = File::open(root).map_err(unusable)?;
        if lock(&folder).is_err() {
            share(&folder, root)?;
            return Self::new(root, secret, folder);
        }
        if is_new(root).map_err(unusable)? {
            make(root, &secret).map_err(unusable)?;
        }
        let pool = Self::new(root, secret, folder)?;
        let recovered = pool.chunks.temporary().and_then(|_| pool.chunks.recover());
        recovered.map_err(unusable)?;
        share(&pool.folder, root)?;
        Ok(pool)
    }

    /// Look at a pool, whoever uses it.
    ///
    /// # Errors
    /// If it is none, has another key, is newer, or is being swept.
    pub fn look(root: &Path, key: Option<&Path>) -> Result<Self, Fault> {
        let folder = File::open(root).map_err(|error| unusable(root, &error))?;
        share(&folder, root)?;
        Self::new(root, secret(key)?, folder)
    }

    /// Use a pool that no server uses.
    ///
    /// # Errors
    /// If one does, or it is none, has another key, or is newer.
    pub fn alone(root: &Path, key: Option<&Path>) -> Result<Self, Fault> {
        let folder = File::open(root).map_err(|error| unusable(root, &error))?;
        lock(&folder).map_err(|_| in_use(root, "a server"))?;
        Self::new(root, secret(key)?, folder)
    }

    fn new(root: &Path, secret: Secret, folder: File) -> Result<Self, Fault> {
        let root = fs::canonicalize(root).map_err(|error| unusable(root, &error))?;
        let Identity { pool, key, .. } = identity(&root.join(FILE))?;
        if key.as_deref() != secret.check() {
            let (what, next) = match (&key, secret.check()) {
                (Some(_), None) => ("this pool is encrypted", "name its key with --pool-key"),
                (None, _) => ("this pool is not encrypted", "leave --pool-key out"),
                _ => ("this pool has another key", "name its own with --pool-key"),
            };
            return Err(Fault::new(what, &root, next));
        }
        let chunks = Chunks::new(root.clone(), secret);
        Ok(Self {
            root,
            id: pool,
            chunks,
            folder,
        })
    }

    pub fn secret(&self) -> &Secret {
        self.chunks.secret()
    }
}

fn unusable(root: &Path, error: &io::Error) -> Fault {
    let next = "name the folder of a pool, or an empty one";
    Fault::new(format!("this pool cannot be used: {error}"), root, next)
}

fn in_use(root: &Path, by: &str) -> Fault {
    let next = "wait until that has ended, or end it";
    Fault::new(format!("{by} uses this pool"), root, next)
}

/// Use a pool together with other servers, once none has it alone.
fn share(folder: &File, root: &Path) -> Result<(), Fault> {
    for _ in 0..TRIES {
        if sys::share_lock(folder).is_ok() {
            return Ok(());
        }
        thread::sleep(AGAIN);
    }
    Err(in_use(root, "`greenfs pool sweep`"))
}

fn secret(key: Option<&Path>) -> Result<Secret, Fault> {
    key.map_or_else(|| Ok(Secret::none()), Secret::read)
}

/// Whether a folder is empty, but for what a pool has that was not whole when it was made.
fn is_new(root: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        if ![CHUNKS, FRESH, NEW].iter().any(|own| name == *own) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn make(root: &Path, secret: &Secret) -> io::Result<()> {
    Chunks::make(root)?;
    let id = identity::new_volume().map_err(io::Error::other)?;
    let identity = Identity {
        format: FORMAT,
        pool: id,
        key: secret.check().map(String::from),
    };
    replace(
        &root.join(FILE),
        &root.join(NEW),
        &serde_json::to_vec(&identity)?,
    )
}

/// Put a line in the place of a file, by way of another name, so that it is there whole, and durable.
pub fn replace(file: &Path, new: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut to = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(new)?;
    to.write_all(&[line, b"\n"].concat())?;
    to.sync_all()?;
    fs::rename(new, file)?;
    File::open(file.parent().unwrap_or(Path::new("/")))?.sync_all()
}

fn identity(file: &Path) -> Result<Identity, Fault> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let none = |what: String| {
        Fault::new(
            what,
            file,
            "name the folder of a pool, or an empty one to serve with",
        )
    };
    let text = fs::read(file).map_err(|error| none(format!("this is no pool: {error}")))?;
    let wrong = |error: serde_json::Error| none(format!("this is no pool: {error}"));
    let Version { format } = serde_json::from_slice(&text).map_err(wrong)?;
    if format > FORMAT {
        let what = format!("this pool has format {format}; this greenfs knows {FORMAT}");
        return Err(Fault::new(
            what,
            file,
            "use the greenfs that wrote it, or a newer one",
        ));
    }
    serde_json::from_slice(&text).map_err(wrong)
}
