//! `disks`: which profiles are built in.

use lexopt::Parser;
use lexopt::prelude::*;

use super::command::{Command, print, usage};
use crate::device::SECTOR_B;
use crate::profile::{Fault, Profile};

pub const COMMAND: Command = Command {
    name: "disks",
    about: "list the built-in profiles",
    help: "\
fsgreen-simdisk disks

List the built-in profiles: name, capacity, model.

Example: fsgreen-simdisk disks
",
    run,
};

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    match parser.next().map_err(|error| usage("disks", error))? {
        None => {}
        Some(Short('h') | Long("help")) => return Ok(None),
        Some(other) => return Err(usage("disks", other.unexpected())),
    }
    let mut text = String::new();
    for name in Profile::names() {
        let profile = Profile::load(name)?;
        let size_gb = (profile.sectors() * SECTOR_B) as f64 / 1e9;
        text += &format!("{name:<12} {size_gb:>8.1} GB  {}\n", profile.model());
    }
    print(&text).map(Some)
}
