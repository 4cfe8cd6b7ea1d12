//! The six core workloads: what is done, how often, and with which records.

use wml::random::Stream;

use crate::requests::Requests;

/// Most records of a scan; their number is uniform from 1.
pub const MOST_SCANNED: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

impl Operation {
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read-modify-write",
        }
    }
}

/// A workload: two operations, the share of the first, and which records they are of.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    first: Operation,
    first_percent: u64,
    second: Operation,
    pub requests: Requests,
}

impl Mix {
    /// The workload of a letter from a to f.
    pub fn named(letter: &str) -> Option<Self> {
        use Operation::{Insert, Read, ReadModifyWrite, Scan, Update};
        let of = |first, first_percent, second, requests| Self {
            first,
            first_percent,
            second,
            requests,
        };
        match letter.to_ascii_lowercase().as_str() {
            "a" => Some(of(Read, 50, Update, Requests::Zipfian)),
            "b" => Some(of(Read, 95, Update, Requests::Zipfian)),
            "c" => Some(of(Read, 100, Update, Requests::Zipfian)),
            "d" => Some(of(Read, 95, Insert, Requests::Latest)),
            "e" => Some(of(Scan, 95, Insert, Requests::Zipfian)),
            "f" => Some(of(Read, 50, ReadModifyWrite, Requests::Zipfian)),
            _ => None,
        }
    }

    pub fn next(&self, stream: &mut Stream) -> Operation {
        if stream.below(100) < self.first_percent {
            self.first
        } else {
            self.second
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_published() {
        let mut stream = Stream::new(1, &["test"]);
        for (letter, operation, percent) in [
            ("A", Operation::Update, 50),
            ("b", Operation::Update, 5),
            ("c", Operation::Read, 100),
            ("d", Operation::Insert, 5),
            ("e", Operation::Scan, 95),
            ("f", Operation::ReadModifyWrite, 50),
        ] {
            let mix = Mix::named(letter).unwrap();
            let of_it = (0..10_000).filter(|_| mix.next(&mut stream) == operation);
            let share = of_it.count() as i64 / 100;
            assert!((share - percent).abs() <= 2, "{letter}: {share}");
        }
        assert!(Mix::named("g").is_none());
    }
}
