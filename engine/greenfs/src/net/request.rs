//! What a client asks, and what a server answers: one `Request`, then one `Answer` or several.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::protocol::{Attributes, Found};
use crate::text;

/// The version of what goes over the wire.
pub const VERSION: u32 = 2;

/// A step of a [`Store`](crate::branch::store::Store). All paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The first one, and only that. Who claims the branch may change it, and nobody else meanwhile.
    Hello {
        version: u32,
        claims: bool,
    },
    /// Answered by names with a zero byte behind each.
    List(Place),
    Look(Place),
    Read {
        place: Place,
        offset: u64,
        most_b: usize,
    },
    Create {
        place: Place,
        mode: u32,
    },
    /// The data are the tail.
    Write {
        place: Place,
        offset: u64,
    },
    Truncate {
        place: Place,
        size_b: u64,
    },
    /// These bytes of one file go to the same place in the other.
    Share {
        from: Place,
        to: Place,
        start: u64,
        end: u64,
    },
    MakeFolder {
        place: Place,
        mode: u32,
    },
    Symlink {
        place: Place,
        #[serde(with = "text")]
        target: OsString,
    },
    Link {
        from: Place,
        to: Place,
    },
    Rename {
        from: Place,
        to: Place,
    },
    RemoveFile(Place),
    RemoveFolder(Place),
    Dress {
        place: Place,
        attributes: Attributes,
    },
    Sync(Place),
    SyncAll,
}

/// A path that leads to nowhere else: below the root, by names alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Place(PathBuf);

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Text(#[serde(with = "text")] PathBuf);

impl Place {
    /// None if it is not below the root.
    pub fn new(path: &Path) -> Option<Self> {
        let is_name = |part| matches!(part, Component::Normal(_));
        path.components()
            .all(is_name)
            .then(|| Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl TryFrom<Text> for Place {
    type Error = &'static str;

    fn try_from(text: Text) -> Result<Self, Self::Error> {
        Self::new(&text.0).ok_or("a path leads out of the branch")
    }
}

impl From<Place> for Text {
    fn from(place: Place) -> Self {
        Self(place.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done; the tail is the last part of what was asked for.
    Done,
    /// The tail is a part of what was asked for.
    Part,
    /// What a name stands for.
    Found(Option<Found>),
    /// It was not done, for the reason that the kernel numbers so.
    Failed(i32),
    /// The server does not serve this client.
    Refused { what: String, next: String },
    /// It is being done.
    Working,
}
