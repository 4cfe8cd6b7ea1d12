//! What is wrong with a number, and where it stands.

mod disk;

use std::collections::BTreeMap;

/// A fault within a file: the key, what is wrong with it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::profile) struct Check {
    pub what: String,
    pub next: String,
}

/// A table of the file.
#[derive(Clone, Copy, Debug)]
pub(in crate::profile) struct Place(pub &'static str);

impl Place {
    pub fn fault(self, key: &str, what: impl AsRef<str>, next: impl Into<String>) -> Check {
        Check {
            what: format!("{}.{key} {}", self.0, what.as_ref()),
            next: next.into(),
        }
    }

    /// That a number lies within bounds, which are themselves allowed.
    pub fn number(self, key: &str, value: f64, least: f64, most: f64) -> Result<(), Check> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let next = format!("give a number from {least} to {most}");
        Err(self.fault(key, format!("is {value}"), next))
    }
}

/// That each table has a source, and each source a table.
pub(in crate::profile) fn sources(
    given: &BTreeMap<String, String>,
    tables: &[&str],
) -> Result<(), Check> {
    let place = Place("sources");
    if let Some(table) = tables.iter().find(|&&table| {
        given
            .get(table)
            .is_none_or(|source| source.trim().is_empty())
    }) {
        let next = "say where its numbers come from; write \"assumed\" and why where none is known";
        return Err(place.fault(table, "is missing", next));
    }
    match given.keys().find(|key| !tables.contains(&key.as_str())) {
        Some(key) => Err(place.fault(key, "is not a table", format!("keep {}", tables.join(", ")))),
        None => Ok(()),
    }
}
