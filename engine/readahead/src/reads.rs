//! Requests as clients send them, and as they arrive: in order, in strides, at random, late.

use std::collections::BTreeSet;
use std::iter;

use serde::{Deserialize, Serialize};

use crate::random::SplitMix;
use crate::request::Request;

/// Files of equal size, each read whole. The same settings give the same requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reads {
    pub files: u32,
    /// Of all files together: 256 (section 4.3).
    pub total_mib: u32,
    /// Of a request: 8, a read of NFS over UDP.
    pub read_kib: u32,
    /// Parts of a file that are read in turn: 1 is sequential, more is the stride benchmark of
    /// section 7.
    pub streams: u32,
    pub order: Order,
    /// Of the requests of a file, those that arrive late, behind so many others.
    pub late_percent: u32,
    pub late_places: u32,
    /// Of the numbers of the files, of random places, and of which requests are late.
    pub seed: u64,
}

/// In which order a client asks for the parts of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Of all streams in turn, each from its begin to its end.
    #[default]
    InTurn,
    Random,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            files: 1,
            total_mib: 256,
            read_kib: 8,
            streams: 1,
            order: Order::InTurn,
            late_percent: 0,
            late_places: 1,
            seed: 0,
        }
    }
}

/// No more requests, which would not fit into the memory of a small machine.
const MOST_REQUESTS: u64 = 1 << 22;

impl Reads {
    /// The requests for each file, in the order in which they arrive.
    ///
    /// # Errors
    /// If a number is out of its bounds.
    pub fn by_file(&self) -> Result<Vec<Vec<Request>>, String> {
        self.check()?;
        let mut random = SplitMix(self.seed);
        let numbers = numbers(self.files, &mut random);
        let sequences = numbers.into_iter().map(|file| {
            let mut requests = self.in_turn(file);
            if self.order == Order::Random {
                shuffle(&mut requests, &mut random);
            }
            self.delayed(requests, &mut random)
        });
        Ok(sequences.collect())
    }

    /// All requests, of one file after the other in turn.
    ///
    /// # Errors
    /// If a number is out of its bounds.
    pub fn round_robin(&self) -> Result<Vec<Request>, String> {
        let sequences = self.by_file()?;
        let longest = sequences.first().map_or(0, Vec::len);
        let nth = |nth| {
            sequences
                .iter()
                .map(move |sequence: &Vec<Request>| sequence[nth])
        };
        Ok((0..longest).flat_map(nth).collect())
    }

    fn check(&self) -> Result<(), String> {
        for (name, value, least, most) in [
            ("files", self.files, 1, 65_536),
            ("total_mib", self.total_mib, 1, 1 << 24),
            ("read_kib", self.read_kib, 1, 1024),
            ("streams", self.streams, 1, 65_536),
            ("late_percent", self.late_percent, 0, 100),
            ("late_places", self.late_places, 1, 65_536),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{name} is {value}, and not from {least} to {most}"));
            }
        }
        let count = self.of_stream() * u64::from(self.streams) * u64::from(self.files);
        match count {
            0 => Err("the files are smaller than one request of each stream".to_owned()),
            1..=MOST_REQUESTS => Ok(()),
            _ => Err(format!("{count} requests are more than {MOST_REQUESTS}")),
        }
    }

    /// Requests of each stream.
    fn of_stream(&self) -> u64 {
        let file_kib = u64::from(self.total_mib) * 1024 / u64::from(self.files);
        file_kib / u64::from(self.streams) / u64::from(self.read_kib)
    }

    fn in_turn(&self, file: u64) -> Vec<Request> {
        let (count_b, of_stream) = (u64::from(self.read_kib) * 1024, self.of_stream());
        let at = |block: u64| Request {
            file,
            offset_b: block * count_b,
            count_b,
        };
        let streams = u64::from(self.streams);
        (0..of_stream)
            .flat_map(|nth| (0..streams).map(move |stream| at(stream * of_stream + nth)))
            .collect()
    }

    fn delayed(&self, requests: Vec<Request>, random: &mut SplitMix) -> Vec<Request> {
        if self.late_percent == 0 {
            return requests;
        }
        // A late one arrives half a place behind the one that is so many places later.
        let behind = 2 * u64::from(self.late_places) + 1;
        let arrival = |nth: u64| {
            let is_late = random.below(100) < self.late_percent;
            2 * nth + if is_late { behind } else { 0 }
        };
        let mut arriving: Vec<_> = (0..).map(arrival).zip(requests).collect();
        arriving.sort_by_key(|&(at, _)| at);
        arriving.into_iter().map(|(_, request)| request).collect()
    }
}

/// Numbers of files that look like chance, as the addresses of vnodes do; no two are the same.
fn numbers(count: u32, random: &mut SplitMix) -> Vec<u64> {
    let mut taken = BTreeSet::new();
    iter::repeat_with(|| u64::from(random.below(u32::MAX)))
        .filter(|&number| taken.insert(number))
        .take(count as usize)
        .collect()
}

/// R. Durstenfeld, "Algorithm 235: random permutation", CACM 7 (1964).
fn shuffle(requests: &mut [Request], random: &mut SplitMix) {
    for last in (1..requests.len()).rev() {
        requests.swap(last, random.below(last as u32 + 1) as usize);
    }
}
