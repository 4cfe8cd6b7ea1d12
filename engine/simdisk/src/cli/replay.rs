//! `replay`: a trace in virtual time.

use lexopt::Parser;

use super::command::{Command, print};
use super::{asked, summary};
use crate::profile::Fault;

pub const COMMAND: Command = Command {
    name: "replay",
    about: "simulate the requests of a trace",
    help: concat!(
        "\
fsgreen-simdisk replay DISK TRACE.csv [OPTION]...

Simulate the requests of a trace at their times, in virtual time: nothing is measured. The first
line of the trace names its columns, of which it needs

  stream,action,sector,sectors,issued_ns

as the log of 'serve' has them; an action is read, write, flush or discard.

",
        crate::options_of_simulations!(),
        "
Example: fsgreen-simdisk replay wd200bb requests.csv --scheduler deadline --json
"
    ),
    run,
};

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some((experiment, as_json)) = asked::parse("replay", &[], Some("file"), parser)? else {
        return Ok(None);
    };
    print(&summary::of(&experiment.run()?, as_json)).map(Some)
}
