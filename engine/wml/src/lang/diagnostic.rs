//! Errors and warnings that say where, show the line, and suggest what was meant.

use std::fmt;

use super::ast::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A finding; the empty span at the beginning means the text as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub span: Span,
    pub message: String,
    /// What `fmt` writes, so that there is nothing more to warn of.
    pub edit: Option<Edit>,
}

/// A part of a text, and what should stand there.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            span,
            message: message.into(),
            edit: None,
        }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(span, message)
        }
    }

    /// The same with what should be written instead, where that is known.
    pub fn instead(self, edit: Option<Edit>) -> Self {
        Self { edit, ..self }
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let before = &text[..self.span.start.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// `file:line:column: error: message`, the line, and carets under what is meant.
    pub fn render<'a>(&'a self, file: &'a str, text: &'a str) -> impl fmt::Display + 'a {
        Rendered {
            diagnostic: self,
            file,
            text,
        }
    }
}

struct Rendered<'a> {
    diagnostic: &'a Diagnostic,
    file: &'a str,
    text: &'a str,
}

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic {
            severity,
            span,
            message,
            ..
        } = self.diagnostic;
        let kind = severity.name();
        if *span == Span::default() {
            return write!(f, "{}: {kind}: {message}", self.file);
        }
        let (line, column) = self.diagnostic.position(self.text);
        writeln!(f, "{}:{line}:{column}: {kind}: {message}", self.file)?;
        let source = self.text.lines().nth(line - 1).unwrap_or("");
        let room = source.chars().count().saturating_sub(column - 1).max(1);
        let meant = self
            .text
            .get(span.start..span.end)
            .map_or(1, |t| t.chars().count());
        // Tabs keep their width, so that the caret stands under its word.
        let margin: String = source
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        writeln!(f, "  {source}")?;
        write!(f, "  {margin}{}", "^".repeat(meant.clamp(1, room)))
    }
}

/// `; did you mean 'x'?` if a candidate is near enough to be a slip of the hand.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()) / 3 + 1)
        .min()
        .map_or_else(String::new, |(_, candidate)| {
            format!("; did you mean '{candidate}'?")
        })
}

/// Levenshtein's distance, in which two characters that change places are one slip.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_is_corrected_and_a_foreign_word_is_not() {
        let words = ["openfile", "closefile"];
        assert_eq!(suggestion("opnefile", words), "; did you mean 'openfile'?");
        assert_eq!(
            suggestion("maen", ["max", "mean"]),
            "; did you mean 'mean'?"
        );
        assert_eq!(suggestion("zzz", words), "");
    }

    #[test]
    fn the_caret_stands_under_the_word_behind_tabs_and_wide_characters() {
        let text = "set $a=1\n\tsét $b=x";
        let start = text.find("$b").unwrap();
        let diagnostic = Diagnostic::error(
            Span {
                start,
                end: start + 2,
            },
            "no",
        );
        assert_eq!(diagnostic.position(text), (2, 6));
        let rendered = diagnostic.render("x.f", text).to_string();
        assert_eq!(rendered, "x.f:2:6: error: no\n  \tsét $b=x\n  \t    ^^");
    }
}
