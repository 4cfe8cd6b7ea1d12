//! How often the disk was woken: on flash before it is, so that no crash gives another time. And how
//! it was put to sleep, with what the disk itself counts.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::branch::own;
use crate::fault::Fault;
use crate::journal::frame;
use crate::power::Starts;
use crate::spin::{Balance, DAY_S, Limits, Needs, Reason, SpinUp, Tally};
use crate::sys;

/// A disk that was woken is awake for so long, unless it was put to sleep: to read it is no further
/// spin-up.
const AWAKE_S: u64 = 600;

/// Where spin-ups are written down on flash.
fn history(flash: &Path) -> PathBuf {
    flash.join(own("spin-ups"))
}

pub struct Spins {
    flash: PathBuf,
    known: Mutex<Known>,
    /// Held by who reads the disk; nobody puts it to sleep meanwhile.
    reading: RwLock<()>,
}

struct Known {
    balance: Balance,
    tally: Tally,
    sleep: Sleep,
    /// When others used the disk while it slept, in the last day.
    others_s: Vec<u64>,
}

/// How the disk was put to sleep.
#[derive(PartialEq, Eq)]
enum Sleep {
    /// It was used, and not told to sleep since.
    Due,
    Told,
    /// It could not be told to; with why.
    Failed(String),
}

/// What the disk counts, as it is written down.
#[derive(Serialize)]
struct Counted<'a> {
    at_s: u64,
    start_stops_count: u64,
    serial: &'a str,
}

impl Spins {
    /// Those that flash knows. A line that is not whole was never acted upon.
    pub fn open(flash: &Path, limits: Limits) -> io::Result<Self> {
        let mut spins = Vec::new();
        match File::open(history(flash)) {
            Ok(file) => {
                for line in BufReader::new(file).lines() {
                    spins.extend(frame::value::<SpinUp>(line?.as_bytes()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            Err(error) => return Err(error),
        }
        Ok(Self {
            flash: flash.to_owned(),
            known: Mutex::new(Known {
                balance: Balance::new(limits, spins),
                tally: Tally::default(),
                sleep: Sleep::Due,
                others_s: Vec::new(),
            }),
            reading: RwLock::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("a panic ends this process")
    }

    /// Why the disk is to be woken now, if it is.
    pub fn reason(&self, needs: &Needs) -> Option<Reason> {
        self.known().balance.reason(now_s(), needs)
    }

    /// The disk is woken now: written down durably before it is touched.
    pub fn spend(&self, why: Reason) -> Result<(), Fault> {
        self.spend_of(&mut self.known(), why)
    }

    fn spend_of(&self, known: &mut Known, why: Reason) -> Result<(), Fault> {
        let spin = SpinUp { at_s: now_s(), why };
        let written = self.write_down(&spin);
        written.map_err(|error| {
            let next = "see who may write there";
            let what = format!("the spin-up cannot be written down: {error}");
            Fault::new(what, &self.flash, next)
        })?;
        known.balance.spend(spin);
        known.tally.spend();
        known.sleep = Sleep::Due;
        Ok(())
    }

    /// The disk is read, for a program that waits: no budget refuses that, but it counts. Returns
    /// whether it was asleep, as far as anybody knows, and what keeps it awake.
    pub fn spend_for_read(&self) -> Result<(bool, RwLockReadGuard<'_, ()>), Fault> {
        let reading = self.reading.read().expect("a panic ends this process");
        let mut known = self.known();
        let is_recent = |spin: SpinUp| spin.at_s.saturating_add(AWAKE_S) > now_s();
        let is_awake = known.sleep != Sleep::Told && known.balance.last().is_some_and(is_recent);
        if !is_awake {
            self.spend_of(&mut known, Reason::Read)?;
        }
        Ok((!is_awake, reading))
    }

    /// Whether the disk was used, and nobody tried to put it to sleep since.
    pub fn is_sleep_due(&self) -> bool {
        self.known().sleep == Sleep::Due
    }

    /// Whether the disk was put to sleep, and nobody here has used it since.
    pub fn is_asleep(&self) -> bool {
        self.known().sleep == Sleep::Told
    }

    /// Others used the disk while it slept. It is put to sleep again, as often in a day as it may be
    /// woken here: each time wears it.
    pub fn let_others_use(&self) {
        let mut known = self.known();
        let now_s = now_s();
        known
            .others_s
            .retain(|at_s| at_s.saturating_add(DAY_S) > now_s);
        let is_too_often = known.others_s.len() >= known.balance.limits.per_day as usize;
        known.others_s.push(now_s);
        known.sleep = match is_too_often {
            true => Sleep::Failed("others used it too often today".into()),
            false => Sleep::Due,
        };
    }

    /// Put the disk to sleep by `stop`, once after each use. Returns what came of it; none if somebody
    /// reads the disk just now.
    pub fn put_to_sleep(
        &self,
        stop: impl FnOnce() -> Result<(), String>,
    ) -> Option<Result<(), String>> {
        let _nobody_reads = self.reading.try_write().ok()?;
        let stopped = stop();
        self.known().sleep = match &stopped {
            Ok(()) => Sleep::Told,
            Err(why) => Sleep::Failed(why.clone()),
        };
        Some(stopped)
    }

    /// The disk counts so many starts. Returns how many of those since it last said so are by others.
    pub fn compare(&self, starts: &Starts) -> io::Result<u64> {
        let counted = Counted {
            at_s: now_s(),
            start_stops_count: starts.count,
            serial: &starts.serial,
        };
        self.write_down(&counted)?;
        let mut known = self.known();
        Ok(known
            .tally
            .compare(counted.at_s, starts.count, &starts.serial))
    }

    fn write_down(&self, what: &impl Serialize) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(history(&self.flash))?;
        file.write_all(&frame::line(what)?)?;
        file.sync_all()
    }

    /// How it stands, for a person.
    pub fn said(&self) -> String {
        let known = self.known();
        let balance = &known.balance;
        let last = match balance.last() {
            None => "never spun up".into(),
            Some(SpinUp { at_s, why }) => format!("last spun up {} because {why}", time(at_s)),
        };
        let (spent, per_day) = (balance.in_a_day(now_s()), balance.limits.per_day);
        let counts = known.tally.last().map_or_else(String::new, |count| {
            let (starts, foreign) = (count.starts, count.foreign);
            match foreign {
                0 => format!("; its own count of starts is {starts}"),
                _ => format!(
                    "; its own count of starts is {starts}, {foreign} of them by others since {}",
                    time(count.since_s)
                ),
            }
        });
        let failed = match &known.sleep {
            Sleep::Failed(why) => format!("; not put to sleep: {why}"),
            _ => String::new(),
        };
        format!("{last}, {spent} of {per_day} in a day{counts}{failed}")
    }
}

fn time(at_s: u64) -> String {
    sys::local_time(UNIX_EPOCH + Duration::from_secs(at_s))
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
