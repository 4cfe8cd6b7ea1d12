//! The profiles that are built into the program.

/// Names and files, by alphabet.
pub(super) const ALL: &[(&str, &str)] = &[];
