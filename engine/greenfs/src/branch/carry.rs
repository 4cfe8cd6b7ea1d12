//! Carrying out a plan on a branch, from whatever point it was left at.
//!
//! The plan lies in `.greenfs/plan` while names are taken away, then in `.greenfs/plan-taken` while
//! things are put in their place. What stands in the way and is not what was left there is kept.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::history::Keeping;
use crate::branch::identity::{self, Identity, Span};
use crate::branch::kept::keep;
use crate::branch::stage;
use crate::branch::store::{
    Store, ensure_folder, named, open_above, open_folder, read_whole, remove_tree, replace,
};
use crate::branch::{OWN, own};
use crate::journal::frame;
use crate::protocol::plan::{Dress, Put, Source, Take};
use crate::protocol::{Found, Kind, NodeId, OWNERS, Plan};

/// Make room for a new plan; nothing is committed. Copies of these files stay.
pub fn prepare(to: &mut impl Store, seq: u64, staged: &BTreeSet<NodeId>) -> io::Result<()> {
    ensure_folder(to, Path::new(OWN))?;
    match staged.is_empty() {
        true => remove_tree(to, &own("stage"))?,
        false => stage::keep_only(to, staged)?,
    }
    ensure_folder(to, &own("stage"))?;
    ensure_folder(to, &own("out"))?;
    // Left by a plan that could not be read.
    for name in to.list(&own("out"))? {
        keep(to, seq, &own("out").join(&name), Path::new(&name))?;
    }
    Ok(())
}

/// See that a branch keeps the times of files, by which it is told whether somebody changed them.
///
/// # Errors
/// If it does not, or nothing can be written there.
pub fn probe(on: &mut impl Store) -> io::Result<()> {
    let file = own("probe");
    remove_tree(on, &file)?;
    on.create(&file, 0o600)?;
    let found = on
        .look(&file)?
        .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let mut attributes = found.attributes;
    attributes.modified_ns = 1_234_567_891_234_567_891;
    on.dress(&file, &attributes)?;
    let kept = on.look(&file)?.map(|found| found.attributes.modified_ns);
    on.remove_file(&file)?;
    if kept != Some(attributes.modified_ns) {
        return Err(io::Error::other(
            "its file system does not keep times to the nanosecond (SMB and FAT do not)",
        ));
    }
    Ok(())
}

/// From here on the plan is carried out, whatever happens. All copies are there.
pub fn commit(to: &mut impl Store, plan: &Plan) -> io::Result<()> {
    to.sync_all()?;
    replace(to, &own("plan"), &frame::line(plan)?)
}

/// Carry out what was committed, and say on the branch what it holds then. Returns what had to be
/// kept, or nothing if nothing was committed.
///
/// # Errors
/// If the branch goes away meanwhile, or refuses; the rest is then done another time.
pub fn finish(to: &mut impl Store, identity: &Identity) -> io::Result<Option<Vec<PathBuf>>> {
    let (plan, taken) = (own("plan"), own("plan-taken"));
    let (text, is_taken) = match read_whole(to, &taken)? {
        Some(text) => (text, true),
        None => match read_whole(to, &plan)? {
            Some(text) => (text, false),
            None => return Ok(None),
        },
    };
    let read = text.strip_suffix(b"\n").and_then(frame::value::<Plan>);
    let Some(read) = read else {
        // Nobody knows how far it came: all must be looked at.
        let unknown = Identity {
            at: 0,
            whole: false,
            ..identity.clone()
        };
        identity::write(to, &unknown)?;
        to.remove_file(if is_taken { &taken } else { &plan })?;
        return Ok(Some(Vec::new()));
    };
    let mut carrier = Carrier {
        to,
        keeping: Keeping::new(&read, identity.history.is_none()),
        seq: read.to,
        kept: Vec::new(),
        is_whole: true,
    };
    if !is_taken {
        // Folders first: how each was is known before it is opened for what is in it.
        for take in read.takes.iter().rev() {
            carrier.remember(take).map_err(named(&take.path))?;
        }
        for take in &read.takes {
            carrier.take(take).map_err(named(&take.path))?;
        }
        carrier.to.sync_all()?;
        carrier.to.rename(&plan, &taken)?;
        carrier.to.sync(Path::new(OWN))?;
    }
    for put in &read.puts {
        carrier.is_whole &= carrier.put(put).map_err(named(&put.path))?;
    }
    for dress in &read.dresses {
        carrier.dress(dress).map_err(named(&dress.path))?;
    }
    for take in &read.takes {
        carrier.drop_held(take).map_err(named(&take.path))?;
    }
    carrier.to.sync_all()?;
    let Carrier { kept, is_whole, .. } = carrier;
    let reached = Identity {
        at: read.to,
        // What somebody has taken away is found when all is looked at.
        whole: identity.whole && is_whole,
        history: match read.history_us {
            Some(last_us) => Some(Span::with(identity.history, last_us)),
            None => identity.history,
        },
        ..identity.clone()
    };
    identity::write(to, &reached)?;
    to.remove_file(&taken)?;
    Ok(Some(kept))
}

struct Carrier<'a, S> {
    to: &'a mut S,
    /// Of what was there before.
    keeping: Option<Keeping>,
    seq: u64,
    kept: Vec<PathBuf>,
    is_whole: bool,
}

impl<S: Store> Carrier<'_, S> {
    /// What a name stands for. Where folders above are closed to their owner, they are opened; the plan
    /// has them dressed again.
    fn look(&mut self, path: &Path) -> io::Result<Option<Found>> {
        match self.to.look(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_above(self.to, path)?;
                self.to.look(path)
            }
            looked => looked,
        }
    }

    /// Keep what will be taken as a version, before anything is moved, or opened for that.
    fn remember(&mut self, take: &Take) -> io::Result<()> {
        if self.keeping.is_none() {
            return Ok(());
        }
        let found = self.look(&take.path)?;
        let is_expected = found.is_some_and(|found| take.expected.is(&found));
        match &mut self.keeping {
            Some(keeping) if is_expected => keeping.before_take(self.to, &take.path),
            _ => Ok(()),
        }
    }

    fn take(&mut self, take: &Take) -> io::Result<()> {
        let held = own("out").join(&take.held);
        if self.to.look(&held)?.is_some() {
            return Ok(());
        }
        match self.look(&take.path)? {
            None => Ok(()),
            Some(found) if take.expected.is(&found) => {
                self.open_parent(&take.path)?;
                open_folder(self.to, &take.path)?;
                self.to.rename(&take.path, &held)
            }
            Some(_) => self.keep(&take.path, &take.path),
        }
    }

    /// Whether it is in its place now.
    fn put(&mut self, put: &Put) -> io::Result<bool> {
        let parent = self.look(put.path.parent().unwrap_or(Path::new("")))?;
        if parent.is_none_or(|parent| parent.kind != Kind::Folder) {
            return Ok(false);
        }
        let there = self.look(&put.path)?;
        let is_there = there.as_ref().is_some_and(|found| put.expected.is(found));
        let from = match &put.source {
            Source::Copy => stage::place(put),
            Source::Held(name) => own("out").join(name),
            Source::Link(path) => path.clone(),
            Source::Make if is_there => return Ok(true),
            Source::Make => {
                self.make_room(put)?;
                return self.make(put).map(|()| true);
            }
        };
        let Some(origin) = self.look(&from)? else {
            // It was put before, or somebody took it away.
            return Ok(is_there);
        };
        let is_link = matches!(put.source, Source::Link(_));
        if is_link && there.is_some_and(|there| there.inode == origin.inode) {
            return Ok(true);
        }
        self.make_room(put)?;
        if is_link {
            let new = own("out").join("link");
            if self.to.look(&new)?.is_some() {
                self.to.remove_file(&new)?;
            }
            self.to.link(&from, &new)?;
            self.to.rename(&new, &put.path)?;
        } else {
            self.to.rename(&from, &put.path)?;
        }
        Ok(true)
    }

    fn make(&mut self, put: &Put) -> io::Result<()> {
        match &put.expected.kind {
            Kind::Symlink(target) => self.to.symlink(&put.path, target),
            _ => self.to.make_folder(&put.path, OWNERS),
        }
    }

    /// Keep what stands in the way; the version that is replaced stays there.
    fn make_room(&mut self, put: &Put) -> io::Result<()> {
        if let Some(there) = self.look(&put.path)? {
            let is_ours =
                put.expected.is(&there) || put.replaces.as_ref().is_some_and(|r| r.is(&there));
            if !is_ours || there.kind == Kind::Folder {
                self.keep(&put.path, &put.path)?;
            }
        }
        self.open_parent(&put.path)?;
        match &mut self.keeping {
            Some(keeping) => keeping.before_put(self.to, &put.path),
            None => Ok(()),
        }
    }

    fn dress(&mut self, dress: &Dress) -> io::Result<()> {
        let Some(found) = self.look(&dress.path)? else {
            self.is_whole = false;
            return Ok(());
        };
        let is_ours = dress.expected.is(&found) || dress.was.as_ref().is_some_and(|w| w.is(&found));
        if !is_ours {
            // What was put is ours; so somebody else has changed what was to stay.
            self.keep(&dress.path, &dress.path)?;
            self.is_whole = false;
        } else if found.attributes != dress.expected.attributes {
            self.to.dress(&dress.path, &dress.expected.attributes)?;
        }
        Ok(())
    }

    /// Remove what was taken and put nowhere; of a folder, keep what others put into it.
    fn drop_held(&mut self, take: &Take) -> io::Result<()> {
        let held = own("out").join(&take.held);
        match self.to.look(&held)? {
            None => Ok(()),
            Some(found) if found.kind != Kind::Folder => self.to.remove_file(&held),
            Some(_) if self.to.list(&held)?.is_empty() => self.to.remove_folder(&held),
            Some(_) => self.keep(&held, &take.path),
        }
    }

    fn keep(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        if let Some(parent) = from.parent() {
            open_folder(self.to, parent)?;
        }
        keep(self.to, self.seq, from, path)?;
        self.kept.push(path.to_owned());
        Ok(())
    }

    fn open_parent(&mut self, path: &Path) -> io::Result<()> {
        open_folder(self.to, path.parent().unwrap_or(Path::new("")))
    }
}
