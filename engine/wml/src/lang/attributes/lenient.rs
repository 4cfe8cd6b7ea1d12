//! What is accepted with a warning, as the original accepts it, and how it should be written.

use std::collections::HashMap;

use super::AttributeReader;
use crate::lang::ast::{Chunk, Expression, Span};
use crate::lang::diagnostic::{Diagnostic, Edit};
use crate::model::Value;

/// The names of objects of one kind.
#[derive(Default)]
pub struct Names(HashMap<String, u64>);

impl Names {
    /// Take a name: 1 if it was free, else the number that makes it so with a dash before it.
    fn number(&mut self, name: String) -> u64 {
        let mut number = *self.0.get(&name).unwrap_or(&0) + 1;
        while number > 1 && self.0.contains_key(&format!("{name}-{number}")) {
            number += 1;
        }
        if number > 1 {
            self.0.insert(format!("{name}-{number}"), 1);
        }
        self.0.insert(name, number);
        number
    }
}

impl AttributeReader<'_> {
    /// Say what an attribute is done as; `clean` is how its value should be written.
    pub fn warn(&mut self, name: &str, message: impl Into<String>, clean: &str) {
        let literal = self.literal(name).filter(|_| needs_no_quotes(clean));
        let edit = literal.map(|span| Edit {
            span,
            text: clean.to_owned(),
        });
        let warning = Diagnostic::warning(self.span_of(name), message).instead(edit);
        self.diagnostics.push(warning);
    }

    /// The same of an attribute that the object at `end` lacks.
    pub fn warn_of_missing(&mut self, message: &str, end: usize, clean: &str) {
        let edit = Edit {
            span: Span { start: end, end },
            text: format!(", {clean}"),
        };
        let warning = Diagnostic::warning(self.span, message).instead(Some(edit));
        self.diagnostics.push(warning);
    }

    /// Where the value of an attribute is written as it is, without variables.
    fn literal(&self, name: &str) -> Option<Span> {
        let value = self.find(name)?.value.as_ref()?;
        let is_literal = match &value.node {
            Expression::Number(_) | Expression::Bool(_) => true,
            Expression::Text(chunks) => matches!(chunks.as_slice(), [Chunk::Literal(_)]),
            _ => false,
        };
        is_literal.then_some(value.span)
    }

    /// A number is a flag, too: any but 0 is true.
    pub fn flag(&mut self, name: &str) -> bool {
        let found = self.typed(name, "true or false", |value| match value {
            Value::Bool(flag) => Ok((flag, None)),
            Value::Number(number) => Ok((number != 0.0, Some(number))),
            other => Err(other),
        });
        let Some((flag, number)) = found else {
            return false;
        };
        if let Some(number) = number {
            let message = format!("'{name}' is true or false; {number} is done as {flag}");
            self.warn(name, message, &flag.to_string());
        }
        flag
    }

    /// How many of something; 0 is done as 1.
    pub fn at_least_one(&mut self, name: &str, most: u64) -> u64 {
        let count = self.count(name, 1, 0..=most);
        if count == 0 && !self.is_faulty(name) {
            self.warn(name, format!("'{name}' of 0 is done as 1"), "1");
        }
        count.max(1)
    }

    /// The object's name; with a number behind it if `taken` has it already.
    pub fn unique_name(&mut self, taken: &mut Names, prefix: &str, of: &str) -> String {
        let name = self.required_text("name");
        if name.is_empty() {
            return name;
        }
        let number = taken.number(format!("{prefix}{name}"));
        if number == 1 {
            return name;
        }
        let unique = format!("{name}-{number}");
        let message = format!("{of} '{name}': this one is called '{unique}'");
        self.warn("name", message, &unique);
        unique
    }
}

/// Whether a text is one word or number, as it stands.
fn needs_no_quotes(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_number || (is_word && text.chars().all(is_plain))
}
