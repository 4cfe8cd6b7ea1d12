//! All that lives of a pool, looked at: whether every file is whole, and which chunks none needs.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::branch::folder::Folder;
use crate::fault::Fault;
use crate::pool::Pool;
use crate::pool::closed::{self, Opened};
use crate::pool::recipe::{self, Broken, Content, Part};
use crate::pool::secret::Id;
use crate::pool::tenants::{self, Tenant};
use crate::sys;

/// How a pool and its folders stand.
#[derive(Debug, Default)]
pub struct Report {
    pub folders: usize,
    /// Several names of one file count once.
    pub files: u64,
    pub files_b: u64,
    pub chunks: u64,
    pub chunks_b: u64,
    /// Of these, chunks that no file needs.
    pub spare: u64,
    pub spare_b: u64,
    /// What is damaged or missing, and which files with it.
    pub damage: Vec<(PathBuf, String)>,
}

/// A chunk as it was found.
struct Chunk {
    sealed_b: u64,
    /// None if it is damaged.
    data_b: Option<usize>,
    is_needed: bool,
}

/// Read every chunk and every recipe. Servers may be at work meanwhile.
///
/// # Errors
/// If a folder of the pool is not there, or the pool cannot be read.
pub fn check(pool: &Pool) -> Result<Report, Fault> {
    let tenants = tenants::all(pool)?;
    let mut report = Report {
        folders: tenants.len(),
        ..Report::default()
    };
    let mut chunks = HashMap::new();
    let looked = pool.chunks.each(|id, place, sealed_b| {
        let data_b = match pool.chunks.open(&id, place) {
            Ok(data) => Some(data.len()),
            // It has just become durable, and is found there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                report.damage.push((place.to_owned(), error.to_string()));
                None
            }
        };
        let is_needed = false;
        let chunk = Chunk {
            sealed_b,
            data_b,
            is_needed,
        };
        chunks.insert(id, chunk);
        Ok(())
    });
    looked.map_err(|error| unreadable(&pool.root, &error))?;
    let mut wrong = |part: &Part| match chunks.get_mut(&part.id) {
        Some(chunk) => {
            chunk.is_needed = true;
            let is_whole = chunk.data_b == Some(part.size_b as usize);
            (!is_whole).then(|| Broken::Chunk(part.id).to_string())
        }
        // It may have come since.
        None => pool.chunks.get(part).err().map(|error| error.to_string()),
    };
    each_file(&tenants, |place, recipe| {
        let content = recipe.and_then(|recipe| Ok(recipe::read(&recipe, pool.secret())?));
        report.files += 1;
        report.files_b += content.as_ref().map_or(0, Content::size_b);
        let broken = match &content {
            Ok(Content::Data(_)) => None,
            Ok(Content::List(list)) => {
                let broken: Vec<String> = list.parts().iter().filter_map(&mut wrong).collect();
                broken.into_iter().next()
            }
            Err(error) => Some(error.to_string()),
        };
        report
            .damage
            .extend(broken.map(|what| (place.to_owned(), what)));
        Ok(())
    })?;
    for chunk in chunks.values() {
        report.chunks += 1;
        report.chunks_b += chunk.sealed_b;
        if !chunk.is_needed {
            report.spare += 1;
            report.spare_b += chunk.sealed_b;
        }
    }
    Ok(report)
}

/// The chunks of a pool that no file needs, as long as nobody else uses it.
pub struct Spare<'a> {
    pool: &'a Pool,
    tenants: Vec<Tenant>,
    pub chunks: Vec<PathBuf>,
    pub chunks_b: u64,
}

/// Find the chunks that no file needs. Nobody else uses the pool.
///
/// # Errors
/// If a folder of the pool is not there, or a file there cannot be understood.
pub fn spare(pool: &Pool) -> Result<Spare<'_>, Fault> {
    let tenants = tenants::all(pool)?;
    let mut needed: HashSet<Id> = HashSet::new();
    each_file(&tenants, |place, recipe| {
        let content = recipe.and_then(|recipe| Ok(recipe::read(&recipe, pool.secret())?));
        match content {
            Ok(Content::List(list)) => needed.extend(list.parts().iter().map(|part| part.id)),
            Ok(Content::Data(_)) => (),
            Err(error) => {
                let what = format!("nobody knows which chunks this file needs: {error}");
                let next = "`greenfs pool check` names all such files: move them out of the folder";
                return Err(Fault::new(what, place, next));
            }
        }
        Ok(())
    })?;
    let (mut chunks, mut chunks_b) = (Vec::new(), 0);
    let looked = pool.chunks.each(|id, place, sealed_b| {
        if !needed.contains(&id) {
            chunks.push(place.to_owned());
            chunks_b += sealed_b;
        }
        Ok(())
    });
    looked.map_err(|error| unreadable(&pool.root, &error))?;
    Ok(Spare {
        pool,
        tenants,
        chunks,
        chunks_b,
    })
}

impl Spare<'_> {
    /// Remove them.
    ///
    /// # Errors
    /// If a folder of the pool cannot be made durable, or a chunk cannot be removed.
    pub fn remove(&self) -> Result<(), Fault> {
        // What a client removed must not be back after a power cut, without its chunks.
        for Tenant { folder, .. } in &self.tenants {
            let synced = File::open(folder).and_then(|folder| sys::sync_file_system(&folder));
            synced.map_err(|error| unreadable(folder, &error))?;
        }
        let removed = self.chunks.iter().try_for_each(fs::remove_file);
        removed.map_err(|error| unreadable(&self.pool.root, &error))
    }
}

fn unreadable(place: &Path, error: &io::Error) -> Fault {
    let next = "see that it is mounted, and that this user may use it";
    Fault::new(format!("this cannot be read: {error}"), place, next)
}

/// What is left to do in a folder.
enum Step {
    Visit(PathBuf),
    /// All that is in it was visited.
    Close(Opened),
}

/// Do something with every file that is not empty: what stands in the place of its data, or why that
/// cannot be read. A file that has several names comes once.
fn each_file(
    tenants: &[Tenant],
    mut act: impl FnMut(&Path, io::Result<Vec<u8>>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for tenant in tenants {
        let folder = Folder::open(&tenant.folder);
        let folder = folder.map_err(|error| unreadable(&tenant.folder, &error))?;
        let mut steps = vec![Step::Visit(PathBuf::new())];
        while let Some(step) = steps.pop() {
            let path = match step {
                Step::Visit(path) => path,
                Step::Close(opened) => {
                    drop(opened);
                    continue;
                }
            };
            let read = visit(&folder, &path, &mut steps, |inode, is_only| {
                is_only || seen.insert(inode)
            });
            let place = tenant.folder.join(&path);
            match read {
                Ok(Some(recipe)) if !tenant.is_own(&path) => act(&place, Ok(recipe))?,
                Ok(_) => (),
                // A client has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => act(&place, Err(error))?,
            }
        }
    }
    Ok(())
}

/// What stands in the place of a file's data, if it is a file that is not empty and wanted: by its device
/// and inode, and whether it has only this name. What is in a folder comes among the steps.
fn visit(
    folder: &Folder,
    path: &Path,
    steps: &mut Vec<Step>,
    mut is_wanted: impl FnMut((u64, u64), bool) -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let found = folder.reach(path)?.metadata()?;
    if found.is_dir() {
        let (names, opened) = closed::list(folder, path)?;
        steps.extend(opened.map(Step::Close));
        steps.extend(names.iter().map(|name| Step::Visit(path.join(name))));
    }
    let inode = (found.dev(), found.ino());
    match found.is_file() && found.len() > 0 && is_wanted(inode, found.nlink() == 1) {
        true => {
            let size_b = usize::try_from(found.len()).map_err(io::Error::other)?;
            closed::read(folder, path, size_b).map(Some)
        }
        false => Ok(None),
    }
}
