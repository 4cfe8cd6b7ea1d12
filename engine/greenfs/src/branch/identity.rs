//! The file that says what a branch is: `.greenfs/branch.json`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::branch::store::{Store, ensure_folder, read_whole, replace};
use crate::branch::{OWN, own};
use crate::fault::Fault;
use crate::protocol::Role;

/// The version of everything that is written to branches.
pub const FORMAT: u32 = 2;

/// That of a flash on which files may not be whole: `.greenfs/parts`. A newer one is refused.
pub const FORMAT_OF_PARTS: u32 = 3;

/// Remotes of formats before this one have no history.
const HISTORY_FROM: u32 = 2;

const FILE: &str = "branch.json";

/// What people are told who may move `.greenfs` aside.
pub const VERSIONS_GO: &str = "the earlier versions that a remote keeps go aside with its .greenfs, and \
                               no mount shows them any more";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub format: u32,
    /// The volume that the branch is of.
    pub volume: String,
    /// What the branch is to it; none for flash.
    pub role: Option<Role>,
    /// The branch holds what was so after this record; 0 if that is not known.
    pub at: u64,
    /// Whether that is so of all of it; else all must be looked at once that is done.
    pub whole: bool,
    /// The times of which `.greenfs/history` knows; none if it has none yet.
    #[serde(default)]
    pub history: Option<Span>,
}

impl Identity {
    /// Whether it is of a remote that may have been used before there was history.
    pub fn is_before_history(&self) -> bool {
        self.role == Some(Role::Remote) && self.format < HISTORY_FROM
    }
}

/// Microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub since_us: i64,
    /// When the branch was last changed.
    pub last_us: i64,
}

impl Span {
    /// The span with a change at this time; the first begins one.
    pub fn with(span: Option<Self>, last_us: i64) -> Self {
        let since_us = span.map_or(last_us, |span| span.since_us);
        Self { since_us, last_us }
    }

    /// Whether anything is known of a time.
    pub fn has(&self, at_us: i64, now_us: i64) -> bool {
        // The clock may have gone ahead once.
        (self.since_us..=now_us.max(self.last_us)).contains(&at_us)
    }

    /// The time of a change that is made now: later than all others, whatever the clock says.
    pub fn next(span: Option<Self>, now_us: i64) -> i64 {
        span.map_or(now_us, |span| now_us.max(span.last_us + 1))
    }
}

/// What a branch says that it is; none if it is none yet.
///
/// # Errors
/// If it was written by a newer version, or cannot be read.
pub fn read(store: &impl Store, name: &Path) -> Result<Option<Identity>, Fault> {
    let broken = |what: String| {
        let next = format!(
            "restore this file from a copy, or move the folder .greenfs aside: everything on this \
             branch is then compared, and nothing is deleted; {VERSIONS_GO}"
        );
        Fault::new(what, &name.join(own(FILE)), next)
    };
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let text = read_whole(store, &own(FILE))
        .map_err(|error| broken(format!("the branch cannot be read: {error}")))?;
    let Some(text) = text else { return Ok(None) };
    let wrong = |error: serde_json::Error| broken(format!("this is no branch: {error}"));
    let Version { format } = serde_json::from_slice(&text).map_err(wrong)?;
    if format > FORMAT_OF_PARTS {
        return Err(Fault::new(
            format!(
                "this branch has format {format}; this greenfs knows {FORMAT_OF_PARTS} and older ones"
            ),
            &name.join(own(FILE)),
            "use the greenfs that wrote it, or a newer one",
        ));
    }
    serde_json::from_slice(&text).map_err(wrong).map(Some)
}

/// Say what a branch is.
pub fn write(store: &mut impl Store, identity: &Identity) -> io::Result<()> {
    ensure_folder(store, Path::new(OWN))?;
    let mut text = serde_json::to_vec(&Identity {
        format: identity.format.max(FORMAT),
        ..identity.clone()
    })?;
    text.push(b'\n');
    replace(store, &own(FILE), &text)
}

/// An identity for a new volume: sixteen random hexadecimal digits.
///
/// # Errors
/// If there are no random numbers.
pub fn new_volume() -> Result<String, Fault> {
    let place = Path::new("/dev/urandom");
    let mut bytes = [0; 8];
    let read = File::open(place).and_then(|mut file| file.read_exact(&mut bytes));
    let next = "see that it can be read";
    read.map_err(|error| Fault::new(format!("there are no random numbers: {error}"), place, next))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
