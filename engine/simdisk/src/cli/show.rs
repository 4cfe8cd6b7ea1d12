//! `show`: the file of a profile.

use lexopt::Parser;
use lexopt::prelude::*;

use super::command::{Command, print, usage};
use crate::profile::{Fault, Profile};

pub const COMMAND: Command = Command {
    name: "show",
    about: "print the file of a built-in profile",
    help: "\
fsgreen-simdisk show DISK

Print the file of a built-in profile, with the sources of its numbers. A file of one's own is best
begun as a copy of it; its path then stands wherever a DISK is asked for.

Example: fsgreen-simdisk show wd200bb > mine.toml
",
    run,
};

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let wrong = |error| usage("show", error);
    let mut disk = None;
    while let Some(argument) = parser.next().map_err(wrong)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(name) if disk.is_none() => disk = Some(name.string().map_err(wrong)?),
            other => return Err(wrong(other.unexpected())),
        }
    }
    let disk = disk.ok_or_else(|| usage("show", "which DISK?"))?;
    let text = Profile::text(&disk).ok_or_else(|| {
        Fault::new(
            format!("there is no built-in profile {disk}"),
            "arguments of show",
            "fsgreen-simdisk disks",
        )
    })?;
    print(text).map(Some)
}
