//! From text to tokens.
//!
//! `/` and `-` begin a word (a path, an option) except where a value has just ended: there they
//! are operators, so that `$size/2` and `path=/mnt/x` both mean what they say. A `-` before a
//! number, a variable or a parenthesis is a sign.

use super::ast::{Chunk, Span, Spanned};
use super::diagnostic::Diagnostic;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Word(String),
    Number(f64),
    Text(Vec<Chunk>),
    Variable(String),
    /// One of `= , { } ( ) + - * /`
    Symbol(char),
    /// What is no token, with what is wrong.
    Bad(Diagnostic),
    End,
}

/// All tokens; the last one is the end of the text.
pub fn tokens(text: &str) -> Vec<Spanned<Token>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        after_value: false,
    };
    let mut out = Vec::new();
    loop {
        let token = lexer.next();
        let end = token.node == Token::End;
        out.push(token);
        if end {
            return out;
        }
    }
}

/// Read a number with an optional fraction and suffix: `16k`, `1.5G`; powers of 1024.
pub fn number(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_decimal = |c: char| c.is_ascii_digit() || c == '.';
    if !digits.starts_with(|c: char| c.is_ascii_digit())
        || digits.ends_with('.')
        || !digits.chars().all(is_decimal)
    {
        return None;
    }
    let exponent = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        _ => return None,
    };
    let value = digits.parse::<f64>().ok()? * 1024f64.powi(exponent);
    value.is_finite().then_some(value)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    after_value: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Take the longest run of characters that fit.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let taken = rest[..length].to_owned();
        self.at += length;
        taken
    }

    fn span_from(&self, start: usize) -> Span {
        Span {
            start,
            end: self.at,
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.take(|c| c != '\n');
        }
    }

    fn next(&mut self) -> Spanned<Token> {
        self.skip_blanks();
        let start = self.at;
        let node = self.token().unwrap_or_else(Token::Bad);
        self.after_value = matches!(
            node,
            Token::Number(_) | Token::Variable(_) | Token::Symbol(')')
        );
        Spanned {
            node,
            span: self.span_from(start),
        }
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        Ok(match self.peek() {
            None => Token::End,
            Some('"') => self.quoted()?,
            Some('$') => Token::Variable(self.variable()?),
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some('-') if !self.after_value && !self.at_sign() => self.word(),
            Some('/') if !self.after_value => self.word(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.word(),
            Some(c) if "=,{}()+-*/".contains(c) => {
                self.at += 1;
                Token::Symbol(c)
            }
            Some(c) => {
                self.at += c.len_utf8();
                let message = format!("unexpected character '{}'", c.escape_default());
                return Err(Diagnostic::error(self.span_from(start), message));
            }
        })
    }

    /// Whether the `-` here is the sign of a number.
    fn at_sign(&self) -> bool {
        self.rest()[1..].starts_with(|c: char| c.is_ascii_digit() || "$(".contains(c))
    }

    fn word(&mut self) -> Token {
        Token::Word(self.take(|c| c.is_ascii_alphanumeric() || "/._:;-".contains(c)))
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let text = self.take(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        number(&text).map(Token::Number).ok_or_else(|| {
            let message = format!("'{text}' is not a number (such as 10, 1.5, 16k, 2m, 1g, 1t)");
            Diagnostic::error(self.span_from(start), message)
        })
    }

    /// `$name` or `${name}`: the same variable.
    fn variable(&mut self) -> Result<String, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let braced = self.peek() == Some('{');
        self.at += usize::from(braced);
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            let message = "a variable is $name or ${name}; for the character itself write \\$";
            return Err(Diagnostic::error(self.span_from(start), message));
        }
        if braced {
            if self.peek() != Some('}') {
                let message = format!("'${{{name}' lacks its '}}'");
                return Err(Diagnostic::error(self.span_from(start), message));
            }
            self.at += 1;
        }
        Ok(name)
    }

    fn quoted(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut chunks = Vec::new();
        let mut literal = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    let span = Span {
                        start,
                        end: start + 1,
                    };
                    return Err(Diagnostic::error(span, "this string has no closing quote"));
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('$') => {
                    let from = self.at;
                    let name = self.variable()?;
                    if !literal.is_empty() {
                        chunks.push(Chunk::Literal(std::mem::take(&mut literal)));
                    }
                    chunks.push(Chunk::Variable(Spanned {
                        node: name,
                        span: self.span_from(from),
                    }));
                }
                Some('\\') => {
                    self.at += 1;
                    let escaped = self.peek().unwrap_or('\\');
                    self.at += escaped.len_utf8().min(self.rest().len());
                    literal.push(if escaped == 'n' { '\n' } else { escaped });
                }
                Some(c) => {
                    self.at += c.len_utf8();
                    literal.push(c);
                }
            }
        }
        if !literal.is_empty() || chunks.is_empty() {
            chunks.push(Chunk::Literal(literal));
        }
        Ok(Token::Text(chunks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(text: &str) -> Vec<Token> {
        tokens(text).into_iter().map(|t| t.node).collect()
    }

    #[test]
    fn sizes_have_suffixes_and_fractions() {
        for (text, bytes) in [
            ("10", 10.0),
            ("16k", 16384.0),
            ("1.5K", 1536.0),
            ("2M", 2097152.0),
            ("1t", 1.0995e12),
        ] {
            let read = number(text).unwrap();
            assert!((read - bytes).abs() <= bytes * 1e-4, "{text} gave {read}");
        }
        for text in ["", "k", "1kb", "1..2", "1.", ".5", "-1", "9e99t"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_slash_divides_behind_a_value_and_begins_a_path_elsewhere() {
        assert_eq!(
            nodes("$n/2 =/mnt/x"),
            [
                Token::Variable("n".into()),
                Token::Symbol('/'),
                Token::Number(2.0),
                Token::Symbol('='),
                Token::Word("/mnt/x".into()),
                Token::End
            ]
        );
    }

    #[test]
    fn a_minus_is_a_sign_an_operator_or_the_begin_of_an_option() {
        let minus = || Token::Symbol('-');
        for (text, expected) in [
            ("-5", [minus(), Token::Number(5.0), Token::End].as_slice()),
            ("-x", &[Token::Word("-x".into()), Token::End]),
            (
                "5 -5",
                &[Token::Number(5.0), minus(), Token::Number(5.0), Token::End],
            ),
        ] {
            assert_eq!(nodes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_piece_that_is_no_token_does_not_hide_the_rest() {
        let found = nodes("é set \"open\n10kb run");
        let bad = found.iter().filter(|t| matches!(t, Token::Bad(_))).count();
        assert_eq!(bad, 3, "{found:?}");
        assert!(found.contains(&Token::Word("set".into())));
        assert!(found.contains(&Token::Word("run".into())));
    }

    #[test]
    fn both_spellings_of_a_variable_are_one() {
        assert_eq!(nodes("${dir}")[0], nodes("$dir")[0]);
    }

    #[test]
    fn comments_end_with_their_line_but_not_inside_quotes() {
        let Token::Text(chunks) = &nodes("# x\n\"a # $b\\n\"")[0] else {
            panic!()
        };
        assert_eq!(chunks.len(), 3);
        assert_eq!(chunks[0], Chunk::Literal("a # ".into()));
        assert_eq!(chunks[2], Chunk::Literal("\n".into()));
    }
}
