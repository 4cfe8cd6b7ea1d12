//! The command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Parser, prelude::*};
use wml::clock::{SECOND_NS, now_ns};
use wml::failure::{Exit, Failure};
use wml::random::Stream;
use wml::signals;

use crate::ENGINE;
use crate::mix::Mix;
use crate::report::{Report, Run};
use crate::requests::Requests;
use crate::rocksdb::{Database, Library, version_in};
use crate::run::{Asked, run};
use crate::table::key;

const HELP: &str = "\
fsgreen-ycsb does the core workloads of YCSB on RocksDB, whose library it loads when it runs.

  fsgreen-ycsb check   say which library of RocksDB there is
  fsgreen-ycsb load    make a database with so many records
  fsgreen-ycsb run     work on it; results go to the standard output as JSON

  --dir DIR         of the database (load, run)
  --records N       in it at first (load, run)
  --record-b N      bytes of a record (4096)
  --memtables-mib N memory for what is not written yet, in MiB; sizes of files and levels follow (512)
  --seed N          of contents and requests (0)
  --workload X      a, b, c, d, e or f (run)
  --threads N       (1)
  --requests NAME   zipfian, latest or uniform, instead of the workload's own
  --warmup SECONDS  --duration SECONDS   (0, 60)
  --load N          operations per second over all threads (as fast as it goes)
  --blind-updates   an update writes a record without reading it first
  --direct-reads    only RocksDB's own cache (8 or 32 MB, by its version) keeps what was read
  --die-with-parent end when the caller does, however it ends

FSGREEN_ROCKSDB=/path/librocksdb.so names another library.
Exit status: 0 done; 1 failed; 2 no library, or wrong words; 3 it ended early, results are partial.

Example: fsgreen-ycsb load --dir /mnt/test/db --records 100000 &&
         fsgreen-ycsb run --dir /mnt/test/db --records 100000 --workload a --threads 4
";

/// How often it is looked whether a database has settled.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Words {
    dir: Option<PathBuf>,
    records: Option<u64>,
    record_b: Option<u64>,
    memtables_mib: Option<f64>,
    seed: u64,
    workload: Option<Mix>,
    letter: String,
    requests: Option<Requests>,
    threads: Option<u64>,
    warmup_s: Option<f64>,
    duration_s: Option<f64>,
    load_ops_s: Option<f64>,
    blind_updates: bool,
    direct_reads: bool,
}

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    signals::block();
    let mut parser = Parser::from_args(arguments);
    dispatch(&mut parser).unwrap_or_else(|(exit, failure)| {
        let _ = writeln!(std::io::stderr(), "fsgreen-ycsb: {failure}");
        exit
    })
}

type Fails = (Exit, Failure);

fn dispatch(parser: &mut Parser) -> Result<Exit, Fails> {
    let wrong = |error: lexopt::Error| {
        (
            Exit::Text,
            Failure::new(error.to_string(), "fsgreen-ycsb --help"),
        )
    };
    let command = match parser.next().map_err(wrong)? {
        Some(Value(word)) => word,
        Some(Short('V') | Long("version")) => return Ok(say(&format!("{ENGINE}\n"))),
        Some(Short('h') | Long("help")) | None => return Ok(say(HELP)),
        Some(other) => return Err(wrong(other.unexpected())),
    };
    let Some(words) = Words::parse(parser).map_err(wrong)? else {
        return Ok(say(HELP));
    };
    let library = Library::load().map_err(|failure| (Exit::Text, failure))?;
    match command.to_str() {
        Some("check") => Ok(say(&format!("{}\n", library.file().display()))),
        Some("load") => words.load(&library),
        Some("run") => words.run(&library),
        _ => Err(wrong(Value(command).unexpected())),
    }
}

fn say(text: &str) -> Exit {
    let mut output = std::io::stdout().lock();
    match output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
    {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Failed,
    }
}

impl Words {
    /// None asks for the help.
    fn parse(parser: &mut Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut words = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("dir") => words.dir = Some(parser.value()?.into()),
                Long("records") => words.records = Some(count(parser)?),
                Long("record-b") => words.record_b = Some(count(parser)?),
                Long("memtables-mib") => words.memtables_mib = Some(above_0(parser)?),
                Long("seed") => words.seed = parser.value()?.parse()?,
                Long("threads") => words.threads = Some(count(parser)?),
                Long("workload") => {
                    words.letter = parser.value()?.string()?;
                    let mix = Mix::named(&words.letter).ok_or("a workload is one of a to f")?;
                    words.workload = Some(mix);
                }
                Long("requests") => {
                    let name = parser.value()?.string()?;
                    let found = Requests::named(&name);
                    words.requests = Some(found.ok_or("requests are zipfian, latest or uniform")?);
                }
                Long("warmup") => words.warmup_s = Some(parser.value()?.parse()?),
                Long("duration") => words.duration_s = Some(above_0(parser)?),
                Long("load") => words.load_ops_s = Some(above_0(parser)?),
                Long("blind-updates") => words.blind_updates = true,
                Long("direct-reads") => words.direct_reads = true,
                Long("die-with-parent") => {
                    wml::run::die_with_parent().map_err(|failure| failure.to_string())?;
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(words))
    }

    fn load(self, library: &Library) -> Result<Exit, Fails> {
        let records = self.records()?;
        let database = self.open(library)?;
        let mut stream = Stream::new(self.seed, &["load"]);
        let mut record = vec![0; self.record_b()];
        let mut told_ns = now_ns();
        let started_ns = told_ns;
        for number in 0..records {
            stream.fill(&mut record);
            database.put(&key(number), &record).map_err(failed)?;
            if number % 64 == 0 && now_ns() > told_ns + SECOND_NS {
                told_ns = now_ns();
                tell(number, records, told_ns - started_ns);
                signals::check().map_err(|failure| (Exit::Partial, failure))?;
            }
        }
        database.flush().map_err(failed)?;
        settle(&database)?;
        Ok(Exit::Ok)
    }

    fn run(self, library: &Library) -> Result<Exit, Fails> {
        let missing = || {
            let failure = Failure::new("which workload?", "--workload a, to f");
            (Exit::Text, failure)
        };
        let mut mix = self.workload.ok_or_else(missing)?;
        mix.requests = self.requests.unwrap_or(mix.requests);
        let asked = Asked {
            mix,
            records: self.records()?,
            record_b: self.record_b(),
            threads: self.threads.unwrap_or(1) as usize,
            seed: self.seed,
            warmup_s: self.warmup_s.unwrap_or(0.0).max(0.0),
            duration_s: self.duration_s.unwrap_or(60.0),
            load_ops_s: self.load_ops_s,
            read_before_update: !self.blind_updates,
        };
        let database = self.open(library)?;
        let ended = run(&database, &asked).map_err(failed)?;
        if database.background_errors() > 0 {
            return Err(failed("RocksDB could not write in the background".into()));
        }
        drop(database);
        let variables = BTreeMap::from([
            ("workload", self.letter.to_ascii_lowercase()),
            ("threads", asked.threads.to_string()),
            ("records", asked.records.to_string()),
        ]);
        let partial = ended.cut.is_some();
        let version = self
            .dir
            .as_deref()
            .and_then(version_in)
            .unwrap_or("?".into());
        let report = Report {
            engine: format!("{ENGINE}, RocksDB {version}"),
            seed: asked.seed,
            partial,
            reason: ended.cut.clone(),
            notes: Vec::new(),
            runs: [Run::new(
                &ended,
                asked.warmup_s,
                asked.duration_s,
                variables,
            )],
        };
        let text = serde_json::to_string(&report).expect("a report is JSON");
        Ok(match say(&format!("{text}\n")) {
            Exit::Ok if partial => Exit::Partial,
            exit => exit,
        })
    }

    fn open<'a>(&self, library: &'a Library) -> Result<Database<'a>, Fails> {
        let missing = || (Exit::Text, Failure::new("which folder?", "--dir DIR"));
        let folder = self.dir.as_deref().ok_or_else(missing)?;
        let memtables_b = self.memtables_mib.unwrap_or(512.0) * f64::from(1 << 20);
        library
            .open(folder, memtables_b as u64, self.direct_reads)
            .map_err(failed)
    }

    fn records(&self) -> Result<u64, Fails> {
        let missing = || (Exit::Text, Failure::new("how many records?", "--records N"));
        self.records.ok_or_else(missing)
    }

    fn record_b(&self) -> usize {
        self.record_b.unwrap_or(4096) as usize
    }
}

/// Wait until nothing is left to be merged: each run then begins with the same levels.
fn settle(database: &Database) -> Result<(), Fails> {
    while !database.is_settled() {
        signals::check().map_err(|failure| (Exit::Partial, failure))?;
        std::thread::sleep(LOOK);
        if database.background_errors() > 0 {
            return Err(failed("RocksDB could not write in the background".into()));
        }
    }
    Ok(())
}

/// Say what is left, as people watch it.
fn tell(done: u64, of: u64, passed_ns: u64) {
    let left_s = passed_ns as f64 / 1e9 * (of - done) as f64 / done.max(1) as f64;
    let _ = writeln!(
        std::io::stderr(),
        "{done} of {of} records, {left_s:.0} s left"
    );
}

/// What RocksDB says that went wrong, and what mends it.
fn failed(said: String) -> Fails {
    let next = if said.contains("No space left") {
        "choose a smaller scale or a larger file system"
    } else if said.contains("Direct I/O") {
        "leave out the direct reads, or choose a file system that has them"
    } else {
        "see what RocksDB writes to the file LOG in its folder, and whether the device failed (dmesg)"
    };
    (Exit::Failed, Failure::new(format!("RocksDB: {said}"), next))
}

fn count(parser: &mut Parser) -> Result<u64, lexopt::Error> {
    let value: u64 = parser.value()?.parse()?;
    if value == 0 {
        return Err("a number above 0 is needed".into());
    }
    Ok(value)
}

fn above_0(parser: &mut Parser) -> Result<f64, lexopt::Error> {
    let value: f64 = parser.value()?.parse()?;
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err("a number above 0 is needed".into())
}
