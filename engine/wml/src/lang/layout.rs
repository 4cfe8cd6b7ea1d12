//! The canonical layout of a text: one command, thread or flowop to a line, braces on lines of
//! their own, two columns further in for each. Comments stay where they are, and of several blank
//! lines one. What is accepted with a warning is written as it is done; other words do not change.
//! The meaning stays.

use std::collections::{BTreeMap, HashSet};

use super::ast::{Command, Flowop, Script};
use super::diagnostic::{Diagnostic, Edit, Severity};
use super::lexer::{Token, tokens};
use super::parser::parse;
use super::resolve::check;

/// Columns that a line has, if its words allow.
const WIDTH: usize = 100;
/// Columns that each brace moves its inside to the right.
const INDENT: usize = 2;
/// Columns that the rest of a long command stands further to the right.
const CONTINUATION: usize = 4;

/// Lay out a text, with the clean form of what is accepted with a warning. Fails with the first
/// syntax error.
pub fn format(text: &str) -> Result<String, Diagnostic> {
    let found = check(text, &BTreeMap::new()).diagnostics;
    let edits = found.into_iter().filter_map(|found| found.edit);
    lay_out(&edited(text, edits.collect()))
}

/// A text with some changes. Of different ones in the same place, none is made.
fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    edits.dedup();
    let mut out = String::new();
    let mut from = 0;
    for chunk in edits.chunk_by(|a, b| a.span.start == b.span.start) {
        if let ([edit], true) = (chunk, chunk[0].span.start >= from) {
            out.push_str(&text[from..edit.span.start]);
            out.push_str(&edit.text);
            from = edit.span.end;
        }
    }
    out + &text[from..]
}

fn lay_out(text: &str) -> Result<String, Diagnostic> {
    let mut diagnostics = Vec::new();
    let script = parse(text, &mut diagnostics);
    let error = diagnostics
        .into_iter()
        .find(|found| found.severity == Severity::Error);
    if let Some(error) = error {
        return Err(error);
    }
    let mut beginnings = HashSet::new();
    note_beginnings(&script, &mut beginnings);
    let mut layout = Layout::default();
    let mut from = 0;
    for token in tokens(text) {
        let span = token.span;
        let begins = beginnings.contains(&span.start)
            || token.node == Token::End
            || layout.is_block_brace(&token.node);
        layout.gap(&text[from..span.start], begins);
        layout.token(token.node, &text[span.start..span.end], begins);
        from = span.end;
    }
    Ok(layout.out)
}

/// Where commands, threads and flowops begin.
fn note_beginnings(script: &Script, beginnings: &mut HashSet<usize>) {
    fn note_flowops(flowops: &[Flowop], beginnings: &mut HashSet<usize>) {
        beginnings.extend(flowops.iter().map(|flowop| flowop.span.start));
    }
    for command in script {
        beginnings.insert(command.span.start);
        match &command.node {
            Command::DefineProcess(process) => {
                for thread in &process.threads {
                    beginnings.insert(thread.span.start);
                    note_flowops(&thread.flowops, beginnings);
                }
            }
            Command::DefineComposite(composite) => note_flowops(&composite.flowops, beginnings),
            Command::Foreach(foreach) => note_beginnings(&foreach.body, beginnings),
            _ => {}
        }
    }
}

#[derive(Default)]
struct Layout {
    out: String,
    /// Braces around, without those of tables.
    depth: usize,
    /// Braces of tables around.
    tables: usize,
    previous: Option<Token>,
    /// What no line break may divide; commas end it.
    piece: String,
    /// Of the line so far.
    columns: usize,
    /// Whether the next line goes on with a command that began above.
    continued: bool,
    /// A blank line has been seen.
    blank: bool,
    /// The last thing was the brace that begins a block.
    opened: bool,
}

impl Layout {
    /// Whether a brace belongs to a block of commands, threads or flowops rather than to a table.
    fn is_block_brace(&self, token: &Token) -> bool {
        match token {
            Token::Symbol('{') => self.tables == 0 && self.previous != Some(Token::Symbol('=')),
            Token::Symbol('}') => self.tables == 0,
            _ => false,
        }
    }

    /// What stands between two tokens: blanks, line ends and comments.
    fn gap(&mut self, gap: &str, begins: bool) {
        let lines: Vec<&str> = gap.split('\n').map(str::trim).collect();
        for (nth, &line) in lines.iter().enumerate() {
            let same_line = nth == 0 && self.previous.is_some();
            if line.is_empty() {
                self.blank |= !same_line && nth + 1 < lines.len();
                continue;
            }
            self.end_piece();
            if same_line {
                self.out.push_str("  ");
            } else {
                self.end_line();
                self.keep_blank_line(begins);
                self.indent(!begins);
            }
            self.out.push_str(line);
            self.out.push('\n');
            self.columns = 0;
            self.continued = !begins;
        }
    }

    fn token(&mut self, token: Token, source: &str, begins: bool) {
        let brace = self.is_block_brace(&token);
        if begins {
            self.end_piece();
            self.end_line();
            self.continued = false;
            if brace || token == Token::End {
                self.blank = false;
            }
            self.keep_blank_line(true);
        }
        match token {
            Token::Symbol('}') if brace => self.depth = self.depth.saturating_sub(1),
            Token::Symbol('{') if !brace => self.tables += 1,
            Token::Symbol('}') => self.tables -= 1,
            _ => {}
        }
        if !begins && !self.piece.is_empty() && self.is_spaced(&token) {
            self.piece.push(' ');
        }
        self.piece.push_str(source);
        if token == Token::Symbol(',') || brace {
            self.end_piece();
        }
        if brace && token == Token::Symbol('{') {
            self.depth += 1;
            self.opened = true;
        }
        self.previous = Some(token);
    }

    /// Whether a blank stands between the previous token and this one.
    fn is_spaced(&self, token: &Token) -> bool {
        let Some(previous) = &self.previous else {
            return false;
        };
        match (previous, token) {
            (_, Token::Symbol(',' | '=' | ')' | '}')) => false,
            (Token::Symbol('=' | '(' | '{' | '+' | '-' | '*' | '/'), _) => false,
            (Token::Word(word), Token::Symbol('(')) => word != "randvar" && word != "cvar",
            // A word would swallow what follows it.
            (Token::Word(_), _) => true,
            (_, Token::Symbol('+' | '-' | '*' | '/')) => false,
            _ => true,
        }
    }

    /// Write the piece, on a new line if this one has no room for it.
    fn end_piece(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() {
            return;
        }
        let columns = piece.chars().count();
        if self.columns > 0 && self.columns + 1 + columns > WIDTH {
            self.end_line();
            self.continued = true;
        }
        if self.columns == 0 {
            self.indent(self.continued);
        } else {
            self.out.push(' ');
            self.columns += 1;
        }
        self.out.push_str(&piece);
        self.columns += columns;
    }

    fn end_line(&mut self) {
        if self.columns > 0 {
            self.out.push('\n');
            self.columns = 0;
        }
    }

    fn indent(&mut self, continued: bool) {
        let columns = self.depth * INDENT + if continued { CONTINUATION } else { 0 };
        self.out.extend(std::iter::repeat_n(' ', columns));
        self.columns = columns;
        self.opened = false;
    }

    /// Between lines, one blank line stands for several; none at the top and behind a brace.
    fn keep_blank_line(&mut self, begins: bool) {
        if std::mem::take(&mut self.blank) && begins && !self.opened && !self.out.is_empty() {
            self.out.push('\n');
        }
    }
}
