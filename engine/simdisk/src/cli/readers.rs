//! `readers`: concurrent readers in virtual time.

use lexopt::Parser;

use super::command::{Command, print};
use super::{asked, summary};
use crate::profile::Fault;

pub const COMMAND: Command = Command {
    name: "readers",
    about: "simulate concurrent readers, as in nfstricks03",
    help: concat!(
        "\
fsgreen-simdisk readers DISK [OPTION]...

Simulate n readers, each of a file of its own, in virtual time: nothing is measured. Prints when
each was done, the throughput, and the energy by part of the device.

  --readers N           (1)
  --total-mib N         of all files together (256)
  --streams N           parts of its file that each reader reads in turn: strides (1)
  --read-kib N          that a reader asks for at once (8)
  --cluster-kib N       the largest request of the file system (64)
  --window N            requests read ahead by the file system; 0 for none (2)
  --map-kib N           data that a block of the file's map stands for: 4096 for ext2, 0 for a
                        map in memory, as of ext4 and XFS (0)
  --partition N         a quarter of the device, 1 the outermost (the whole device)
  --placement HOW       of the files: adjacent, or spread over the partition (adjacent)
  --copy-mb-s N         how fast a reader takes what is in memory (200)
  --start-within-ms N   each begins at a moment of its own within this time (0)
  --seed N              of those moments (0)
",
        crate::options_of_simulations!(),
        "
Example: fsgreen-simdisk readers wd200bb --readers 8 --partition 1 --scheduler elevator
"
    ),
    run,
};

const OPTIONS: [&str; 12] = [
    "readers",
    "total-mib",
    "streams",
    "read-kib",
    "cluster-kib",
    "window",
    "map-kib",
    "partition",
    "placement",
    "copy-mb-s",
    "start-within-ms",
    "seed",
];

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some((experiment, as_json)) = asked::parse("readers", &OPTIONS, None, parser)? else {
        return Ok(None);
    };
    print(&summary::of(&experiment.run()?, as_json)).map(Some)
}
