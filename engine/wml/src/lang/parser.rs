//! From tokens to commands: recursive descent, one token of look-ahead. Here is what all parts of
//! the grammar use.

use super::ast::{Script, Span, Spanned};
use super::diagnostic::Diagnostic;
use super::lexer::{Token, tokens};
use super::vocabulary::COMMANDS;

pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// Syntax errors that one text is told about.
const MAX_ERRORS: usize = 20;

/// For an attribute where a command or a flowop should stand.
pub(super) const COMMA_HINT: &str = "; is a ',' missing before it?";

/// Parse a whole text. Behind a syntax error it goes on at the next line that begins with a
/// command, so that several errors are found; the script is whole only if there is none.
pub fn parse(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Script {
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        nesting: 0,
        operators: 0,
        depth: 0,
        warnings: Vec::new(),
    };
    let mut script = Vec::new();
    let mut errors = 0;
    while parser.peek().node != Token::End && errors < MAX_ERRORS {
        let from = parser.at;
        // The end of a block whose beginning was wrong says nothing new.
        if errors > 0 && parser.take_symbol('}') {
            continue;
        }
        match parser.spanned_command() {
            Ok(command) => script.push(command),
            Err(diagnostic) => {
                errors += 1;
                diagnostics.push(diagnostic);
                parser.recover(from);
            }
        }
    }
    diagnostics.append(&mut parser.warnings);
    script
}

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned<Token>>,
    at: usize,
    pub nesting: usize,
    /// Of the outermost expression.
    pub operators: usize,
    /// Of `foreach`.
    pub depth: usize,
    pub warnings: Vec<Diagnostic>,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Spanned<Token> {
        &self.tokens[self.at]
    }

    pub(super) fn next(&mut self) -> Spanned<Token> {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Whether two braces stand here; one begins a block.
    pub(super) fn begins_table(&self) -> bool {
        let is_brace = |token: &Spanned<Token>| token.node == Token::Symbol('{');
        matches!(&self.tokens[self.at..], [a, b, ..] if is_brace(a) && is_brace(b))
    }

    /// Where the last token that was taken ends.
    pub(super) fn last_end(&self) -> usize {
        self.tokens[self.at - 1].span.end
    }

    /// Skip to the next line that begins with a command, behind what began at a token.
    fn recover(&mut self, from: usize) {
        (self.nesting, self.depth) = (0, 0);
        if self.at == from {
            self.next();
        }
        loop {
            match &self.peek().node {
                Token::End => return,
                Token::Word(word)
                    if COMMANDS.contains(&word.as_str()) && self.begins_line(self.peek().span) =>
                {
                    return;
                }
                _ => self.next(),
            };
        }
    }

    fn begins_line(&self, span: Span) -> bool {
        let before = self.text[..span.start].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    pub(super) fn wanted<T>(&self, what: &str) -> Parsed<T> {
        let token = self.peek();
        let found = match &token.node {
            Token::Word(word) => format!("'{word}'"),
            Token::Number(_) => "a number".to_owned(),
            Token::Text(_) => "a string".to_owned(),
            Token::Variable(name) => format!("'${name}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::Bad(diagnostic) => return Err(diagnostic.clone()),
            Token::End => "the end of the text".to_owned(),
        };
        Err(Diagnostic::error(
            token.span,
            format!("expected {what}, found {found}"),
        ))
    }

    pub(super) fn take_symbol(&mut self, symbol: char) -> bool {
        let here = self.peek().node == Token::Symbol(symbol);
        if here {
            self.next();
        }
        here
    }

    pub(super) fn expect_symbol(&mut self, symbol: char) -> Parsed<()> {
        if self.take_symbol(symbol) {
            Ok(())
        } else {
            self.wanted(&format!("'{symbol}'"))
        }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let here = matches!(&self.peek().node, Token::Word(found) if found == word);
        if here {
            self.next();
        }
        here
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<Spanned<String>> {
        match self.peek().clone() {
            Spanned {
                node: Token::Word(node),
                span,
            } => {
                self.next();
                Ok(Spanned { node, span })
            }
            _ => self.wanted(what),
        }
    }

    pub(super) fn variable(&mut self, what: &str) -> Parsed<Spanned<String>> {
        match self.peek().clone() {
            Spanned {
                node: Token::Variable(node),
                span,
            } => {
                self.next();
                Ok(Spanned { node, span })
            }
            _ => self.wanted(what),
        }
    }
}
