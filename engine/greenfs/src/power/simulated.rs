//! A disk in software, which takes orders on a socket: `fsgreen-simdisk serve`.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mounting::place::Mounted;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::power::account::{Starts, State};

/// The source of its mounts, and the link beside the disk that leads to the socket.
const MOUNT: &str = "fsgreen-simdisk";
const LINK: &str = "control";

/// A disk that is silent for longer does not answer.
const LIMIT: Duration = Duration::from_secs(10);

/// The longest answer. Bytes.
const ANSWER_MOST_B: u64 = 1 << 20;

#[derive(Deserialize)]
struct Spin {
    spin: String,
}

#[derive(Deserialize)]
struct Counted {
    counters: Counters,
}

#[derive(Deserialize)]
struct Counters {
    start_stops_count: u64,
}

/// The socket of a simulated disk that is mounted; none if it is something else.
pub fn control(mount: &Mounted) -> Option<PathBuf> {
    match mount.source == MOUNT {
        true => fs::read_link(mount.point.join(LINK)).ok(),
        false => None,
    }
}

/// Stop the platters.
///
/// # Errors
/// If the disk does not answer, or refuses; in words.
pub fn stop(control: &Path) -> Result<(), String> {
    ask::<Value>(control, &json!({"do": "spin", "to": "standby"})).map(drop)
}

/// Whether they turn.
///
/// # Errors
/// As [`stop`].
pub fn state(control: &Path) -> Result<State, String> {
    let Spin { spin } = ask(control, &json!({"do": "spin"}))?;
    Ok(match spin.as_str() {
        "standby" | "spin-down" => State::Standby,
        "turning" | "spin-up" => State::Active,
        _ => State::Unknown,
    })
}

/// How often they were started.
///
/// # Errors
/// As [`stop`].
pub fn starts(control: &Path) -> Result<Starts, String> {
    let Counted { counters } = ask(control, &json!({"do": "counters"}))?;
    Ok(Starts {
        count: counters.start_stops_count,
        serial: String::new(),
    })
}

fn ask<T: DeserializeOwned>(control: &Path, order: &Value) -> Result<T, String> {
    let said = exchange(control, order);
    let said = said.map_err(|error| format!("the simulated disk does not answer: {error}"))?;
    let answer: Value = serde_json::from_str(&said).unwrap_or_default();
    if answer["ok"] != true {
        let why = answer["what"].as_str().unwrap_or("it does not say why");
        return Err(format!("the simulated disk refused: {why}"));
    }
    let strange = |error: serde_json::Error| {
        format!("the answer of the simulated disk is not understood: {error}")
    };
    serde_json::from_value(answer).map_err(strange)
}

fn exchange(control: &Path, order: &Value) -> io::Result<String> {
    let mut socket = UnixStream::connect(control)?;
    socket.set_read_timeout(Some(LIMIT))?;
    socket.set_write_timeout(Some(LIMIT))?;
    socket.write_all(format!("{order}\n").as_bytes())?;
    let mut said = String::new();
    BufReader::new(socket.take(ANSWER_MOST_B)).read_line(&mut said)?;
    Ok(said)
}
