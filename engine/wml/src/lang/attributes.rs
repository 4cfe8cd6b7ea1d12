//! Reading the attributes of one object, collecting what is wrong with them.

use super::ast::{Attribute, Span};
use super::diagnostic::{Diagnostic, suggestion};
use super::evaluate::{Value, Variables};
use super::vocabulary::{self, canonical};
use crate::random::Amount;

/// Reads attributes by name. Each wrong one becomes a diagnostic and yields its default.
pub struct AttributeReader<'a> {
    attributes: &'a [Attribute],
    vocabulary: &'a vocabulary::Attributes,
    span: Span,
    variables: &'a Variables,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> AttributeReader<'a> {
    /// `span` is where a missing attribute is reported.
    pub fn new(
        attributes: &'a [Attribute],
        vocabulary: &'a vocabulary::Attributes,
        span: Span,
        variables: &'a Variables,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        for Attribute { name, .. } in attributes {
            let word = canonical(&name.node);
            if vocabulary.later.contains(&word) {
                let message = format!("attribute '{}' is not supported yet", name.node);
                diagnostics.push(Diagnostic::error(name.span, message));
            } else if !vocabulary.known.contains(&word) {
                let near = suggestion(word, vocabulary.known.iter().copied());
                let message = format!("{} has no attribute '{}'{near}", vocabulary.of, name.node);
                diagnostics.push(Diagnostic::error(name.span, message));
            }
        }
        Self {
            attributes,
            vocabulary,
            span,
            variables,
            diagnostics,
        }
    }

    /// The last attribute of that name wins.
    fn find(&self, name: &str) -> Option<&'a Attribute> {
        self.attributes
            .iter()
            .rev()
            .find(|attribute| canonical(&attribute.name.node) == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn value(&mut self, name: &str) -> Option<Value> {
        debug_assert!(self.vocabulary.known.contains(&name), "{name}");
        let attribute = self.find(name)?;
        match &attribute.value {
            None => Some(Value::Bool(true)),
            Some(expression) => match self.variables.evaluate(expression) {
                Ok(value) => Some(value),
                Err(diagnostic) => {
                    self.diagnostics.push(diagnostic);
                    None
                }
            },
        }
    }

    fn typed<T>(
        &mut self,
        name: &str,
        wanted: &str,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let converted = convert(&value);
        if converted.is_none() {
            self.error(
                name,
                format!(
                    "'{name}' must be {wanted}, and this is {}",
                    value.describe()
                ),
            );
        }
        converted
    }

    /// Report an error at an attribute, or at the object if it lacks that one. The first error
    /// of a place is the one that matters.
    pub fn error(&mut self, name: &str, message: String) {
        let span = self.span_of(name);
        if self
            .diagnostics
            .last()
            .is_some_and(|last| last.span == span)
        {
            return;
        }
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    pub fn span_of(&self, name: &str) -> Span {
        self.find(name).map_or(self.span, |attribute| {
            attribute
                .value
                .as_ref()
                .map_or(attribute.name.span, |value| value.span)
        })
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        self.typed(name, "text", |value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub fn required_text(&mut self, name: &str) -> String {
        if !self.has(name) {
            self.error(
                name,
                format!("{} needs the attribute '{name}'", self.vocabulary.of),
            );
        }
        self.text(name).unwrap_or_default()
    }

    pub fn number(&mut self, name: &str, default: f64) -> f64 {
        let number = self.typed(name, "a number", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        });
        match number {
            Some(number) if number < 0.0 => {
                self.error(name, format!("'{name}' must not be negative"));
                default
            }
            Some(number) => number,
            None => default,
        }
    }

    /// A whole number from `minimum`; fractions, as arithmetic gives them, are rounded.
    pub fn count(&mut self, name: &str, default: u64, minimum: u64) -> u64 {
        let number = self.number(name, default as f64).round() as u64;
        if number < minimum {
            self.error(
                name,
                format!("'{name}' must be at least {minimum}, and this is {number}"),
            );
        }
        number
    }

    pub fn amount(&mut self, name: &str, default: f64) -> Amount {
        let amount = self.typed(name, "a number or a random variable", |value| match value {
            Value::Number(number) => Some(Amount::Fixed(*number)),
            Value::Random(distribution) => Some(Amount::Random(distribution.clone())),
            _ => None,
        });
        let amount = amount.unwrap_or(Amount::Fixed(default));
        if amount.mean() < 0.0 {
            self.error(name, format!("'{name}' must not be negative"));
        }
        amount
    }

    pub fn flag(&mut self, name: &str) -> bool {
        self.typed(name, "true or false", |value| match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        })
        .unwrap_or(false)
    }

    /// A percentage; the bare attribute means all.
    pub fn percentage(&mut self, name: &str) -> f64 {
        let percent = self.typed(name, "a percentage", |value| match value {
            Value::Bool(flag) => Some(if *flag { 100.0 } else { 0.0 }),
            Value::Number(number) => Some(*number),
            _ => None,
        });
        let percent = percent.unwrap_or(0.0);
        if !(0.0..=100.0).contains(&percent) {
            self.error(
                name,
                format!("'{name}' must be between 0 and 100, and this is {percent}"),
            );
        }
        percent
    }
}
