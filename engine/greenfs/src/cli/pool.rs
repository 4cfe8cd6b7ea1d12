//! `pool`: what a server has of all its clients together, looked at and swept.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Parser, prelude::*};

use super::asked::usage;
use super::flash::make_key;
use crate::fault::Fault;
use crate::pool::audit::{self, Report};
use crate::pool::{Pool, secret};
use crate::report::size;
use crate::text::shown;

/// Look at a pool, sweep it, or make a key. None asks for the help.
pub fn run(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some((what, place, key)) = wish(parser).map_err(usage)? else {
        return Ok(None);
    };
    let key = key.as_deref();
    match what {
        What::Check => {
            let report = audit::check(&Pool::look(&place, key)?)?;
            let code = match report.damage.is_empty() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            };
            Ok(Some((said(&report), code)))
        }
        What::Sweep => {
            let (removed, removed_b) = audit::sweep(&Pool::alone(&place, key)?)?;
            let text = format!("removed {removed} chunks of {}\n", size(removed_b));
            Ok(Some((text, ExitCode::SUCCESS)))
        }
        What::Key => make_key::<{ secret::KEY_B }>(&place).map(Some),
    }
}

enum What {
    Check,
    Sweep,
    Key,
}

type Wish = (What, PathBuf, Option<PathBuf>);

fn wish(parser: &mut Parser) -> Result<Option<Wish>, lexopt::Error> {
    let (mut what, mut place, mut key) = (None, None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("pool-key") => key = Some(parser.value()?.into()),
            Value(word) if what.is_none() => {
                what = Some(match word.to_str() {
                    Some("check") => What::Check,
                    Some("sweep") => What::Sweep,
                    Some("key") => What::Key,
                    _ => return Err(Value(word).unexpected()),
                });
            }
            Value(path) if place.is_none() => place = Some(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    let what = what.ok_or("is the pool to be checked or swept, or a key to be made?")?;
    let place = place.ok_or("which folder is it, or which file?")?;
    Ok(Some((what, place, key)))
}

fn said(report: &Report) -> String {
    let mut text = String::new();
    for (place, what) in &report.damage {
        let _ = writeln!(text, "{}: {what}", shown(place));
    }
    let Report {
        folders,
        files,
        chunks,
        spare,
        ..
    } = report;
    let _ = writeln!(
        text,
        "{files} files of {} in {folders} folder{}; {chunks} chunks of {}, no file needs {spare} of {}",
        size(report.files_b),
        if *folders == 1 { "" } else { "s" },
        size(report.chunks_b),
        size(report.spare_b)
    );
    let _ = match report.damage.len() {
        0 => writeln!(text, "all are whole"),
        count => writeln!(
            text,
            "{count} are not whole: move them away, then `greenfs fsck` brings anew what its client has"
        ),
    };
    text
}
