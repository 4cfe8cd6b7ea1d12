//! `read`: files of a server, by readers that are timed.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lexopt::{Parser, prelude::*};
use readahead::Order;

use super::command::{Command, address, number, print_json, usage, word};
use crate::client::{self, Load, Place, Progress, Protocol, Session};
use crate::fault::Fault;

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
reach the server out of order. FILE is a path below the export; of each the whole MiB are read.
What was read is thrown away, and nothing of it is kept for the next time.

  --protocol NAME       tcp or udp (tcp)
  --export PATH         (/)
  --mount-port N        where the server mounts (PORT, as `fsgreen-nfs serve` has it)
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
    place: Place,
    protocol: Protocol,
    timeout: Duration,
    load: Load,
}

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some(asked) = arguments(parser).map_err(|error| usage(COMMAND.name, error))? else {
        return Ok(None);
    };
    let session = Session::mount(&asked.place, asked.protocol, asked.timeout).map_err(|error| {
        Fault::of(
            asked.place.server,
            &error,
            "see whether `fsgreen-nfs serve` runs there",
        )
    })?;
    let (progress, is_over) = (Progress::default(), AtomicBool::new(false));
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
fn tell(progress: &Progress, is_over: &AtomicBool) {
    let begin = Instant::now();
    let mut told = 0;
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        let elapsed_s = begin.elapsed().as_secs_f64();
        if elapsed_s as u64 >= told + 2 {
            told = elapsed_s as u64;
            let [read_mb, all_mb] = [&progress.read_b, &progress.all_b]
                .map(|bytes| bytes.load(Ordering::Relaxed) as f64 / 1e6);
            let left_s = elapsed_s * (all_mb / read_mb.max(0.1) - 1.0);
            let line = format!("{read_mb:.0} of {all_mb:.0} MB, about {left_s:.0} s left");
            let _ = writeln!(io::stderr(), "fsgreen-nfs: {line}");
        }
    }
}

fn arguments(parser: &mut Parser) -> Result<Option<Asked>, lexopt::Error> {
    let (mut place, mut protocol, mut timeout_ms) = (None::<Place>, Protocol::Tcp, 1000);
    let (mut export, mut mount_port) = (None, None);
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
            Long("export") => export = Some(parser.value()?.string()?),
            Long("mount-port") => mount_port = Some(parser.value()?.parse()?),
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
            Value(text) if place.is_none() => place = Some(address(&text.string()?)?.into()),
            Value(file) => load.files.push(file.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if load.files.is_empty() {
        return Err("which FILE?".into());
    }
    let place = place.ok_or("which HOST:PORT?")?;
    Ok(Some(Asked {
        place: Place {
            mount_port: mount_port.unwrap_or(place.mount_port),
            export: export.unwrap_or(place.export),
            ..place
        },
        protocol,
        timeout: Duration::from_millis(timeout_ms),
        load,
    }))
}
