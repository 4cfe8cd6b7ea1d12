//! `history` and `restore`: what the remote held before.

use std::fmt::Write;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Parser, prelude::*};

use super::asked::{PATIENCE, usage};
use crate::branch::folder::Folder;
use crate::branch::identity::{self, Span};
use crate::branch::past::{Copied, Past, Spot, versions};
use crate::branch::store::{Store, remove_tree};
use crate::branch::{RESTORING, own};
use crate::clock;
use crate::fault::Fault;
use crate::mount::REMOTE;
use crate::net::Site;
use crate::protocol::Kind;
use crate::report::size;

/// What the command line names.
#[derive(Default)]
struct Wish {
    remote: Option<PathBuf>,
    path: Option<PathBuf>,
    at: Option<String>,
    to: Option<PathBuf>,
}

impl Wish {
    /// None asks for the help.
    fn parse(parser: &mut Parser, restores: bool) -> Result<Option<Self>, lexopt::Error> {
        let mut wish = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("remote") => wish.remote = Some(parser.value()?.into()),
                Long("at") if restores => wish.at = Some(parser.value()?.string()?),
                Long("to") if restores => wish.to = Some(parser.value()?.into()),
                Value(path) if wish.path.is_none() => wish.path = Some(path.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(wish))
    }
}

/// A path of a volume, and its remote.
struct Asked {
    remote: PathBuf,
    store: Site,
    span: Span,
    /// From the root of the volume.
    path: PathBuf,
}

impl Asked {
    /// The path is one in a mounted volume; with a remote it is one in the volume.
    fn find(wish: &Wish) -> Result<Self, Fault> {
        let path = wish.path.clone().unwrap_or_default();
        let (remote, path) = match &wish.remote {
            Some(remote) => (remote.clone(), path),
            None => mounted(&path)?,
        };
        if !path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            let next = "name a path from the root of the volume, without a / before it";
            return Err(Fault::new("this is no path in the volume", &path, next));
        }
        let unreadable = |error: io::Error| {
            let what = format!("the remote cannot be read: {error}");
            Fault::new(what, &remote, "see that it is mounted and answers")
        };
        let store = Site::open(&remote, PATIENCE).map_err(unreadable)?;
        let identity = identity::read(&store, &remote)?;
        let span = identity
            .and_then(|identity| identity.history)
            .ok_or_else(|| {
                let next = "name the remote of a volume; versions are kept from its next sync on";
                Fault::new("this folder has no versions", &remote, next)
            })?;
        Ok(Self {
            remote,
            store,
            span,
            path,
        })
    }

    fn unreadable(&self) -> impl Fn(io::Error) -> Fault {
        |error| {
            let what = format!("the history cannot be read: {error}");
            let at = self.remote.join(own("history"));
            Fault::new(what, &at, "see that it is mounted and answers")
        }
    }

    /// What the path stood for at a time that is named.
    fn spot(&self, at: &str) -> Result<(Past<'_, Site>, Spot), Fault> {
        let wrong = |what: String| {
            let next = "name a time as `greenfs history` prints it, or a day as 2026-11-25";
            Fault::new(what, Path::new("command line"), next)
        };
        let at_us = clock::read(at).ok_or_else(|| wrong(format!("{at} is no time")))?;
        if !self.span.has(at_us, clock::now_us()) {
            let since = clock::local(self.span.since_us);
            return Err(wrong(format!(
                "versions are known since {since} and until now, not of {at}"
            )));
        }
        let past = Past {
            branch: &self.store,
            at_us,
        };
        let spot = past.find(&self.path).map_err(self.unreadable())?;
        let spot = spot.ok_or_else(|| {
            let next = format!(
                "`greenfs history {}` says when it was there",
                self.path.display()
            );
            Fault::new(format!("nothing was there at {at}"), &self.path, next)
        })?;
        Ok((past, spot))
    }
}

/// The remote of the mounted volume that a path is in, and the path from its root.
fn mounted(path: &Path) -> Result<(PathBuf, PathBuf), Fault> {
    let outside = || {
        let next =
            "name the remote folder with --remote DIR, and a path from the root of the volume";
        Fault::new(
            "this is in no volume with a remote that you have mounted",
            path,
            next,
        )
    };
    let full = match path.as_os_str().is_empty() {
        true => std::env::current_dir(),
        false => std::path::absolute(path),
    };
    let full = full.map_err(|_| outside())?;
    let found = full.ancestors().find_map(|root| {
        let remote = root.join(own(REMOTE)).read_link().ok()?;
        let path = full.strip_prefix(root).ok()?;
        Some((remote, path.to_owned()))
    });
    found.ok_or_else(outside)
}

/// Since when there are versions, or those of a path.
pub fn history(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some(wish) = Wish::parse(parser, false).map_err(usage)? else {
        return Ok(None);
    };
    let asked = Asked::find(&wish)?;
    let since_us = asked.span.since_us;
    if asked.path.as_os_str().is_empty() {
        let (since, last) = (clock::local(since_us), clock::local(asked.span.last_us));
        let text = format!("versions are known since {since}; the last change was at {last}\n");
        return Ok(Some((text, ExitCode::SUCCESS)));
    }
    let found = versions(&asked.store, since_us, &asked.path).map_err(asked.unreadable())?;
    if found.iter().all(|(_, spot)| spot.is_none()) {
        let next = "name a path as it was spelled then";
        return Err(Fault::new("nothing was ever there", &asked.path, next));
    }
    let mut text = String::new();
    for (from_us, spot) in found {
        let _ = writeln!(text, "{}  {}", clock::local(from_us), said(spot.as_ref()));
    }
    Ok(Some((text, ExitCode::SUCCESS)))
}

fn said(spot: Option<&Spot>) -> String {
    let Some(spot) = spot else {
        return "nothing".into();
    };
    match &spot.kind {
        Kind::File => format!("file, {}", size(spot.attributes.size)),
        Kind::Symlink(target) => format!("link to {}", Path::new(target).display()),
        _ => "folder".into(),
    }
}

/// Copy what stood under a path at a time to where nothing is.
pub fn restore(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some(wish) = Wish::parse(parser, true).map_err(usage)? else {
        return Ok(None);
    };
    let missing = |what: &str| Fault::new(what, Path::new("command line"), "greenfs --help");
    let at = wish
        .at
        .as_deref()
        .ok_or_else(|| missing("which time is --at?"))?;
    let path = wish
        .path
        .as_deref()
        .ok_or_else(|| missing("which path is to be restored?"))?;
    let to = match (&wish.to, &wish.remote) {
        (Some(to), _) => to.as_path(),
        (None, None) => path,
        (None, Some(_)) => return Err(missing("where is it to be restored --to?")),
    };
    let asked = Asked::find(&wish)?;
    let (past, spot) = asked.spot(at)?;
    let mut copied = put(&past, &spot, to)?;
    if spot.kind == Kind::File {
        if let Some((_, error)) = copied.unread.pop() {
            return Err(asked.unreadable()(error));
        }
    }
    let mut text = format!(
        "restored {} as of {at} to {}: {} {}, {}\n",
        path.display(),
        to.display(),
        copied.files,
        if copied.files == 1 { "file" } else { "files" },
        size(copied.size_b)
    );
    for (path, error) in &copied.unread {
        let _ = writeln!(text, "not restored: {}: {error}", path.display());
    }
    let code = match copied.unread.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    };
    Ok(Some((text, code)))
}

/// It is there or not at all, but for what cannot be read; nothing is replaced.
fn put(past: &Past<Site>, spot: &Spot, to: &Path) -> Result<Copied, Fault> {
    let failed = |error: io::Error| {
        let what = format!("it cannot be restored there: {error}");
        Fault::new(
            what,
            to,
            "see who may write there, and how much room there is",
        )
    };
    let taken = || {
        let next = "name a place where nothing is with --to";
        Fault::new("something is there already", to, next)
    };
    let full = std::path::absolute(to).map_err(failed)?;
    let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
        return Err(taken());
    };
    let mut folder = Folder::open(parent).map_err(failed)?;
    if folder.look(name.as_ref()).map_err(failed)?.is_some() {
        return Err(taken());
    }
    let new = unused(&folder).map_err(failed)?;
    let done = copy(past, spot, &mut folder, &new, name.as_ref());
    if done.is_err() {
        // The first error says more than one of this.
        let _ = remove_tree(&mut folder, &new);
    }
    done.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(),
        _ => failed(error),
    })
}

/// A name for what is not whole yet. That of one that was killed may be another one's by now: it stays.
fn unused(folder: &Folder) -> io::Result<PathBuf> {
    let mut count = 0;
    loop {
        let name = PathBuf::from(format!("{RESTORING}{}-{count}", std::process::id()));
        if folder.look(&name)?.is_none() {
            return Ok(name);
        }
        count += 1;
    }
}

fn copy(
    past: &Past<Site>,
    spot: &Spot,
    folder: &mut Folder,
    new: &Path,
    name: &Path,
) -> io::Result<Copied> {
    let copied = past.copy(spot, folder, new)?;
    if folder.look(new)?.is_some() {
        folder.rename_to_free(new, name)?;
        folder.sync(Path::new(""))?;
    }
    Ok(copied)
}
