//! The words of the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lexopt::prelude::*;

use super::output::DASH;
use crate::clock::from_seconds;
use crate::device::Confirmation;
use crate::failure::Failure;
use crate::lang::{self, ast::Expression};
use crate::run::{self, MaxErrors, Options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Check,
    Fmt,
    Prepare,
    Verify,
    Run,
}

impl Command {
    const ALL: [Self; 5] = [
        Command::Check,
        Command::Fmt,
        Command::Prepare,
        Command::Verify,
        Command::Run,
    ];

    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == word)
    }

    pub fn name(self) -> &'static str {
        match self {
            Command::Check => "check",
            Command::Fmt => "fmt",
            Command::Prepare => "prepare",
            Command::Verify => "verify",
            Command::Run => "run",
        }
    }

    /// It looks at the text only.
    fn is_dry(self) -> bool {
        matches!(self, Command::Check | Command::Fmt)
    }
}

#[derive(Debug, Default)]
pub struct Arguments {
    pub file: PathBuf,
    pub overrides: BTreeMap<String, Expression>,
    pub options: Options,
    pub json: Option<PathBuf>,
    /// Replace the file with what was made of it.
    pub write: bool,
}

impl Arguments {
    /// The answers to turns and the results would stand in one stream.
    pub fn mixes(&self) -> bool {
        let printed = self
            .json
            .as_deref()
            .is_none_or(|path| path == Path::new(DASH));
        self.options.turns && printed
    }
}

/// The arguments of a command; None asks for its help.
pub fn parse(command: Command, parser: &mut lexopt::Parser) -> Result<Option<Arguments>, Failure> {
    let mut file = None;
    let mut arguments = Arguments::default();
    let options = &mut arguments.options;
    let (runs, dry) = (command == Command::Run, command.is_dry());
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(path) if file.is_none() => file = Some(path.into()),
            Short('f') => return Err(dashed(command.name(), parser)),
            Long("set") if command != Command::Fmt => {
                let text = parser.value()?.string()?;
                let (name, value) = text
                    .split_once('=')
                    .ok_or_else(|| wrong("--set needs NAME=VALUE, such as --set scale=0.1"))?;
                let name = name.trim_start_matches('$').to_owned();
                arguments.overrides.insert(name, lang::parse_value(value));
            }
            Long("write") if command == Command::Fmt => arguments.write = true,
            Long("seed") if !dry => options.seed = parser.value()?.parse()?,
            Long("json") if !dry && command != Command::Verify => {
                arguments.json = Some(parser.value()?.into());
            }
            Long("die-with-parent") if !dry => {
                run::die_with_parent()?;
            }
            Long("prepared") if runs => options.prepared = true,
            Long("turns") if runs => options.turns = true,
            Long("warmup") if runs => options.warmup_s = Some(seconds(parser, 0.0)?),
            Long("duration") if runs => options.duration_s = Some(seconds(parser, 1e-3)?),
            Long("max-errors") if runs => {
                options.max_errors = max_errors(&parser.value()?.string()?)?;
            }
            Long("overwrite") if runs => {
                let text = parser.value()?.string()?;
                let (device, identity) = text.split_once('=').ok_or_else(|| {
                    wrong("--overwrite needs DEVICE=SERIAL, or DEVICE=FILE for a loop device")
                })?;
                options.overwrite.push(Confirmation {
                    device: device.into(),
                    identity: identity.to_owned(),
                });
            }
            Long("interval") if runs => {
                options.interval_ns = from_seconds(seconds(parser, 1e-3)?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    arguments.file = file.ok_or_else(|| wrong("which FILE.f?"))?;
    Ok(Some(arguments))
}

/// What to say of a file behind `-f`, as Filebench has it, and how it is right.
pub fn dashed(command: &str, parser: &mut lexopt::Parser) -> Failure {
    match parser.value() {
        Ok(file) => Failure::new(
            "a file is given without -f, behind a command",
            format!("fsgreen-wml {command} {}", file.to_string_lossy()),
        ),
        Err(error) => error.into(),
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        wrong(error.to_string())
    }
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(message, "fsgreen-wml --help")
}

fn seconds(parser: &mut lexopt::Parser, least: f64) -> Result<f64, lexopt::Error> {
    let text = parser.value()?.string()?;
    match text.parse() {
        Ok(seconds) if (least..1e10).contains(&seconds) => Ok(seconds),
        _ => Err(format!("'{text}' is not a possible number of seconds").into()),
    }
}

/// `N` operations or `N%` of them.
fn max_errors(text: &str) -> Result<MaxErrors, lexopt::Error> {
    let share = text.strip_suffix('%').map(str::parse::<f64>);
    let read = match share {
        Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => {
            Some(MaxErrors::Share(percent / 100.0))
        }
        Some(_) => None,
        None => text.parse().map(MaxErrors::Count).ok(),
    };
    let wrong = || format!("'{text}' is no number of operations, and no percentage such as 1%");
    read.ok_or_else(|| wrong().into())
}
