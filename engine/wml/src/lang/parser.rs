//! From tokens to commands: recursive descent, one token of look-ahead.

use super::ast::{Attribute, Command, Flowop, Process, Script, Span, Spanned, Thread};
use super::diagnostic::{Diagnostic, suggestion};
use super::lexer::{Token, tokens};
use super::vocabulary::{COMMANDS, LATER_COMMANDS};

pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// Parse a whole text; the first syntax error ends it.
pub fn parse(text: &str) -> Parsed<Script> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        nesting: 0,
        operators: 0,
    };
    let mut script = Vec::new();
    while parser.peek().node != Token::End {
        let start = parser.peek().span.start;
        let node = parser.command()?;
        let end = parser.tokens[parser.at - 1].span.end;
        script.push(Spanned {
            node,
            span: Span { start, end },
        });
    }
    Ok(script)
}

pub(super) struct Parser {
    tokens: Vec<Spanned<Token>>,
    at: usize,
    pub nesting: usize,
    /// Of the outermost expression.
    pub operators: usize,
}

impl Parser {
    pub(super) fn peek(&self) -> &Spanned<Token> {
        &self.tokens[self.at]
    }

    pub(super) fn next(&mut self) -> Spanned<Token> {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn wanted<T>(&self, what: &str) -> Parsed<T> {
        let token = self.peek();
        let found = match &token.node {
            Token::Word(word) => format!("'{word}'"),
            Token::Number(_) => "a number".to_owned(),
            Token::Text(_) => "a string".to_owned(),
            Token::Variable(name) => format!("'${name}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end of the text".to_owned(),
        };
        Err(Diagnostic::error(
            token.span,
            format!("expected {what}, found {found}"),
        ))
    }

    fn is_symbol(&self, symbol: char) -> bool {
        self.peek().node == Token::Symbol(symbol)
    }

    pub(super) fn take_symbol(&mut self, symbol: char) -> bool {
        let here = self.is_symbol(symbol);
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

    fn take_word(&mut self, word: &str) -> bool {
        let here = matches!(&self.peek().node, Token::Word(found) if found == word);
        if here {
            self.next();
        }
        here
    }

    fn word(&mut self, what: &str) -> Parsed<Spanned<String>> {
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

    fn command(&mut self) -> Parsed<Command> {
        let word = self.word("a command")?;
        match word.node.as_str() {
            "set" => self.set(),
            "define" => self.define(),
            "create" => {
                if self.take_word("files")
                    || self.take_word("fileset")
                    || self.take_word("filesets")
                {
                    Ok(Command::CreateFiles)
                } else {
                    self.wanted("'files'")
                }
            }
            "eventgen" => Ok(Command::Eventgen(self.attributes()?)),
            "run" => Ok(Command::Run(self.optional_value()?)),
            "echo" => Ok(Command::Echo(self.expression()?)),
            other if LATER_COMMANDS.contains(&other) => Err(Diagnostic::error(
                word.span,
                format!("'{other}' is not supported yet"),
            )),
            other => {
                let near = suggestion(other, COMMANDS.iter().copied());
                Err(Diagnostic::error(
                    word.span,
                    format!("unknown command '{other}'{near}"),
                ))
            }
        }
    }

    fn set(&mut self) -> Parsed<Command> {
        if self.take_word("mode") {
            return Err(Diagnostic::error(
                self.tokens[self.at - 1].span,
                "'set mode' is not supported yet",
            ));
        }
        let Spanned {
            node: Token::Variable(node),
            span,
        } = self.peek().clone()
        else {
            return self.wanted("a variable to set, such as $name");
        };
        self.next();
        self.expect_symbol('=')?;
        let value = self.expression()?;
        Ok(Command::Set {
            name: Spanned { node, span },
            value,
        })
    }

    fn define(&mut self) -> Parsed<Command> {
        let what = self.word("'file', 'fileset' or 'process'")?;
        match what.node.as_str() {
            "file" | "files" => Ok(Command::DefineFileset {
                single: true,
                attributes: self.attributes()?,
            }),
            "fileset" | "filesets" => Ok(Command::DefineFileset {
                single: false,
                attributes: self.attributes()?,
            }),
            "process" | "processes" => Ok(Command::DefineProcess(self.process()?)),
            "flowop" | "randvar" => Err(Diagnostic::error(
                what.span,
                format!("'define {}' is not supported yet", what.node),
            )),
            other => {
                let near = suggestion(other, ["file", "fileset", "process"]);
                Err(Diagnostic::error(
                    what.span,
                    format!("cannot define '{other}'{near}"),
                ))
            }
        }
    }

    fn process(&mut self) -> Parsed<Process> {
        let attributes = self.attributes()?;
        self.expect_symbol('{')?;
        let mut threads = Vec::new();
        while !self.take_symbol('}') {
            let span = self.peek().span;
            if !self.take_word("thread") {
                return self.wanted("'thread' or '}'");
            }
            let attributes = self.attributes()?;
            self.expect_symbol('{')?;
            let mut flowops = Vec::new();
            while !self.take_symbol('}') {
                if !self.take_word("flowop") {
                    return self.wanted("'flowop' or '}'");
                }
                let operation = self.word("the kind of flowop, such as openfile")?;
                flowops.push(Flowop {
                    operation,
                    attributes: self.attributes()?,
                });
            }
            threads.push(Thread {
                span,
                attributes,
                flowops,
            });
        }
        Ok(Process {
            attributes,
            threads,
        })
    }

    /// Attributes with commas between them; a first word decides that there are any.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        loop {
            let name = self.word("the name of an attribute")?;
            let value = if self.take_symbol('=') {
                Some(self.expression()?)
            } else {
                None
            };
            attributes.push(Attribute { name, value });
            if !self.take_symbol(',') {
                return Ok(attributes);
            }
        }
    }
}
