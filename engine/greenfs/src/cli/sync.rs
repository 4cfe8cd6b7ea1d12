//! `sync` and `fsck`: bring branches up to flash.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use super::asked::Asked;
use super::flash::closing;
use crate::branch::folder::FRESH;
use crate::branch::{identity, kept, own};
use crate::crypt;
use crate::fault::Fault;
use crate::net::Site;
use crate::protocol::{Kind, NodeId, Role};
use crate::report::size;
use crate::sys;
use crate::text::shown;
use crate::volume::{Branch, Pushed, Volume, expect_known};

const KEPT: u8 = 2;

/// Bring every branch that is named up; a branch that fails does not keep the next one from it.
pub fn run(asked: &Asked, compares: bool) -> Result<(String, ExitCode), Fault> {
    closing(asked, |asked| bring_all_up(asked, compares))
}

fn bring_all_up(asked: &Asked, compares: bool) -> Result<(String, ExitCode), Fault> {
    sys::ignore_ends_of_leases();
    let mut volume = open_volume(asked)?;
    let parts: Vec<NodeId> = volume.flash.parts().map(|(id, _)| id).collect();
    let mut text = String::new();
    let (mut has_failed, mut has_kept) = (false, false);
    for (role, place) in &asked.branches {
        match bring_up(&mut volume, *role, place, asked, compares) {
            Ok(pushed) => {
                let _ = writeln!(text, "{role:<7} {}: {}", place.display(), said(&pushed));
                for path in &pushed.kept {
                    let _ = writeln!(text, "        kept what others made of {}", shown(path));
                }
                for path in &pushed.left {
                    let path = shown(path);
                    has_kept = true;
                    let _ = writeln!(
                        text,
                        "        left what others made of {path}: you may not move it"
                    );
                }
            }
            Err(fault) => {
                let _ = writeln!(
                    text,
                    "{role:<7} {}",
                    fault.to_string().replace('\n', "\n        ")
                );
                has_failed = true;
            }
        }
        let kept = volume
            .branch(*role)
            .and_then(|branch| kept::kept(branch).ok());
        if kept.is_some_and(|kept| !kept.is_empty()) {
            has_kept = true;
            let at = place.join(own("kept"));
            let _ = writeln!(
                text,
                "        look at {}, and remove what you do not need",
                at.display()
            );
        }
    }
    for (left, failed) in [
        bring_back(&mut volume, asked.whole),
        settle_brought(&mut volume, parts),
    ] {
        text += &left;
        has_failed |= failed;
    }
    if volume.flash.left_out() > 0 {
        let count = volume.flash.left_out();
        let _ = writeln!(
            text,
            "flash   {count} devices, sockets, pipes or mounts are on flash alone"
        );
    }
    let code = match (has_failed, has_kept) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(KEPT),
        (false, false) => ExitCode::SUCCESS,
    };
    Ok((text, code))
}

/// Bring to flash what is not whole there, if that is asked. Returns what a person reads of that, and
/// whether it failed.
fn bring_back(volume: &mut Volume<Site>, whole: bool) -> (String, bool) {
    let ids: Vec<NodeId> = volume.flash.parts().map(|(id, _)| id).collect();
    let mut text = String::new();
    if !whole && !ids.is_empty() {
        let count = ids.len();
        let _ = writeln!(
            text,
            "flash   {count} files in part: `--whole` brings the rest back, too"
        );
        return (text, false);
    }
    let mut has_failed = false;
    for id in ids {
        if let Err(error) = volume.bring(id) {
            has_failed = true;
            let path = volume.flash.path(id).unwrap_or_default();
            let path = path.display();
            let _ = writeln!(text, "flash   {path} stays as it is, in part: {error}");
        }
    }
    (text, has_failed)
}

/// Write down the times of those of these files that are whole now: else they count as changed the next
/// time. Returns what a person reads of that, and whether it failed.
fn settle_brought(volume: &mut Volume<Site>, parts: Vec<NodeId>) -> (String, bool) {
    let is_whole = |id: &NodeId| volume.flash.part(*id).is_none();
    let brought: Vec<NodeId> = parts.into_iter().filter(is_whole).collect();
    let mut text = String::new();
    if !brought.is_empty() {
        thread::sleep(FRESH);
    }
    for id in brought {
        if let Err(error) = volume.flash.note_file(id) {
            let _ = writeln!(text, "flash   {error}");
        }
    }
    let has_failed = !text.is_empty();
    (text, has_failed)
}

fn bring_up(
    volume: &mut Volume<Site>,
    role: Role,
    place: &Path,
    asked: &Asked,
    compares: bool,
) -> Result<Pushed, Fault> {
    let store = Site::claim(place, asked.patience)?;
    let branch = Branch::new(role, place.to_owned(), store);
    if !asked.anew {
        expect_known(&mut &mut volume.flash, &branch)?;
    }
    let pushed = volume.connect(branch)?;
    if compares {
        return Ok(pushed.and(volume.check_branch(role)?));
    }
    Ok(pushed)
}

/// Open the volume when none of its files was changed so shortly ago that a further change could not
/// be told from the last; one that changes all the time is copied again the next time.
fn open_volume(asked: &Asked) -> Result<Volume<Site>, Fault> {
    let id = identity::new_volume()?;
    let (flash, key) = (&asked.flash, asked.flash_key.as_deref());
    let open = || Volume::open(Site::Here(crypt::claim(flash, key, true)?), flash, &id);
    let volume = open()?;
    let mut nodes = volume.flash.state().catalogue.nodes().values();
    if nodes.all(|node| node.kind != Kind::File || node.changed_ns != 0) {
        return Ok(volume);
    }
    drop(volume);
    thread::sleep(FRESH);
    open()
}

fn said(pushed: &Pushed) -> String {
    let mended = match pushed.mended {
        0 => String::new(),
        count => format!(", {count} that were missing or other mended"),
    };
    format!("holds all; {} copied{mended}", size(pushed.copied_b))
}
