//! `days`: what the sleeping policy makes of days that a table tells, in virtual time.

use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Parser, prelude::*};

use super::asked::usage;
use crate::days::{Event, Happening, Volume, Woken};
use crate::fault::Fault;
use crate::spin::{DAY_S, Limits};

/// The columns of the table; `file` and `size_b` are empty but for a change.
const COLUMNS: &str = "run,at_s,what,file,size_b";

/// Of what is printed.
const FOUND: &str = "run,at_s,why,copied_b";

/// No table goes on for longer: a hundred years.
const LONGEST_S: u64 = 100 * 366 * DAY_S;

/// None asks for the help.
pub fn run(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let (mut limits, mut is_new, mut table) = (Limits::default(), false, None);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("new") => is_new = true,
            Long("spin-ups") => {
                let value = parser.value().map_err(usage)?;
                limits.per_day = value.parse().map_err(usage)?;
            }
            Value(file) if table.is_none() => table = Some(PathBuf::from(file)),
            other => return Err(usage(other.unexpected())),
        }
    }
    let place = table.unwrap_or_else(|| PathBuf::from("-"));
    let lines: Box<dyn BufRead> = match place.to_str() {
        Some("-") => Box::new(stdin().lock()),
        _ => Box::new(BufReader::new(File::open(&place).map_err(|error| {
            Fault::new(error.to_string(), &place, "name a table, or - to read one")
        })?)),
    };
    let text = woken(lines, &place, limits, is_new)?;
    Ok(Some((text, ExitCode::SUCCESS)))
}

fn woken(lines: impl BufRead, place: &Path, limits: Limits, is_new: bool) -> Result<String, Fault> {
    let mut text = format!("{FOUND}\n");
    let mut now: Option<(String, Volume)> = None;
    let mut last_s = 0;
    for (nth, line) in lines.lines().enumerate() {
        let line = line.map_err(|error| Fault::new(error.to_string(), place, "mend the table"))?;
        if nth == 0 && line.trim_end() == COLUMNS {
            continue;
        }
        let wrong = |what: &str| {
            let place = PathBuf::from(format!("{}, line {}", place.display(), nth + 1));
            Fault::new(what, &place, format!("write lines as: {COLUMNS}"))
        };
        let (run, event) = event(line.trim_end()).ok_or_else(|| {
            wrong("this is no event: change (with file and size_b), away, back, unmount or end")
        })?;
        if now.as_ref().is_none_or(|(name, _)| name != run) {
            tell(now.take(), &mut text);
            now = Some((run.to_owned(), Volume::new(limits, is_new)));
            last_s = 0;
        }
        if event.at_s < last_s {
            return Err(wrong("this event is before the one above it"));
        }
        if event.at_s > LONGEST_S {
            return Err(wrong("this event is after a hundred years"));
        }
        last_s = event.at_s;
        if let Some((_, volume)) = &mut now {
            volume.live(&event);
        }
    }
    tell(now, &mut text);
    Ok(text)
}

fn event(line: &str) -> Option<(&str, Event)> {
    let fields: Vec<&str> = line.split(',').collect();
    let [run, at_s, what, file, size_b] = fields[..] else {
        return None;
    };
    let what = match what {
        "change" => Happening::Change {
            file: file.parse().ok()?,
            size_b: size_b.parse().ok()?,
        },
        "away" => Happening::Away,
        "back" => Happening::Back,
        "unmount" => Happening::Unmount,
        "end" => Happening::End,
        _ => return None,
    };
    let at_s = at_s.parse().ok()?;
    Some((run, Event { at_s, what }))
}

fn tell(lived: Option<(String, Volume)>, text: &mut String) {
    let Some((run, volume)) = lived else { return };
    for Woken { spin, copied_b } in volume.woken() {
        let why = serde_json::to_value(spin.why).unwrap_or_default();
        let why = why.as_str().unwrap_or_default();
        let _ = writeln!(text, "{run},{},{why},{copied_b}", spin.at_s);
    }
}
