//! What every subcommand is, and how it speaks.

use std::io::{self, Write};

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
