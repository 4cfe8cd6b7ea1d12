//! The folders that the command line names.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lexopt::{Parser, prelude::*};

use crate::fault::Fault;
use crate::net::SCHEME;
use crate::power::{Machine, Power};
use crate::protocol::Role;
use crate::spin::Limits;

/// A branch that does not answer for so long is not waited for, unless told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The disk is put to sleep once nobody has used it for so long, unless told otherwise.
const SLEEP_AFTER: Duration = Duration::from_secs(60);

/// Existing folders, none in another.
pub struct Asked {
    pub flash: PathBuf,
    pub branches: Vec<(Role, PathBuf)>,
    /// A branch that was there before may be empty now.
    pub anew: bool,
    /// Where to mount.
    at: Option<PathBuf>,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Serve the mount in this process.
    pub foreground: bool,
    /// A branch that does not answer for so long is not waited for.
    pub patience: Duration,
    /// When the disk is spun up.
    pub limits: Limits,
    /// Bring to flash what is not whole there.
    pub whole: bool,
    /// How much of the files may be on flash. MiB.
    pub flash_mib: Option<u32>,
    /// The disk is put to sleep once nobody has used it for so long; zero: it is left alone.
    pub sleep_after: Duration,
    /// A line for `sh` that does so.
    pub sleep_command: Option<String>,
    /// The file of the key that encrypts flash.
    pub flash_key: Option<PathBuf>,
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
    pub fn parse(parser: &mut Parser, is_mount: bool) -> Result<Option<Self>, Fault> {
        let (mut flash, mut remote, mut disk, mut at) = (None, None, None, None);
        let (mut anew, mut dry_run, mut foreground) = (false, false, false);
        let (mut patience, mut limits) = (PATIENCE, Limits::default());
        let (mut flash_mib, mut whole) = (None, false);
        let (mut sleep_after, mut sleep_command) = (SLEEP_AFTER, None);
        let mut flash_key = None;
        while let Some(argument) = parser.next().map_err(usage)? {
            let is_remote = argument == Long("remote");
            let folder = match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("anew") => {
                    anew = true;
                    continue;
                }
                Long("whole") => {
                    whole = true;
                    continue;
                }
                Long("dry-run") if is_mount => {
                    dry_run = true;
                    continue;
                }
                Long("foreground") if is_mount => {
                    foreground = true;
                    continue;
                }
                Long("patience") if is_mount => {
                    patience = seconds(parser).map_err(usage)?;
                    continue;
                }
                Long("spin-ups") if is_mount => {
                    limits.per_day = number(parser).map_err(usage)?;
                    continue;
                }
                Long("flash-mib") if is_mount => {
                    flash_mib = Some(number(parser).map_err(usage)?);
                    continue;
                }
                Long("flash-key") => {
                    flash_key = Some(parser.value().map_err(usage)?.into());
                    continue;
                }
                Long("sleep-after") if is_mount => {
                    sleep_after = seconds(parser).map_err(usage)?;
                    continue;
                }
                Long("sleep-command") if is_mount => {
                    let line = parser.value().and_then(|line| line.string());
                    sleep_command = Some(line.map_err(usage)?);
                    continue;
                }
                Value(place) if is_mount && at.is_none() => {
                    at = Some(PathBuf::from(place));
                    continue;
                }
                Long("flash") => &mut flash,
                Long("remote") => &mut remote,
                Long("disk") => &mut disk,
                other => return Err(usage(other.unexpected())),
            };
            let path = PathBuf::from(parser.value().map_err(usage)?);
            let is_served = is_remote && path.to_string_lossy().starts_with(SCHEME);
            let path = if is_served { path } else { resolved(&path)? };
            let is_first = folder.replace(path).is_none();
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
            at,
            dry_run,
            foreground,
            patience,
            limits,
            whole,
            flash_mib,
            sleep_after,
            sleep_command,
            flash_key,
        };
        let has_remote = asked.branches.iter().any(|(role, _)| *role == Role::Remote);
        if flash_mib.is_some() && !has_remote {
            return Err(wrong(
                "--flash-mib needs a --remote, which has what flash gives up".into(),
            ));
        }
        asked.check_apart()?;
        Ok(Some(asked))
    }

    /// Where to mount.
    pub fn mountpoint(&self) -> Result<&Path, Fault> {
        let at = self.at.as_deref();
        at.ok_or_else(|| wrong("on which folder is it to be mounted?".into()))
    }

    /// The disk that a mount puts to sleep, if there is one.
    pub fn power(&self) -> Option<Power> {
        let place = |role| {
            let named = self.branches.iter().find(|(its, _)| *its == role);
            named.map(|(_, place)| place.as_path())
        };
        let disk = place(Role::Disk).filter(|_| !self.sleep_after.is_zero())?;
        let mut others = vec![("flash folder", self.flash.as_path())];
        others.extend(place(Role::Remote).map(|remote| ("remote folder", remote)));
        let command = self.sleep_command.clone();
        Some(Power::new(Machine::here(), disk.into(), &others, command))
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

fn seconds(parser: &mut Parser) -> Result<Duration, lexopt::Error> {
    let seconds = parser.value()?.parse()?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string().into())
}

fn number(parser: &mut Parser) -> Result<u32, lexopt::Error> {
    parser.value()?.parse()
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
