//! `read`: files of a server, by readers that are timed.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::command::{Command, address, number, print_json, usage, word};
use crate::client::{self, Load, Protocol, Session};
use crate::fault::Fault;
use lexopt::{Parser, prelude::*};
use readahead::Order;

pub const COMMAND: Command = Command {
    name: "read",
    about: "read files of a server, and say how long that took",
    help: HELP,
    run,
};

const HELP: &str = "\
fsgreen-nfs read HOST:PORT FILE... [OPTION]...

Read files of an NFSv3 server, each by a reader of its own, all at the same time. Readers ask
through workers, each of which sends a request and waits for its reply, as nfsiod does; so requests
reach the server out of order. FILE is a path below the export `/`; of each the whole MiB are read.
What was read is thrown away, and nothing of it is kept for the next time.

  --protocol NAME       tcp or udp (tcp)
  --workers N           (4)
  --ahead N             requests of a reader beyond the one that it waits for (4)
  --read-kib N          of a request (8)
  --strides N           parts of a file that are read in turn (1)
  --order ORDER         in-turn, or random (in-turn)
  --mib N               of each file: only its first so many (all)
  --late-percent N      of the requests of a reader, those that it asks for late (0)
  --late-places N       behind so many others (1)
  --busy N              threads that compute all the time, beside (0)
  --timeout-ms N        until a call over UDP is sent again, the first time (1000)

Prints one line of JSON: bytes and times of each reader, the rate of all together in 10^6 B/s,
calls that were sent behind one with a later number (`sent_late_count`) or again (`resent_count`),
and replies that nobody waited for any more (`stray_count`).

Example:
  fsgreen-nfs read 127.0.0.1:2049 a b c d --protocol udp --workers 8 --strides 2
";

struct Asked {
    server: SocketAddr,
    protocol: Protocol,
    timeout: Duration,
    load: Load,
}

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some(asked) = arguments(parser).map_err(|error| usage(COMMAND.name, error))? else {
        return Ok(None);
    };
    let session = Session::mount(asked.server, asked.protocol, asked.timeout).map_err(|error| {
        Fault::of(
            asked.server,
            &error,
            "see whether `fsgreen-nfs serve` runs there",
        )
    })?;
    let (progress, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let report = thread::scope(|scope| {
        if io::stderr().is_terminal() {
            scope.spawn(|| tell(&progress, &is_over));
        }
        let report = client::run(&session, &asked.load, &progress);
        is_over.store(true, Ordering::Relaxed);
        report
    })?;
    print_json(&report).map(Some)
}

/// Say every other second how far it is.
fn tell(progress: &AtomicU64, is_over: &AtomicBool) {
    let begin = Instant::now();
    let mut told = 0;
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        let now_s = begin.elapsed().as_secs();
        if now_s >= told + 2 {
            told = now_s;
            let read_mb = progress.load(Ordering::Relaxed) as f64 / 1e6;
            let _ = writeln!(io::stderr(), "fsgreen-nfs: {read_mb:.0} MB in {now_s} s");
        }
    }
}

fn arguments(parser: &mut Parser) -> Result<Option<Asked>, lexopt::Error> {
    let (mut server, mut protocol, mut timeout_ms) = (None, Protocol::Tcp, 1000);
    let mut load = Load {
        files: Vec::new(),
        mib: 0,
        read_kib: 8,
        strides: 1,
        order: Order::InTurn,
        late_percent: 0,
        late_places: 1,
        ahead: 4,
        workers: 4,
        busy: 0,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("protocol") => protocol = word(parser)?,
            Long("workers") => load.workers = number(parser, (1, 1024))?,
            Long("ahead") => load.ahead = number(parser, (0, 1024))?,
            Long("read-kib") => load.read_kib = number(parser, (1, 1024))?,
            Long("strides") => load.strides = parser.value()?.parse()?,
            Long("order") => load.order = word(parser)?,
            Long("mib") => load.mib = parser.value()?.parse()?,
            Long("late-percent") => load.late_percent = parser.value()?.parse()?,
            Long("late-places") => load.late_places = parser.value()?.parse()?,
            Long("busy") => load.busy = number(parser, (0, 1024))?,
            Long("timeout-ms") => timeout_ms = number(parser, (1, 60_000))?,
            Value(text) if server.is_none() => server = Some(address(&text.string()?)?),
            Value(file) => load.files.push(file.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if load.files.is_empty() {
        return Err("which FILE?".into());
    }
    Ok(Some(Asked {
        server: server.ok_or("which HOST:PORT?")?,
        protocol,
        timeout: Duration::from_millis(timeout_ms),
        load,
    }))
}
