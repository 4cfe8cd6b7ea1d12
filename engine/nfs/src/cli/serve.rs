//! `serve`: a folder, to all who ask.

use lexopt::{Parser, prelude::*};
use serde_json::json;

use super::command::{Command, address, number, print_json, usage, word};
use crate::fault::Fault;
use crate::server::{Server, Settings};
use crate::sys::Signals;

pub const COMMAND: Command = Command {
    name: "serve",
    about: "serve a folder, read-only",
    help: HELP,
    run,
};

const HELP: &str = "\
fsgreen-nfs serve DIR [OPTION]...

Serve what is below DIR by NFSv3 and MOUNT, over TCP and UDP on one port, until SIGTERM, SIGINT or
SIGHUP. Read-only: what would change something is refused (NFS3ERR_ROFS). Symbolic links are the
client's to follow. Whoever can reach the address may read whatever this program may, so it listens
on this machine only, unless told otherwise. No portmapper is needed: clients name the port. A file
handle holds until the server ends.

The kernel reads nothing ahead by itself (POSIX_FADV_RANDOM); the heuristic says what it is to read
ahead (POSIX_FADV_WILLNEED). A file is known to it by its inode.

  --listen HOST:PORT    (127.0.0.1:2049); port 0 is any that is free
  --daemons N           requests that are answered at once (4)
  --heuristic NAME      default (of FreeBSD 4), always, slowdown or cursors (default)
  --cursors N           places of a file that cursors keep (8)
  --slots N             of the table of files: 64 of FreeBSD 4, 1017 of later ones (64)
  --probes N            slots that are looked at for a file: 4, later 32 (4)
  --window-kib N        the most that is read ahead (128); 0 is nothing
  --log FILE            each decision, in the order in which requests were taken up: a table that
                        `fsgreen-simdisk nfs` replays

Prints two lines of JSON: the address once it can be used, and at the end what was done. A read is
late there if its client had numbered it before one that was taken up earlier.

Example:
  fsgreen-nfs serve /srv/files --heuristic cursors --log decisions.csv &
  nfs-cat 'nfs://127.0.0.1/file?version=3&nfsport=2049&mountport=2049'
  mount -t nfs -o ro,nolock,vers=3,tcp,port=2049,mountport=2049,mountproto=tcp 127.0.0.1:/ /mnt
";

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some(settings) = arguments(parser).map_err(|error| usage(COMMAND.name, error))? else {
        return Ok(None);
    };
    let signals = Signals::hold();
    let server = Server::start(&settings)?;
    print_json(&json!({ "address": server.address }))?;
    signals.wait();
    print_json(&server.summary()).map(Some)
}

fn arguments(parser: &mut Parser) -> Result<Option<Settings>, lexopt::Error> {
    let mut folder = None;
    let (mut listen, mut daemons, mut log) = ("127.0.0.1:2049".to_owned(), 4, None);
    let mut read_ahead = readahead::Settings::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("listen") => listen = parser.value()?.string()?,
            Long("daemons") => daemons = number(parser, (1, 1024))?,
            Long("heuristic") => read_ahead.heuristic = word(parser)?,
            Long("cursors") => read_ahead.cursors = parser.value()?.parse()?,
            Long("slots") => read_ahead.slots = parser.value()?.parse()?,
            Long("probes") => read_ahead.probes = parser.value()?.parse()?,
            Long("window-kib") => read_ahead.window_kib = parser.value()?.parse()?,
            Long("log") => log = Some(parser.value()?.into()),
            Value(path) if folder.is_none() => folder = Some(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(Settings {
        folder: folder.ok_or("which DIR?")?,
        listen: address(&listen)?,
        daemons,
        read_ahead,
        log,
    }))
}
