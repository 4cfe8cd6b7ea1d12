//! A simulation as the command line asks for it.

use lexopt::Parser;
use lexopt::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::command::usage;
use crate::profile::Fault;
use crate::simulate::Experiment;

/// Options that override the profile.
const OVERRIDES: [&str; 5] = ["depth", "policy", "write", "read-ahead-kib", "sectors"];

/// What `--help` says of the options of every simulation.
#[macro_export]
macro_rules! options_of_simulations {
    () => {
        "\
  --scheduler NAME      fifo (default), elevator, n-cscan, sstf, deadline, cfq or bfq
  --depth N             commands that the device takes at once; 1 is without tagged queue
  --policy NAME         of the disk's own queue: fifo, sptf or elevator
  --write MODE          of the disk's cache: back or through
  --read-ahead-kib N    that the disk reads ahead into its cache
  --sectors N           only so many, of a disk the outer ones
  --state STATE         of an SSD: initial (default), as new, or steady, as after long use
  --json                print the whole report as JSON
  --power               with --json: the power drawn over time
  --log                 with --json: every request
"
    };
}

/// Parse the arguments of a command. `options` are those of its work beside the common ones, as
/// `GROUP/NAME` where the work has groups, and `operand` the key of what may follow the disk. None asks for the help; the flag is for JSON.
pub fn parse(
    command: &'static str,
    options: &[&str],
    operand: Option<&str>,
    parser: &mut Parser,
) -> Result<Option<(Experiment, bool)>, Fault> {
    let wrong = |error| usage(command, error);
    let (mut asked, mut overrides, mut work) = (Map::new(), Map::new(), Map::new());
    let mut as_json = false;
    while let Some(argument) = parser.next().map_err(wrong)? {
        let name = match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("json") => {
                as_json = true;
                continue;
            }
            Long(flag @ ("power" | "log")) => {
                asked.insert(flag.to_owned(), true.into());
                continue;
            }
            Value(text) => {
                let key = match operand {
                    _ if !asked.contains_key("disk") => "disk",
                    Some(key) if !work.contains_key(key) => key,
                    _ => return Err(wrong(Value(text).unexpected())),
                };
                let text = text.string().map_err(wrong)?;
                let into = if key == "disk" { &mut asked } else { &mut work };
                into.insert(key.to_owned(), text.into());
                continue;
            }
            Long(name) => name.to_owned(),
            other => return Err(wrong(other.unexpected())),
        };
        let into = if OVERRIDES.contains(&name.as_str()) {
            &mut overrides
        } else if name == "scheduler" || name == "state" {
            &mut asked
        } else if let Some(option) = options.iter().find(|option| named(option) == name) {
            group(&mut work, option)
        } else {
            return Err(wrong(Long(&name).unexpected()));
        };
        let text = parser
            .value()
            .and_then(|value| value.string())
            .map_err(wrong)?;
        let value = text.parse::<u64>().map_or(Json::from(text), Json::from);
        into.insert(name.replace('-', "_"), value);
    }
    if !asked.contains_key("disk") {
        return Err(usage(command, "which DISK?"));
    }
    asked.insert("overrides".to_owned(), overrides.into());
    asked.insert("work".to_owned(), json!({ command: work }));
    let experiment = serde_json::from_value(asked.into()).map_err(|error| usage(command, error))?;
    Ok(Some((experiment, as_json)))
}

/// The name of an option without its group.
fn named(option: &str) -> &str {
    option.split_once('/').map_or(option, |(_, name)| name)
}

/// Where the value of an option goes.
fn group<'a>(work: &'a mut Map<String, Json>, option: &str) -> &'a mut Map<String, Json> {
    let Some((group, _)) = option.split_once('/') else {
        return work;
    };
    let entry = work.entry(group).or_insert_with(|| Map::new().into());
    entry.as_object_mut().expect("groups are made here alone")
}
