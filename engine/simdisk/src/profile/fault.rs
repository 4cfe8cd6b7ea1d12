//! What is wrong with a profile.

use std::fmt;

/// What is wrong, with which file, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub what: String,
    /// The file, with the line where that is known.
    pub origin: String,
    pub next: String,
}

impl Fault {
    pub fn new(
        what: impl Into<String>,
        origin: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            origin: origin.into(),
            next: next.into(),
        }
    }

    /// One that the reader of TOML has found.
    pub(super) fn in_text(text: &str, origin: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or(text);
            format!(":{}", 1 + before.matches('\n').count())
        });
        Self::new(
            error.message(),
            format!("{origin}{}", line.unwrap_or_default()),
            "correct it; `fsgreen-simdisk show wd200bb` prints a complete file",
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\n  where: {}\n  next:  {}",
            self.what, self.origin, self.next
        )
    }
}

impl std::error::Error for Fault {}
