//! The command line: a subcommand is a file here and a line in [`COMMANDS`].

mod asked;
pub mod command;
mod disks;
mod nfs;
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
use command::{Command, print, usage};

const COMMANDS: &[Command] = &[
    disks::COMMAND,
    show::COMMAND,
    serve::COMMAND,
    readers::COMMAND,
    writes::COMMAND,
    nfs::COMMAND,
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
