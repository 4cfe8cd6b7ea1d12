//! A branch that comes back, or comes for the first time.

use std::path::Path;

use crate::branch::identity::{self, Identity, Span, VERSIONS_GO};
use crate::branch::store::Store;
use crate::branch::{carry, own};
use crate::clock;
use crate::fault::Fault;
use crate::protocol::{Change, Role};
use crate::volume::access::{Access, Branch};
use crate::volume::flash::Flash;
use crate::volume::push::push;
use crate::volume::pushed::Pushed;
use crate::volume::survey::survey;
use crate::volume::trouble::Trouble;

/// Looks that give up because programs were faster.
const LOOKS_MOST: usize = 10;

/// How a branch that is connected stands.
pub struct Found {
    /// What was done to it.
    pub pushed: Pushed,
    /// Nothing has to be compared before it is brought up.
    is_known: bool,
    is_whole: bool,
}

/// See that a branch that was there before is there.
///
/// # Errors
/// If it is not: it may only not be mounted.
pub fn expect_known<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &Branch<T>,
) -> Result<(), Fault> {
    let Branch {
        role, name, store, ..
    } = branch;
    let was_there = flash.with(|flash| flash.behind(*role).is_some());
    match was_there && identity::read(store, name)?.is_none() {
        false => Ok(()),
        true => Err(Fault::new(
            format!("this folder is not the {role} that there was"),
            name,
            format!("see that it is mounted; to begin a new {role} there, add --anew"),
        )),
    }
}

/// See what a branch is, and complete what was being done to it.
///
/// # Errors
/// If it is of another volume or in another role, is newer than flash, or fails.
pub fn greet<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<Found, Trouble> {
    let Branch {
        role, name, store, ..
    } = branch;
    let mut pushed = Pushed::default();
    let mut held = identity::read(store, name).map_err(Trouble::Refused)?;
    if let Some(identity) = &mut held {
        flash
            .with(|flash| flash.check(*role, identity, name))
            .map_err(Trouble::Refused)?;
        if identity.is_before_history() {
            // What it holds now is the first version.
            identity.history = Some(Span::with(None, clock::now_us()));
            identity::write(store, identity).map_err(Trouble::Branch)?;
        }
        let kept = carry::finish(store, identity).map_err(Trouble::Branch)?;
        if let Some(kept) = kept {
            pushed.kept = kept;
            held = identity::read(store, name).map_err(Trouble::Refused)?;
        }
    }
    let is_known = flash.with(|flash| flash.resume(*role, held.as_ref(), name))?;
    Ok(Found {
        pushed,
        is_known,
        is_whole: held.is_some_and(|identity| identity.whole),
    })
}

/// Bring up a branch that was greeted.
///
/// # Errors
/// As [`push`].
pub fn catch_up<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
    found: Found,
) -> Result<Pushed, Trouble> {
    let mut pushed = found.pushed;
    if found.is_known {
        pushed = pushed.and(push(flash, branch)?);
    }
    if !(found.is_known && found.is_whole) {
        pushed = pushed.and(survey_and_push(flash, branch)?);
    }
    Ok(pushed)
}

/// Compare everything on a branch with flash, by names, kinds, sizes and times, and mend it. What is
/// not of the volume is kept.
///
/// # Errors
/// As [`push`].
pub fn check<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<Pushed, Trouble> {
    let pushed = push(flash, branch)?;
    Ok(pushed.and(survey_and_push(flash, branch)?))
}

fn survey_and_push<S: Store, T: Store>(
    flash: &mut impl Access<S>,
    branch: &mut Branch<T>,
) -> Result<Pushed, Trouble> {
    let mut pushed = Pushed::default();
    for _ in 0..LOOKS_MOST {
        let is_done = survey(flash, branch, &mut pushed)?;
        pushed = pushed.and(push(flash, branch)?);
        if is_done {
            break;
        }
    }
    Ok(pushed)
}

impl<S: Store> Flash<S> {
    fn check(&self, role: Role, identity: &Identity, name: &Path) -> Result<(), Fault> {
        let what = if identity.volume != self.id {
            "this folder is a branch of another volume".to_owned()
        } else {
            match identity.role {
                Some(its) if its == role => return Ok(()),
                Some(its) => format!("this folder is the {its} of the volume, not its {role}"),
                None => format!("this folder is the flash of the volume, not its {role}"),
            }
        };
        Err(Fault::new(
            what,
            &name.join(own("branch.json")),
            format!(
                "name the right folder; or, to make this one the {role}, move its .greenfs aside: \
                 everything in it is then compared, and what is not on flash is kept in \
                 .greenfs/kept; {VERSIONS_GO}"
            ),
        ))
    }

    /// Go on from what a branch says that it holds. Returns whether that is known here.
    fn resume(
        &mut self,
        role: Role,
        held: Option<&Identity>,
        name: &Path,
    ) -> Result<bool, Trouble> {
        let at = held.map_or(0, |identity| identity.at);
        let behind = self
            .behind(role)
            .map(|b| (b.at, b.pushing.as_ref().map(|p| p.to)));
        match behind {
            Some((left_at, pushing)) if at == left_at => {
                if pushing.is_some() {
                    let abandoned = self.record(Change::Abandoned(role));
                    abandoned.map_err(Trouble::Flash)?;
                }
                Ok(true)
            }
            Some((_, Some(to))) if at == to => {
                let pushed = self.record(Change::Pushed(role));
                pushed.map_err(Trouble::Flash).map(|()| true)
            }
            Some(_) if at > self.state.seq => Err(Trouble::Refused(self.ahead(role, at, name))),
            _ => Ok(false),
        }
    }

    fn ahead(&self, role: Role, at: u64, name: &Path) -> Fault {
        let seq = self.state.seq;
        Fault::new(
            format!("the {role} is newer (record {at}) than flash (record {seq}): flash is a copy"),
            name,
            format!(
                "use the flash that it was left with; or, to go on from this older one, move \
                 .greenfs of this branch aside: everything in it is then compared, and what is not \
                 on flash is kept in .greenfs/kept; {VERSIONS_GO}"
            ),
        )
    }
}
