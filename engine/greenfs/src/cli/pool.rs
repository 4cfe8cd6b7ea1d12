//! `pool`: what a server has of all its clients together, looked at and swept.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
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
    let Some(Wish {
        what,
        place,
        key,
        yes,
    }) = wish(parser).map_err(usage)?
    else {
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
        What::Sweep => sweep(&Pool::alone(&place, key)?, yes).map(Some),
        What::Key => make_key::<{ secret::KEY_B }>(&place).map(Some),
    }
}

enum What {
    Check,
    Sweep,
    Key,
}

struct Wish {
    what: What,
    place: PathBuf,
    key: Option<PathBuf>,
    /// Remove without asking.
    yes: bool,
}

fn wish(parser: &mut Parser) -> Result<Option<Wish>, lexopt::Error> {
    let (mut what, mut place, mut key, mut yes) = (None, None, None, false);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("yes") if matches!(what, Some(What::Sweep)) => yes = true,
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
    Ok(Some(Wish {
        what,
        place,
        key,
        yes,
    }))
}

fn sweep(pool: &Pool, yes: bool) -> Result<(String, ExitCode), Fault> {
    let spare = audit::spare(pool)?;
    let chunks = format!("{} chunks of {}", spare.chunks.len(), size(spare.chunks_b));
    if !(yes || spare.chunks.is_empty() || may_remove(&chunks, &pool.root)?) {
        return Ok(("nothing was removed\n".into(), ExitCode::FAILURE));
    }
    spare.remove()?;
    Ok((format!("removed {chunks}\n"), ExitCode::SUCCESS))
}

/// Ask whoever sits at the terminal.
fn may_remove(chunks: &str, pool: &Path) -> Result<bool, Fault> {
    let (input, mut output) = (io::stdin(), io::stderr());
    if !(input.is_terminal() && output.is_terminal()) {
        let what = format!("no file needs {chunks}; there is no terminal to ask on, so they stay");
        let next = "add --yes to remove them, or run it on a terminal";
        return Err(Fault::new(what, pool, next));
    }
    let mut answer = String::new();
    write!(output, "no file needs {chunks}; remove them? [y/N] ")
        .and_then(|()| input.read_line(&mut answer))
        .map_err(|error| {
            let what = format!("the terminal cannot be asked: {error}");
            Fault::new(what, pool, "add --yes to remove what no file needs")
        })?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
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
