//! Definitions with attributes and blocks.

use super::ast::{Attribute, Composite, Fileset, Flowop, Process, Span, Spanned, Thread};
use super::diagnostic::Diagnostic;
use super::lexer::Token;
use super::parser::{COMMA_HINT, Parsed, Parser};
use super::vocabulary;

impl Parser<'_> {
    pub(super) fn fileset(&mut self, single: bool) -> Parsed<Fileset> {
        let attributes = self.attributes()?;
        Ok(Fileset { single, attributes })
    }

    pub(super) fn process(&mut self) -> Parsed<Process> {
        let attributes = self.attributes()?;
        let threads = self.block("thread", |parser, span| {
            Ok(Thread {
                span,
                attributes: parser.attributes()?,
                flowops: parser.flowops()?,
            })
        })?;
        Ok(Process {
            attributes,
            threads,
        })
    }

    pub(super) fn composite(&mut self) -> Parsed<Composite> {
        let (attributes, locals) = self.attributes_and_locals()?;
        let flowops = self.flowops()?;
        Ok(Composite {
            attributes,
            locals,
            flowops,
        })
    }

    fn flowops(&mut self) -> Parsed<Vec<Flowop>> {
        self.block("flowop", |parser, span| {
            let operation = parser.word("the kind of flowop, such as openfile")?;
            let (attributes, locals) = parser.attributes_and_locals()?;
            Ok(Flowop {
                span,
                operation,
                attributes,
                locals,
            })
        })
    }

    /// Items in braces that each begin with a word.
    fn block<T>(
        &mut self,
        word: &str,
        item: impl Fn(&mut Self, Span) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let opening = self.peek().span;
        self.expect_symbol('{')?;
        let mut items = Vec::new();
        while !self.take_symbol('}') {
            let Spanned { node, span } = self.peek().clone();
            if node == Token::End {
                return Err(Diagnostic::error(opening, "this '{' has no '}'"));
            }
            if !self.take_word(word) {
                let attribute =
                    matches!(node, Token::Word(word) if vocabulary::is_attribute(&word));
                let what = format!("'{word}' or '}}'");
                return self.wanted(&what).map_err(|mut error: Diagnostic| {
                    error.message += if attribute { COMMA_HINT } else { "" };
                    error
                });
            }
            items.push(item(self, span)?);
        }
        Ok(items)
    }

    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let (attributes, locals) = self.attributes_and_locals()?;
        match locals.first() {
            None => Ok(attributes),
            Some(local) => {
                let message = "only composite flowops have local variables";
                Err(Diagnostic::error(local.name.span, message))
            }
        }
    }

    /// Attributes and local variables with commas between them.
    fn attributes_and_locals(&mut self) -> Parsed<(Vec<Attribute>, Vec<Attribute>)> {
        let (mut attributes, mut locals) = (Vec::new(), Vec::new());
        loop {
            let Spanned { node, span } = self.peek().clone();
            let (name, list) = match node {
                Token::Word(name) => (name, &mut attributes),
                Token::Variable(name) => (name, &mut locals),
                _ => return self.wanted("the name of an attribute"),
            };
            self.next();
            let value = if self.take_symbol('=') {
                Some(self.attribute_value()?)
            } else {
                None
            };
            list.push(Attribute {
                name: Spanned { node: name, span },
                value,
            });
            if !self.take_symbol(',') {
                return Ok((attributes, locals));
            }
        }
    }
}
