//! The grammar of commands.

use super::ast::{Attribute, Command, Expression, Foreach, List, Span, Spanned};
use super::diagnostic::{Diagnostic, suggestion};
use super::lexer::Token;
use super::parser::{COMMA_HINT, Parsed, Parser};
use super::vocabulary::{self, COMMANDS};

/// `foreach` may stand in `foreach` this often.
const MAX_DEPTH: usize = 20;

impl Parser<'_> {
    fn warn(&mut self, span: Span, message: &str) {
        self.warnings.push(Diagnostic::warning(span, message));
    }

    /// Accept what has no effect.
    fn ignore(&mut self, span: Span, message: &str) -> Parsed<Command> {
        self.warn(span, message);
        Ok(Command::Ignored)
    }

    pub(super) fn spanned_command(&mut self) -> Parsed<Spanned<Command>> {
        let start = self.peek().span.start;
        let node = self.command()?;
        let end = self.last_end();
        Ok(Spanned {
            node,
            span: Span { start, end },
        })
    }

    fn command(&mut self) -> Parsed<Command> {
        let Spanned { node: word, span } = self.word("a command")?;
        Ok(match word.as_str() {
            "set" => return self.set(),
            "define" => return self.define(),
            "create" => return self.create(),
            "enable" => return self.enable(),
            "list" => return self.list(),
            "foreach" => return self.foreach(),
            "usage" | "load" | "stats" | "shutdown" => return self.leftover(&word, span),
            "eventgen" => Command::Eventgen(self.attributes()?),
            "run" => Command::Run(self.optional_value()?),
            "psrun" => Command::PeriodicRun {
                period: self.optional_value()?,
                duration: self.optional_value()?,
            },
            "warmup" => Command::Warmup(self.expression()?),
            "sleep" => Command::Sleep(self.expression()?),
            "system" => Command::System(self.expression()?),
            "echo" => Command::Echo(self.expression()?),
            "debug" => {
                self.warn(
                    span,
                    "'debug' has no effect: the report holds what there is to say",
                );
                Command::Debug(self.expression()?)
            }
            "version" => Command::Version,
            "quit" => Command::Quit,
            "domultisync" => Command::Multisync(self.attributes()?),
            "sync" => Command::Sync,
            "dropcaches" => Command::DropCaches,
            "verify" => Command::Verify,
            "thread" | "flowop" => {
                let message = format!("'{word}' stands in the braces of a 'define process'");
                return Err(Diagnostic::error(span, message));
            }
            other => {
                let hint = if vocabulary::is_attribute(other) {
                    COMMA_HINT.to_owned()
                } else {
                    suggestion(other, COMMANDS.iter().copied())
                };
                let message = format!("unknown command '{other}'{hint}");
                return Err(Diagnostic::error(span, message));
            }
        })
    }

    /// An error at a word that is none of those that may stand there.
    fn none_of<T>(message: String, word: &Spanned<String>, words: &[&str]) -> Parsed<T> {
        let near = suggestion(&word.node, words.iter().copied());
        Err(Diagnostic::error(word.span, message + &near))
    }

    fn set(&mut self) -> Parsed<Command> {
        if self.take_word("mode") {
            let mode = self.word("'quit' or 'nousestats'")?;
            return match mode.node.as_str() {
                "quit" => {
                    let how = self.word("'timeout', 'firstdone' or 'alldone'")?;
                    vocabulary::choose(&how.node, vocabulary::QUIT_MODES)
                        .map(Command::SetQuit)
                        .map_err(|message| Diagnostic::error(how.span, message))
                }
                "nousestats" => self.ignore(
                    mode.span,
                    "'nousestats' has no effect: processor time is always reported",
                ),
                other => {
                    let message = format!("there is no mode '{other}'");
                    Self::none_of(message, &mode, vocabulary::MODES)
                }
            };
        }
        let name = self.variable("a variable to set, such as $name")?;
        self.expect_symbol('=')?;
        let value = self.expression()?;
        Ok(Command::Set { name, value })
    }

    fn define(&mut self) -> Parsed<Command> {
        let what = self.word("'file', 'fileset', 'process' or 'flowop'")?;
        let is_process = |word: &str| {
            word.strip_prefix("process")
                .is_some_and(|rest| rest.chars().all(|c| "es".contains(c)))
        };
        Ok(match what.node.as_str() {
            "file" | "files" => Command::DefineFileset(self.fileset(true)?),
            "fileset" | "filesets" => Command::DefineFileset(self.fileset(false)?),
            "flowop" => Command::DefineComposite(self.composite()?),
            "randvar" => return self.define_randvar(what.span),
            word if is_process(word) => Command::DefineProcess(self.process()?),
            other => {
                let message = format!("cannot define '{other}'");
                return Self::none_of(message, &what, vocabulary::DEFINITIONS);
            }
        })
    }

    /// `define randvar name=$v, ...` is `set $v=randvar(...)`.
    fn define_randvar(&mut self, span: Span) -> Parsed<Command> {
        let mut attributes = self.attributes()?;
        let name = attributes.iter().position(|a| a.name.node == "name");
        let Some(Attribute { name, value }) = name.map(|nth| attributes.remove(nth)) else {
            let message = "define randvar needs the attribute 'name', such as name=$size";
            return Err(Diagnostic::error(span, message));
        };
        let Some(Spanned {
            node: Expression::Variable(variable),
            span: at,
        }) = value
        else {
            let message = "the name of a random variable is a variable, such as name=$size";
            return Err(Diagnostic::error(name.span, message));
        };
        let message =
            format!("version 1.4's 'define randvar' is done as 'set ${variable}=randvar(...)'");
        self.warn(span, &message);
        Ok(Command::Set {
            name: Spanned {
                node: variable,
                span: at,
            },
            value: Spanned {
                node: Expression::Random(attributes),
                span,
            },
        })
    }

    fn create(&mut self) -> Parsed<Command> {
        let what = self.word("'files'")?;
        match what.node.as_str() {
            "files" | "file" => Ok(Command::CreateFiles),
            old @ ("fileset" | "filesets") => {
                let message = format!("version 1.4's 'create {old}' is done as 'create files'");
                self.warn(what.span, &message);
                Ok(Command::CreateFiles)
            }
            "process" | "processes" => self.ignore(
                what.span,
                "version 1.4's 'create processes' has no effect: each run starts its processes",
            ),
            other => {
                let message = format!("cannot create '{other}'");
                Self::none_of(message, &what, vocabulary::CREATIONS)
            }
        }
    }

    fn enable(&mut self) -> Parsed<Command> {
        let what = self.word("'lathist' or 'multi'")?;
        match what.node.as_str() {
            "lathist" => Ok(Command::EnableLathist),
            "multi" => Ok(Command::EnableMulti(self.attributes()?)),
            other => {
                let message = format!("cannot enable '{other}'");
                Self::none_of(message, &what, vocabulary::FEATURES)
            }
        }
    }

    fn list(&mut self) -> Parsed<Command> {
        let what = self.word("'fileset' or 'flowop'")?;
        match what.node.as_str() {
            "fileset" | "filesets" => Ok(Command::List(List::Filesets)),
            "flowop" | "flowops" => Ok(Command::List(List::Flowops)),
            other => {
                let message = format!("cannot list '{other}'");
                Self::none_of(message, &what, vocabulary::LISTS)
            }
        }
    }

    /// Commands of version 1.4 without a meaning here.
    fn leftover(&mut self, word: &str, span: Span) -> Parsed<Command> {
        let why = match word {
            "usage" => {
                self.expression()?;
                "use 'echo' to print a text"
            }
            "load" => {
                self.expression()?;
                "a text holds its whole workload"
            }
            "stats" => {
                let what = self.word("what to do with statistics, such as 'clear'")?;
                let takes_more = vocabulary::choose(&what.node, vocabulary::STATISTICS)
                    .map_err(|message| Diagnostic::error(what.span, message))?;
                if takes_more {
                    self.expression()?;
                }
                "each run reports its own statistics"
            }
            _ => {
                let _ = ["process", "processes"]
                    .iter()
                    .any(|word| self.take_word(word));
                "the processes of a run end with it"
            }
        };
        self.ignore(
            span,
            &format!("version 1.4's '{word}' has no effect: {why}"),
        )
    }

    fn foreach(&mut self) -> Parsed<Command> {
        let variable = self.variable("a variable for each value, such as $name")?;
        if !self.take_word("in") {
            return self.wanted("'in' and the values");
        }
        let mut values = vec![self.expression()?];
        while self.take_symbol(',') {
            values.push(self.expression()?);
        }
        let opening = self.peek().span;
        self.expect_symbol('{')?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(
                opening,
                "too many 'foreach' in one another",
            ));
        }
        let mut body = Vec::new();
        while !self.take_symbol('}') {
            if self.peek().node == Token::End {
                let message = "this '{' has no '}'";
                return Err(Diagnostic::error(opening, message));
            }
            body.push(self.spanned_command()?);
        }
        self.depth -= 1;
        Ok(Command::Foreach(Foreach {
            variable,
            values,
            body,
        }))
    }
}
