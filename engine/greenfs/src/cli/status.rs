//! `status`: what each branch holds and lacks. Nothing is changed.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use super::asked::Asked;
use super::flash::closing;
use crate::branch::{identity, kept, own};
use crate::crypt;
use crate::fault::Fault;
use crate::mount::{ask, ask_stats};
use crate::net::Site;
use crate::protocol::{Behind, Role, State};
use crate::report::lacks;
use crate::volume::{Preview, preview};

pub fn run(asked: &Asked) -> Result<(String, ExitCode), Fault> {
    if let Some(text) = ask(&asked.flash) {
        return Ok((text, ExitCode::SUCCESS));
    }
    closing(asked, look)
}

fn look(asked: &Asked) -> Result<(String, ExitCode), Fault> {
    let flash = crypt::claim(&asked.flash, asked.flash_key.as_deref(), false)?;
    let Preview {
        state,
        changed,
        parts,
    } = preview(&flash, &asked.flash)?;
    let count = state.catalogue.nodes().len().saturating_sub(1);
    let mut text = format!(
        "flash   {}: {count} files and folders, {changed} changed since the last sync\n",
        asked.flash.display()
    );
    text += match (crypt::is_encrypted(&asked.flash), &asked.flash_key) {
        (true, _) => crypt::ENCRYPTED,
        (false, Some(_)) => "        not encrypted yet: mount, sync and fsck begin with that\n",
        (false, None) => "",
    };
    if parts > 0 {
        let _ = writeln!(text, "        {parts} of them in part");
    }
    for role in [Role::Remote, Role::Disk] {
        let behind = state.behind.get(&role);
        let named = asked.branches.iter().find(|(its, _)| *its == role);
        let _ = match named {
            Some((_, place)) => {
                let said = branch(&state, behind, &Site::claim(place, asked.patience)?, place)?;
                writeln!(text, "{role:<7} {}: {said}", place.display())
            }
            None => match behind {
                Some(behind) => writeln!(text, "{role:<7} not named; {}", lacks(&state, behind)),
                None => writeln!(text, "{role:<7} none yet"),
            },
        };
        if let Some(sleep) = sleep(asked, role) {
            let _ = writeln!(text, "        {sleep}");
        }
    }
    Ok((text, ExitCode::SUCCESS))
}

/// Whether a mount would put the disk to sleep.
fn sleep(asked: &Asked, role: Role) -> Option<String> {
    let power = asked.power().filter(|_| role == Role::Disk)?;
    Some(match power.find() {
        Ok(disk) => format!("a mount puts {disk} to sleep"),
        Err(why) => format!("a mount does not put it to sleep: {why}"),
    })
}

/// What a mount counts, as a line of JSON.
pub fn stats(asked: &Asked) -> Result<(String, ExitCode), Fault> {
    let stats = ask_stats(&asked.flash).ok_or_else(|| {
        let next = "mount it; without a mount, `greenfs status` says how it stands";
        Fault::new("this volume is not mounted", &asked.flash, next)
    })?;
    Ok((stats, ExitCode::SUCCESS))
}

fn branch(
    state: &State,
    behind: Option<&Behind>,
    store: &Site,
    place: &Path,
) -> Result<String, Fault> {
    let held = identity::read(store, place)?;
    let at = held.as_ref().map_or(0, |identity| identity.at);
    let reached =
        |behind: &&Behind| behind.at == at || behind.pushing.as_ref().is_some_and(|p| p.to == at);
    let mut said = match (held.is_some(), behind.filter(reached)) {
        (false, _) => format!(
            "no branch yet; sync makes {}",
            place.join(own("")).display()
        ),
        (true, Some(behind)) => lacks(state, behind),
        (true, None) => "sync compares all of it first".into(),
    };
    let kept = kept::kept(store).map_err(|error| {
        Fault::new(
            error.to_string(),
            &place.join(own("kept")),
            "see who may read it",
        )
    })?;
    if !kept.is_empty() {
        let _ = write!(
            said,
            "; others changed it: look at {}",
            place.join(own("kept")).display()
        );
    }
    Ok(said)
}
