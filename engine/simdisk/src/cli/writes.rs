//! `writes`: random writes in virtual time.

use lexopt::Parser;

use super::command::{Command, print};
use super::{asked, summary};
use crate::profile::Fault;

pub const COMMAND: Command = Command {
    name: "writes",
    about: "simulate random writes, as on an SSD that is new or used",
    help: concat!(
        "\
fsgreen-simdisk writes DISK [OPTION]...

Simulate writes at random places of the whole device, in virtual time: nothing is measured. Prints
the throughput, the energy by part of the device and, of an SSD, the write amplification.

  --total-mib N         of all writes together (256)
  --write-kib N         of each (4)
  --under-way N         at a time (32)
  --seed N              of the places (0)
",
        crate::options_of_simulations!(),
        "
Example: fsgreen-simdisk writes x25-m-g2 --sectors 4000000 --state steady
"
    ),
    run,
};

const OPTIONS: [&str; 4] = ["total-mib", "write-kib", "under-way", "seed"];

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some((experiment, as_json)) = asked::parse("writes", &OPTIONS, None, parser)? else {
        return Ok(None);
    };
    print(&summary::of(&experiment.run()?, as_json)).map(Some)
}
