//! The folders that the command line names.

use std::fs;
use std::path::{Path, PathBuf};

use lexopt::{Parser, prelude::*};

use crate::branch::folder::Folder;
use crate::fault::Fault;
use crate::protocol::Role;

/// Existing folders, none in another.
pub struct Asked {
    pub flash: PathBuf,
    pub branches: Vec<(Role, PathBuf)>,
    /// A branch that was there before may be empty now.
    pub anew: bool,
}

/// The fault that a wrong command line is.
pub fn usage(error: lexopt::Error) -> Fault {
    wrong(error.to_string())
}

fn wrong(what: String) -> Fault {
    Fault::new(what, Path::new("command line"), "greenfs --help")
}

impl Asked {
    /// None asks for the help.
    pub fn parse(parser: &mut Parser) -> Result<Option<Self>, Fault> {
        let (mut flash, mut remote, mut disk) = (None, None, None);
        let mut anew = false;
        while let Some(argument) = parser.next().map_err(usage)? {
            let folder = match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("anew") => {
                    anew = true;
                    continue;
                }
                Long("flash") => &mut flash,
                Long("remote") => &mut remote,
                Long("disk") => &mut disk,
                other => return Err(usage(other.unexpected())),
            };
            let path = PathBuf::from(parser.value().map_err(usage)?);
            let is_first = folder.replace(resolved(&path)?).is_none();
            if !is_first {
                return Err(wrong("each folder can be named once".into()));
            }
        }
        let flash = flash.ok_or_else(|| wrong("which folder is --flash?".into()))?;
        let named = [(Role::Remote, remote), (Role::Disk, disk)];
        let branches = named.into_iter().filter_map(|(role, at)| Some((role, at?)));
        let asked = Self {
            flash,
            branches: branches.collect(),
            anew,
        };
        asked.check_apart()?;
        Ok(Some(asked))
    }

    fn check_apart(&self) -> Result<(), Fault> {
        let mut all = vec![&self.flash];
        for (_, folder) in &self.branches {
            let is_in = |other: &&&PathBuf| folder.starts_with(other) || other.starts_with(folder);
            if let Some(other) = all.iter().find(is_in) {
                return Err(Fault::new(
                    format!(
                        "this folder is {} or in it, or that one in this",
                        other.display()
                    ),
                    folder,
                    "name folders apart from each other, best on different devices",
                ));
            }
            all.push(folder);
        }
        Ok(())
    }
}

/// Open a branch that no other process uses.
pub fn open(place: &Path) -> Result<Folder, Fault> {
    let unusable = |what: String| {
        let next = "see that it is mounted and answers";
        Fault::new(what, place, next)
    };
    let folder = Folder::open(place)
        .map_err(|error| unusable(format!("this folder cannot be opened: {error}")))?;
    folder.lock().map_err(|_| {
        let next = "wait until it has ended, then begin again";
        Fault::new("another greenfs uses this folder", place, next)
    })?;
    Ok(folder)
}

fn resolved(path: &Path) -> Result<PathBuf, Fault> {
    let missing = |error: std::io::Error| {
        let next = "make it with `mkdir -p`, or mount what is to be there";
        Fault::new(format!("this folder cannot be used: {error}"), path, next)
    };
    let resolved = fs::canonicalize(path).map_err(missing)?;
    match resolved.is_dir() {
        true => Ok(resolved),
        false => Err(Fault::new("this is no folder", path, "name a folder")),
    }
}
