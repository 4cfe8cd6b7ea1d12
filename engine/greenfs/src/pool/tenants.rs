//! The folders whose files have recipes of a pool. Each is marked, so that nobody takes its recipes for
//! data; and the pool knows them all, as those whose chunks it must keep.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::branch::own;
use crate::fault::Fault;
use crate::pool::home::{FORMAT, Pool, replace};
use crate::text;

/// Of a folder that is served the mark lies in `.greenfs`, where no client has files of its own.
const MARK: &str = "pool";

/// The file of a pool that lists them, a line of JSON each.
const LIST: &str = "folders";

/// Lies beside what clients destroyed, where that is kept.
pub const LOG: &str = "log";

/// A folder whose files have recipes.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    #[serde(with = "text")]
    pub folder: PathBuf,
    /// Where its mark is.
    #[serde(with = "text")]
    mark: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Mark {
    format: u32,
    pool: String,
}

/// Where the mark is in a folder that is served.
pub fn mark() -> PathBuf {
    own(MARK)
}

impl Tenant {
    /// A folder that is served.
    pub fn served(folder: &Path) -> Self {
        let (folder, mark) = (folder.to_owned(), mark());
        Self { folder, mark }
    }

    /// A folder for what clients of a served one destroy.
    pub fn kept(folder: &Path) -> Self {
        let (folder, mark) = (folder.to_owned(), MARK.into());
        Self { folder, mark }
    }

    /// Have the files of the folder in a pool from now on. If it is empty it is marked.
    ///
    /// # Errors
    /// If it is not empty and not marked for this pool, or cannot be written to.
    pub fn enter(self, pool: &Pool) -> Result<(), Fault> {
        let failed = |error: io::Error| {
            let what = format!("this folder cannot be used with a pool: {error}");
            Fault::new(what, &self.folder, "see that it is mounted and writable")
        };
        if self.is_new().map_err(failed)? {
            self.put_mark(pool).map_err(failed)?;
        }
        self.check(pool)?;
        if !listed(pool)?.contains(&self) {
            self.list(pool).map_err(failed)?;
        }
        Ok(())
    }

    /// Whether nothing is there, but for a mark that was begun.
    fn is_new(&self) -> io::Result<bool> {
        let new = self.folder.join(&self.mark).with_extension("new");
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let place = entry?.path();
                if !new.starts_with(&place) {
                    return Ok(false);
                }
                if place != new {
                    folders.push(place);
                }
            }
        }
        Ok(true)
    }

    fn put_mark(&self, pool: &Pool) -> io::Result<()> {
        let mark = self.folder.join(&self.mark);
        let above = mark.parent().unwrap_or(&self.folder);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(above)?;
        let line = serde_json::to_vec(&Mark {
            format: FORMAT,
            pool: pool.id.clone(),
        })?;
        replace(&mark, &mark.with_extension("new"), &line)
    }

    /// Whether a file there is neither a client's nor one that was kept.
    pub fn is_own(&self, path: &Path) -> bool {
        let is_log = self.mark == Path::new(MARK) && path == Path::new(LOG);
        is_log || path == self.mark
    }

    /// See that the folder is there, and of this pool.
    fn check(&self, pool: &Pool) -> Result<(), Fault> {
        let mark = self.folder.join(&self.mark);
        let text = fs::read(&mark).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let what = "this folder has files that are in no pool, or has lost this one";
                let next = "name an empty folder: clients bring it all; or put this file back";
                Fault::new(what, &mark, next)
            }
            _ => {
                let what = format!("this folder cannot be read: {error}");
                Fault::new(what, &mark, "see that it is mounted")
            }
        })?;
        let what = match serde_json::from_slice::<Mark>(&text) {
            Ok(found) if found.format <= FORMAT && found.pool == pool.id => return Ok(()),
            Ok(found) if found.format <= FORMAT => {
                format!("this folder is of pool {}, not of {}", found.pool, pool.id)
            }
            Ok(found) => {
                let format = found.format;
                format!("this folder has format {format}; this greenfs knows {FORMAT}")
            }
            Err(error) => format!("this names no pool: {error}"),
        };
        let next =
            "name its own pool with --pool, and use the greenfs that wrote it or a newer one";
        Err(Fault::new(what, &mark, next))
    }

    /// Have the pool keep what this folder needs.
    fn list(&self, pool: &Pool) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(0o600);
        let mut list = options.open(pool.root.join(LIST))?;
        list.write_all(&line)?;
        list.sync_all()?;
        File::open(&pool.root)?.sync_all()
    }
}

/// See that the files of a folder are no recipes.
///
/// # Errors
/// If they are, or nobody can tell.
pub fn expect_plain(folder: &Path) -> Result<(), Fault> {
    let mark = folder.join(mark());
    match fs::symlink_metadata(&mark) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => Ok(()),
        Err(error) => Err(Fault::new(
            error.to_string(),
            &mark,
            "see that it can be read",
        )),
        Ok(_) => {
            let next = "use it through `greenfs serve DIR --pool POOL`";
            Err(Fault::new(
                "the data of this folder are in a pool",
                folder,
                next,
            ))
        }
    }
}

/// The folders of a pool.
///
/// # Errors
/// If one of them is not there, or the list cannot be read: nobody knows then what is needed.
pub fn all(pool: &Pool) -> Result<Vec<Tenant>, Fault> {
    let tenants = listed(pool)?;
    for tenant in &tenants {
        tenant.check(pool).map_err(|fault| Fault {
            next: format!(
                "mount what is to be there; if it is gone for good or has moved, take its line out of {}",
                pool.root.join(LIST).display()
            ),
            ..fault
        })?;
    }
    Ok(tenants)
}

fn listed(pool: &Pool) -> Result<Vec<Tenant>, Fault> {
    let file = pool.root.join(LIST);
    let wrong = |what: String| {
        let next = "restore it from a copy; each line has a folder and where its mark is";
        Fault::new(
            format!("the folders of this pool are not known: {what}"),
            &file,
            next,
        )
    };
    let text = match fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| wrong(error.to_string()))?,
    };
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))
}
