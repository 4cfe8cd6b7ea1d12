//! What a disk says of itself: whether it turns, and how often it was started.

use std::fmt;

use serde::Deserialize;

/// The attribute of ATA disks that counts starts.
const START_STOP_COUNT: u64 = 4;

/// Whether the platters turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Standby,
    Active,
    /// It does not say so, or may not be asked.
    Unknown,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Standby => "in standby",
            Self::Active => "turning",
            Self::Unknown => "does not say whether it turns",
        })
    }
}

/// How often a disk was started since it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starts {
    pub count: u64,
    /// Tells it from another disk in its place; empty if it has none.
    pub serial: String,
}

/// What `hdparm -C` says.
pub fn state(said: &str) -> State {
    let state = said.split_once("drive state is:");
    match state.map_or("", |(_, state)| state.trim()) {
        "standby" | "sleeping" | "NVcache_spindown" => State::Standby,
        "active/idle" | "idle" | "NVcache_spinup" => State::Active,
        _ => State::Unknown,
    }
}

#[derive(Deserialize)]
struct Smart {
    #[serde(default)]
    serial_number: String,
    ata_smart_attributes: Option<Attributes>,
    scsi_start_stop_cycle_counter: Option<Cycles>,
}

#[derive(Deserialize)]
struct Attributes {
    table: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    id: u64,
    raw: Raw,
}

#[derive(Deserialize)]
struct Raw {
    value: u64,
}

#[derive(Deserialize)]
struct Cycles {
    accumulated_start_stop_cycles: u64,
}

/// What `smartctl --json` says; none if it does not say it, as of a disk in standby.
pub fn starts(said: &str) -> Option<Starts> {
    let smart: Smart = serde_json::from_str(said).ok()?;
    let attributes = smart.ata_smart_attributes.into_iter();
    let starts = attributes
        .flat_map(|attributes| attributes.table)
        .find(|attribute| attribute.id == START_STOP_COUNT);
    let cycles = smart.scsi_start_stop_cycle_counter;
    let count = starts.map(|attribute| attribute.raw.value);
    Some(Starts {
        count: count.or(cycles.map(|cycles| cycles.accumulated_start_stop_cycles))?,
        serial: smart.serial_number,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A disk in a state that is not known would be taken for one that sleeps.
    #[test]
    fn only_a_disk_that_says_so_sleeps() {
        for (said, expected) in [
            ("\n/dev/sdb:\n drive state is:  standby\n", State::Standby),
            ("\n/dev/sdb:\n drive state is:  sleeping\n", State::Standby),
            (
                "\n/dev/sdb:\n drive state is:  active/idle\n",
                State::Active,
            ),
            ("\n/dev/sdb:\n drive state is:  unknown\n", State::Unknown),
            ("standby", State::Unknown),
            ("", State::Unknown),
        ] {
            assert_eq!(state(said), expected, "{said}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// A program that says nonsense would end the mount.
        #[test]
        fn nonsense_says_nothing(letters in prop::collection::vec(any::<char>(), 0..200)) {
            let said: String = letters.into_iter().collect();
            prop_assert_eq!(starts(&said), None);
            prop_assert_eq!(state(&said), State::Unknown);
        }
    }
}
