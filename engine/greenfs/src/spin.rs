//! When the disk is spun up: the reasons, and the balance that bounds how often.
//!
//! Nothing here looks at a clock: times are given, in seconds since 1970.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Spin-ups are counted over this time. Seconds.
pub const DAY_S: u64 = 24 * 3600;

/// After one spin-up in a day, further ones need twice as much, then four times, and so on.
const HARDER: u32 = 2;

/// Why the disk is spun up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It holds nothing yet.
    New,
    /// No remote has had the changes for too long.
    Unprotected,
    /// It lacks too much.
    Much,
    /// Once a day, when nobody works.
    Quiet,
    /// The volume is unmounted.
    Unmount,
    /// A program reads what flash has not, and no remote gives it.
    Read,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::New => "it held nothing yet",
            Self::Unprotected => "no remote had the changes",
            Self::Much => "it lacked much",
            Self::Quiet => "nobody works at this hour",
            Self::Unmount => "the volume was unmounted",
            Self::Read => "a program read what it alone could give",
        })
    }
}

/// A time at which the disk was spun up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpinUp {
    pub at_s: u64,
    pub why: Reason,
}

/// What the disk lacks, and what else there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// It was never looked at.
    pub is_new: bool,
    /// It lacks something.
    pub lacks: bool,
    /// Bytes of files that are to be copied.
    pub lacks_b: u64,
    /// For how long flash alone has had changes; 0 while a remote has them all.
    pub unprotected_s: u64,
    /// The hour of the day, 0 to 23.
    pub hour: u32,
    pub is_ending: bool,
}

/// From when on the reasons count.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Spin-ups in any 24 hours, at most.
    pub per_day: u32,
    pub unprotected_s: u64,
    pub lacks_b: u64,
    /// The hour of the day in which nobody works, 0 to 23.
    pub quiet_hour: u32,
}

impl Default for Limits {
    /// greenfs08 bounds spin-ups and does not say by what; these are ours.
    fn default() -> Self {
        Self {
            per_day: 4,
            unprotected_s: 15 * 60,
            lacks_b: 1 << 30,
            quiet_hour: 3,
        }
    }
}

/// The spin-ups of the last day, and whether there may be another.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    pub limits: Limits,
    history: Vec<SpinUp>,
}

impl Balance {
    pub fn new(limits: Limits, history: Vec<SpinUp>) -> Self {
        Self { limits, history }
    }

    pub fn last(&self) -> Option<SpinUp> {
        self.history.last().copied()
    }

    /// Spin-ups in the 24 hours before. Those of a clock that went back count, too.
    pub fn in_a_day(&self, now_s: u64) -> u32 {
        let recent = |spin: &&SpinUp| spin.at_s.saturating_add(DAY_S) > now_s;
        self.history.iter().filter(recent).count() as u32
    }

    /// Why the disk is to be spun up now, if it is.
    pub fn reason(&self, now_s: u64, needs: &Needs) -> Option<Reason> {
        let spent = self.in_a_day(now_s);
        if spent >= self.limits.per_day || !(needs.is_new || needs.lacks) {
            return None;
        }
        let harder = u64::from(HARDER).saturating_pow(spent);
        let is_much = |value: u64, limit: u64| value >= limit.saturating_mul(harder);
        let was_quiet = |spin: &SpinUp| {
            spin.why == Reason::Quiet && spin.at_s.saturating_add(DAY_S / 2) > now_s
        };
        let is_quiet = needs.hour == self.limits.quiet_hour;
        match () {
            () if needs.is_new => Some(Reason::New),
            () if needs.is_ending => Some(Reason::Unmount),
            () if is_much(needs.unprotected_s, self.limits.unprotected_s) => {
                Some(Reason::Unprotected)
            }
            () if is_much(needs.lacks_b, self.limits.lacks_b) => Some(Reason::Much),
            () if is_quiet && !self.history.iter().any(was_quiet) => Some(Reason::Quiet),
            () => None,
        }
    }

    /// The disk is spun up now.
    pub fn spend(&mut self, spin: SpinUp) {
        self.history.push(spin);
    }
}

/// What the disk counts of its starts, beside how often it was woken here.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    spent: u64,
    last: Option<Count>,
}

/// What the disk said of its starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub starts: u64,
    serial: String,
    /// How often it had been woken here.
    spent: u64,
    /// Starts that nobody here is the cause of, since this disk was first counted.
    pub foreign: u64,
    pub since_s: u64,
}

impl Tally {
    /// The disk is woken from here.
    pub fn spend(&mut self) {
        self.spent += 1;
    }

    /// The disk says how often it was started. Returns how many of the starts since it last said so
    /// nobody here is the cause of. With another disk, or one that counts anew, this begins anew.
    pub fn compare(&mut self, at_s: u64, starts: u64, serial: &str) -> u64 {
        let is_same = |last: &Count| last.serial == serial && last.starts <= starts;
        let last = self.last.take().filter(is_same);
        let more = last.as_ref().map_or(0, |last| {
            (starts - last.starts).saturating_sub(self.spent - last.spent)
        });
        self.last = Some(Count {
            starts,
            serial: serial.to_owned(),
            spent: self.spent,
            foreign: last.as_ref().map_or(0, |last| last.foreign) + more,
            since_s: last.map_or(at_s, |last| last.since_s),
        });
        more
    }

    /// What the disk said last.
    pub fn last(&self) -> Option<&Count> {
        self.last.as_ref()
    }
}
