//! Errors and warnings that say where, show the line, and suggest what was meant.

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

    /// [`Source::render`], of a text about which there is one thing to say.
    pub fn render(&self, file: &str, text: &str) -> String {
        Source::new(file, text).render(self)
    }
}

/// A text whose lines have been counted once, however much there is to say about it.
pub struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let behind_ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(behind_ends).collect();
        Self { file, text, lines }
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self, diagnostic: &Diagnostic) -> (usize, usize) {
        let at = diagnostic.span.start.min(self.text.len());
        let line = self.lines.partition_point(|&start| start <= at);
        let before = &self.text[self.lines[line - 1]..at];
        (line, before.chars().count() + 1)
    }

    /// `file:line:column: error: message`, the line, and carets under what is meant.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let (kind, span) = (diagnostic.severity.name(), diagnostic.span);
        let (file, message) = (self.file, &diagnostic.message);
        if span == Span::default() {
            return format!("{file}: {kind}: {message}");
        }
        let (line, column) = self.position(diagnostic);
        let source = self.text[self.lines[line - 1]..]
            .lines()
            .next()
            .unwrap_or("");
        let room = source.chars().count().saturating_sub(column - 1).max(1);
        let meant = self.text.get(span.start..span.end);
        let meant = meant.map_or(1, |text| text.chars().count());
        // Tabs keep their width, so that the caret stands under its word.
        let margin: String = source
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        let carets = "^".repeat(meant.clamp(1, room));
        format!("{file}:{line}:{column}: {kind}: {message}\n  {source}\n  {margin}{carets}")
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
        assert_eq!(Source::new("x.f", text).position(&diagnostic), (2, 6));
        let rendered = diagnostic.render("x.f", text);
        assert_eq!(rendered, "x.f:2:6: error: no\n  \tsét $b=x\n  \t    ^^");
    }
}
