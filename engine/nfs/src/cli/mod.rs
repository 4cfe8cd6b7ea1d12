//! The command line: a subcommand is a file here and a line in [`COMMANDS`].

mod command;
mod proxy;
mod read;
mod serve;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use lexopt::Parser;

use crate::fault::Fault;
use command::{Command, print, usage};

const COMMANDS: &[Command] = &[serve::COMMAND, read::COMMAND, proxy::COMMAND];

const ABOUT: &str = "\
fsgreen-nfs is an NFSv3 server that reads ahead as in nfstricks03, and a client that measures it.
";

const REST: &str = "
Each command has its own --help. Exit status: 0 done; 1 failed.
";

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match dispatch(&mut Parser::from_args(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(io::stderr(), "fsgreen-nfs: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(parser: &mut Parser) -> Result<(), Fault> {
    use lexopt::prelude::*;
    let word = match parser.next().map_err(|error| usage("", error))? {
        Some(Value(word)) => word,
        Some(Short('V') | Long("version")) => {
            return print(concat!("fsgreen-nfs ", env!("CARGO_PKG_VERSION"), "\n"));
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
        text += &format!("  fsgreen-nfs {:<6} {}\n", command.name, command.about);
    }
    text + REST
}
