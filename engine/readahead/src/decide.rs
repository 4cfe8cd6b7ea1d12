//! Decisions: how far to read ahead at each request, by settings or by a function of one's own.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::heuristic::Heuristic;
use crate::request::Request;
use crate::table::Table;

/// What decides, in the words of nfstricks03.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub heuristic: Heuristic,
    /// Places of a file that are kept. Not stated: 8 here, the most strides that were measured.
    pub cursors: u32,
    /// Of the table, and those of them that are looked at for a file. 64 and 4 are those of
    /// FreeBSD 4 (`NUM_HEURISTIC`, `nfsrv_read` in sys/nfs/nfs_serv.c). What they were enlarged to is
    /// not stated; FreeBSD has had 1017 and 32 since (sys/fs/nfsserver/nfs_nfsdport.c).
    pub slots: u32,
    pub probes: u32,
    /// The most that is read ahead: 128, two requests of 64 KiB, as `cluster_read` of FreeBSD 4.
    pub window_kib: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            heuristic: Heuristic::Default,
            cursors: 8,
            slots: 64,
            probes: 4,
            window_kib: 128,
        }
    }
}

impl Settings {
    /// What decides by them, and remembers nothing yet.
    ///
    /// # Errors
    /// If a number is out of its bounds.
    pub fn read_ahead(&self) -> Result<ReadAhead, String> {
        for (name, value, least, most) in [
            ("cursors", self.cursors, 1, 1024),
            ("slots", self.slots, 1, 1 << 20),
            ("probes", self.probes, 1, 1 << 20),
            ("window_kib", self.window_kib, 0, 1 << 20),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{name} is {value}, and not from {least} to {most}"));
            }
        }
        Ok(ReadAhead {
            heuristic: self.heuristic,
            pool: self.cursors as usize,
            table: Table::new(self.slots as usize, self.probes as usize),
            window_b: self.window_b(),
        })
    }

    pub fn window_b(&self) -> u64 {
        u64::from(self.window_kib) * 1024
    }
}

/// What was decided at a request. Its text is a line of [`HEAD`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub request: Request,
    /// Where the file stands in the table, and which file was forgotten for it.
    pub slot: Option<usize>,
    pub evicted: Option<u64>,
    pub sequential_count: u32,
    /// To be read ahead, from the end of the request on.
    pub ahead_b: u64,
}

/// The columns of decisions as text.
pub const HEAD: &str = "file,offset_b,count_b,slot,evicted,sequential_count,ahead_b";

impl Decision {
    /// As many requests of its kind are read ahead as the count has beyond the first (`cluster_read`
    /// of FreeBSD 4 reads blocks up to the count, of which the one that is asked for is the first).
    fn new(request: Request, sequential_count: u32, window_b: u64) -> Self {
        let beyond = u64::from(sequential_count.saturating_sub(1));
        Self {
            request,
            slot: None,
            evicted: None,
            sequential_count,
            ahead_b: beyond.saturating_mul(request.count_b).min(window_b),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request {
            file,
            offset_b,
            count_b,
        } = self.request;
        let text = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let slot = text(self.slot.map(|slot| slot as u64));
        let (evicted, count, ahead_b) = (text(self.evicted), self.sequential_count, self.ahead_b);
        write!(
            f,
            "{file},{offset_b},{count_b},{slot},{evicted},{count},{ahead_b}"
        )
    }
}

/// Who decides.
pub trait Decide {
    fn decide(&mut self, request: Request) -> Decision;
}

/// A heuristic with its table.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    heuristic: Heuristic,
    pool: usize,
    table: Table,
    window_b: u64,
}

impl Decide for ReadAhead {
    fn decide(&mut self, request: Request) -> Decision {
        let place = self.table.place(request.file);
        let (slot, evicted) = (Some(place.slot), place.evicted);
        let count = self.heuristic.count(place.cursors, self.pool, request);
        Decision {
            slot,
            evicted,
            ..Decision::new(request, count, self.window_b)
        }
    }
}

/// A function that gives the sequential count at each request, and keeps what it likes.
pub type Count = Box<dyn FnMut(Request) -> u32>;

/// Such a function as what decides.
pub struct Own {
    pub count: Count,
    pub window_b: u64,
}

impl Decide for Own {
    fn decide(&mut self, request: Request) -> Decision {
        Decision::new(request, (self.count)(request), self.window_b)
    }
}
