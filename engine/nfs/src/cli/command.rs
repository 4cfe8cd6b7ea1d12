//! What every subcommand is, and how it speaks.

use std::fmt::Display;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};

use lexopt::{Parser, prelude::*};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::Fault;

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
pub fn usage(command: &str, error: impl Display) -> Fault {
    let place = format!("arguments {command}");
    Fault::new(
        error,
        place.trim_end(),
        format!("fsgreen-nfs {command} --help").replace("  ", " "),
    )
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
        .map_err(|error| Fault::of("standard output", &error, "look at who reads it"))
}

/// Print a value as one line of JSON.
///
/// # Errors
/// If the standard output takes it no longer.
pub fn print_json(value: &impl Serialize) -> Result<(), Fault> {
    let line = serde_json::to_string(value);
    let line = line.map_err(|error| Fault::new(error, "a report", "report it"))?;
    print(&format!("{line}\n"))
}

/// The value of an option that is one of the words that a type has in JSON.
pub fn word<T: DeserializeOwned>(parser: &mut Parser) -> Result<T, lexopt::Error> {
    let word = parser.value()?.string()?;
    serde_json::from_value(word.into()).map_err(|error| error.to_string().into())
}

/// The value of an option that is a whole number, within bounds.
pub fn number<T: std::str::FromStr + PartialOrd + Display>(
    parser: &mut Parser,
    (least, most): (T, T),
) -> Result<T, lexopt::Error>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let number: T = parser.value()?.parse()?;
    if number < least || number > most {
        return Err(format!("{number} is not from {least} to {most}").into());
    }
    Ok(number)
}

/// `HOST:PORT`.
pub fn address(text: &str) -> Result<SocketAddr, lexopt::Error> {
    let found = text
        .to_socket_addrs()
        .ok()
        .and_then(|mut found| found.next());
    found.ok_or_else(|| format!("no address HOST:PORT: {text}").into())
}
