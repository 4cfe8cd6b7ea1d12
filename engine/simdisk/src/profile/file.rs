//! A file of any kind of device: read, and checked.

use serde::{Deserialize, Serialize};

use super::check::Check;
use super::common::Kind;
use super::disk::DiskProfile;
use super::fault::Fault;
use super::shipped;
use super::ssd::SsdProfile;

/// A device, as its file says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a program holds one or two")]
pub enum Profile {
    Disk(DiskProfile),
    Ssd(SsdProfile),
}

/// The one key that says how to read the others.
#[derive(Deserialize)]
struct Marked {
    kind: Kind,
}

impl Profile {
    /// A profile that is built in, by its name, or a file of one's own, by its path.
    ///
    /// # Errors
    /// If there is none, or its text is wrong.
    pub fn load(name_or_path: &str) -> Result<Self, Fault> {
        if let Some(text) = Self::text(name_or_path) {
            return Self::parse(text, name_or_path);
        }
        let text = std::fs::read_to_string(name_or_path).map_err(|error| {
            let names: Vec<_> = Self::names().collect();
            Fault::new(
                format!("it is no built-in profile and cannot be read as a file: {error}"),
                name_or_path,
                format!("give the path of a file, or one of {}", names.join(", ")),
            )
        })?;
        Self::parse(&text, name_or_path)
    }

    /// The profile that a text describes; `origin` names the text in messages.
    ///
    /// # Errors
    /// If the text is no TOML, lacks a key, has an unknown one, or a number is out of its bounds.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Fault> {
        let marked: Marked = read(text, origin)?;
        let profile = match marked.kind {
            Kind::Disk => Self::Disk(read(text, origin)?),
            Kind::Ssd => Self::Ssd(read(text, origin)?),
        };
        profile.checked(origin)
    }

    /// The names of the built-in profiles, by alphabet.
    pub fn names() -> impl Iterator<Item = &'static str> {
        shipped::ALL.iter().map(|&(name, _)| name)
    }

    /// The file of a built-in profile.
    pub fn text(name: &str) -> Option<&'static str> {
        let found = shipped::ALL.iter().find(|&&(known, _)| known == name);
        found.map(|&(_, text)| text)
    }

    pub fn model(&self) -> &str {
        match self {
            Self::Disk(disk) => &disk.model,
            Self::Ssd(ssd) => &ssd.model,
        }
    }

    /// The capacity, in sectors.
    pub fn sectors(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.sectors(),
            Self::Ssd(ssd) => ssd.sectors(),
        }
    }

    pub(super) fn checked(self, origin: &str) -> Result<Self, Fault> {
        let checked = match &self {
            Self::Disk(disk) => disk.check(),
            Self::Ssd(ssd) => ssd.check(),
        };
        match checked {
            Ok(()) => Ok(self),
            Err(Check { what, next }) => Err(Fault::new(what, origin, next)),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str, origin: &str) -> Result<T, Fault> {
    toml::from_str(text).map_err(|error| Fault::in_text(text, origin, &error))
}
