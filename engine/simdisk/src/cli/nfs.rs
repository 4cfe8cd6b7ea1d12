//! `nfs`: an NFS server with one of several heuristics of read-ahead, in virtual time.

use lexopt::Parser;

use super::command::{Command, print};
use super::{asked, summary};
use crate::profile::Fault;

pub const COMMAND: Command = Command {
    name: "nfs",
    about: "simulate an NFS server that reads ahead, as in nfstricks03",
    help: concat!(
        "\
fsgreen-simdisk nfs DISK [TRACE.csv] [OPTION]...

Simulate the read-ahead of an NFS server for clients that each read a file of their own, in virtual
time: nothing is measured. Prints what the clients get, how far was read ahead, and the energy by
part of the device.

What is read, each file by a client of its own:

  --files N             (1)
  --total-mib N         of all files together (256)
  --read-kib N          of a request (8)
  --streams N           parts of a file that are read in turn: strides (1)
  --order ORDER         in-turn, or random (in-turn)
  --late-percent N      of the requests of a file, those that arrive late (0)
  --late-places N       behind so many others (1)
  --in-flight N         requests of a client without a reply (1)
  --start-within-ms N   each client begins at a moment of its own within this time (0)
  --seed N              of all that looks like chance (0)

or a recorded trace, as of one client. Its first line names its columns, of which it needs

  file,offset_b,count_b

The server:

  --heuristic NAME      default (of FreeBSD 4), always, slowdown or cursors (default)
  --cursors N           places of a file that cursors keep (8)
  --slots N             of the table of files: 64 of FreeBSD 4, 1017 of later ones (64)
  --probes N            slots that are looked at for a file: 4, later 32 (4)
  --window-kib N        the most that is read ahead (128)
  --cluster-kib N       the largest request to the disk (64)
  --link-mb-s N         of the link, for all replies (49)
  --partition N         a quarter of the device, 1 the outermost (the whole device)
  --placement HOW       of the files: adjacent, or spread over the partition (adjacent)
",
        crate::options_of_simulations!(),
        "
With --json and --log, what was decided at each read is `nfs.decisions`.

Example: fsgreen-simdisk nfs wd200bb reads.csv --heuristic cursors --json --log
"
    ),
    run,
};

const OPTIONS: [&str; 19] = [
    "reads/files",
    "reads/total-mib",
    "reads/read-kib",
    "reads/streams",
    "reads/order",
    "reads/late-percent",
    "reads/late-places",
    "reads/seed",
    "read_ahead/heuristic",
    "read_ahead/cursors",
    "read_ahead/slots",
    "read_ahead/probes",
    "read_ahead/window-kib",
    "in-flight",
    "start-within-ms",
    "cluster-kib",
    "link-mb-s",
    "partition",
    "placement",
];

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some((experiment, as_json)) = asked::parse("nfs", &OPTIONS, Some("file"), parser)? else {
        return Ok(None);
    };
    print(&summary::of(&experiment.run()?, as_json)).map(Some)
}
