//! The command line: a subcommand is a file here and a line in [`COMMANDS`].

mod asked;
mod disks;
mod readers;
mod replay;
mod serve;
mod show;
mod summary;
mod writes;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use lexopt::Parser;

use crate::profile::Fault;

/// A subcommand.
pub struct Command {
    pub name: &'static str,
    /// One line, for the list of subcommands.
    pub about: &'static str,
    /// What `--help` prints: usage, what each option means, an example.
    pub help: &'static str,
    /// Do it; the parser stands behind the name. None asks for the help.
    pub run: fn(&mut Parser) -> Result<Option<()>, Fault>,
}

const COMMANDS: &[Command] = &[
    disks::COMMAND,
    show::COMMAND,
    serve::COMMAND,
    readers::COMMAND,
    writes::COMMAND,
    replay::COMMAND,
];

const ABOUT: &str = "\
fsgreen-simdisk is a disk in software that behaves like a hard disk or an SSD and accounts for its
energy.
";

const REST: &str = "
Each command has its own --help. Exit status: 0 done; 1 failed.
";

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match dispatch(&mut Parser::from_args(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(io::stderr(), "fsgreen-simdisk: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(parser: &mut Parser) -> Result<(), Fault> {
    use lexopt::prelude::*;
    let word = match parser.next().map_err(|error| usage("", error))? {
        Some(Value(word)) => word,
        Some(Short('V') | Long("version")) => {
            return print(concat!("fsgreen-simdisk ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Some(Short('h') | Long("help")) | None => return print(&help()),
        Some(other) => return Err(usage("", other.unexpected())),
    };
    let Some(command) = COMMANDS.iter().find(|command| word == command.name) else {
        return Err(usage("", Value(word).unexpected()));
    };
    match (command.run)(parser)? {
        Some(()) => Ok(()),
        None => print(command.help),
    }
}

fn help() -> String {
    let mut text = format!("{ABOUT}\n");
    for command in COMMANDS {
        text += &format!("  fsgreen-simdisk {:<9} {}\n", command.name, command.about);
    }
    text + REST
}

/// The fault that a wrong command line is.
pub fn usage(command: &str, error: impl std::fmt::Display) -> Fault {
    let (place, next) = match command {
        "" => (
            "command line".to_owned(),
            "fsgreen-simdisk --help".to_owned(),
        ),
        _ => (
            format!("arguments of {command}"),
            format!("fsgreen-simdisk {command} --help"),
        ),
    };
    Fault::new(error.to_string(), place, next)
}

/// Print a text whole.
///
/// # Errors
/// If the standard output takes it no longer.
pub fn print(text: &str) -> Result<(), Fault> {
    let mut output = io::stdout().lock();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| Fault::new(error.to_string(), "standard output", "look at who reads it"))
}
