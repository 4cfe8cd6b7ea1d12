//! Reading the attributes of one object, collecting what is wrong with them.

pub mod lenient;

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::ast::{Attribute, Span, Spanned};
use super::diagnostic::{Diagnostic, suggestion};
use super::evaluate::Variables;
use super::vocabulary::{self, canonical, choose};
use crate::model::Value;
use crate::random::{Amount, Distribution};

/// Reads attributes by name. Each wrong one becomes a diagnostic and yields its default.
pub struct AttributeReader<'a> {
    attributes: &'a [Attribute],
    vocabulary: &'a vocabulary::Attributes,
    span: Span,
    variables: &'a Variables,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Some attribute has no known name; it may be the one that seems to be missing.
    misspelt: bool,
    /// Those with an error; the first one is what matters.
    faulty: Vec<String>,
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
        let mut misspelt = false;
        for Attribute { name, .. } in attributes {
            let word = canonical(&name.node);
            if !vocabulary.known.contains(&word) {
                misspelt = true;
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
            misspelt,
            faulty: Vec::new(),
        }
    }

    /// The last attribute of that name wins.
    pub fn find(&self, name: &str) -> Option<&'a Attribute> {
        debug_assert!(self.vocabulary.known.contains(&name), "{name}");
        self.attributes
            .iter()
            .rev()
            .find(|attribute| canonical(&attribute.name.node) == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn value(&mut self, name: &str) -> Option<Value> {
        match &self.find(name)?.value {
            None => Some(Value::Bool(true)),
            Some(expression) => match self.variables.evaluate(expression) {
                Ok(value) => Some(value),
                Err(diagnostic) => {
                    self.diagnostics.push(diagnostic);
                    self.faulty.push(name.to_owned());
                    None
                }
            },
        }
    }

    fn typed<T>(
        &mut self,
        name: &str,
        wanted: &str,
        convert: impl Fn(Value) -> Result<T, Value>,
    ) -> Option<T> {
        match convert(self.value(name)?) {
            Ok(converted) => Some(converted),
            Err(other) => {
                let found = other.describe();
                self.error(
                    name,
                    format!("'{name}' must be {wanted}, and this is {found}"),
                );
                None
            }
        }
    }

    /// Report an error at an attribute, or at the object if it lacks that one.
    pub fn error(&mut self, name: &str, message: impl Into<String>) {
        if self.is_faulty(name) {
            return;
        }
        self.faulty.push(name.to_owned());
        let span = self.span_of(name);
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// Say that an attribute has another effect than its text suggests, if it is there.
    pub fn warn_if_present(&mut self, name: &str, message: &str) {
        if let Some(attribute) = self.find(name) {
            let span = attribute.name.span;
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
    }

    /// Whether an error at this attribute, or at a misspelt one, has been reported.
    pub fn is_faulty(&self, name: &str) -> bool {
        let is_missing = !self.has(name);
        self.faulty.iter().any(|faulty| faulty == name) || (is_missing && self.misspelt)
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
            Value::Text(text) => Ok(text),
            other => Err(other),
        })
    }

    pub fn required_text(&mut self, name: &str) -> String {
        if !self.has(name) {
            let of = self.vocabulary.of;
            self.error(name, format!("{of} needs the attribute '{name}'"));
        }
        self.text(name).unwrap_or_default()
    }

    pub fn spanned_text(&mut self, name: &str) -> Option<Spanned<String>> {
        let node = self.text(name)?;
        let span = self.span_of(name);
        Some(Spanned { node, span })
    }

    /// The meaning of one of some words.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let word = self.text(name)?;
        match choose(&word, choices) {
            Ok(meaning) => Some(meaning),
            Err(message) => {
                self.error(name, message);
                None
            }
        }
    }

    /// A number of any sign.
    pub fn signed(&mut self, name: &str) -> Option<f64> {
        self.typed(name, "a number", |value| match value {
            Value::Number(number) => Ok(number),
            other => Err(other),
        })
    }

    pub fn optional_number(&mut self, name: &str) -> Option<f64> {
        let number = self.signed(name)?;
        if number < 0.0 {
            self.error(name, format!("'{name}' must not be negative"));
            return None;
        }
        Some(number)
    }

    pub fn number(&mut self, name: &str, default: f64) -> f64 {
        self.optional_number(name).unwrap_or(default)
    }

    /// A whole number; fractions, as arithmetic gives them, are rounded.
    pub fn count(&mut self, name: &str, default: u64, range: RangeInclusive<u64>) -> u64 {
        let number = self.number(name, default as f64).round() as u64;
        self.bounded(name, number, range)
    }

    /// A whole number of any sign.
    pub fn integer(&mut self, name: &str, default: i32, range: RangeInclusive<i32>) -> i32 {
        let number = self.signed(name).map_or(default, |n| n.round() as i32);
        self.bounded(name, number, range)
    }

    fn bounded<T: Copy + PartialOrd + Display>(
        &mut self,
        name: &str,
        number: T,
        range: RangeInclusive<T>,
    ) -> T {
        let (least, most) = (*range.start(), *range.end());
        if number < least {
            self.error(
                name,
                format!("'{name}' must be at least {least}, and this is {number}"),
            );
        } else if number > most {
            self.error(
                name,
                format!("'{name}' must be at most {most}, and this is {number}"),
            );
        }
        number
    }

    pub fn optional_amount(&mut self, name: &str) -> Option<Amount> {
        let amount = self.typed(name, "a number or a random variable", |value| match value {
            Value::Number(number) => Ok(Amount::Fixed(number)),
            Value::Random(distribution) => Ok(Amount::Random(distribution)),
            Value::Custom(custom) => Ok(Amount::Custom(custom)),
            other => Err(other),
        })?;
        if amount.mean() < 0.0 {
            self.error(name, format!("'{name}' must not be negative"));
        }
        Some(amount)
    }

    pub fn amount(&mut self, name: &str, default: f64) -> Amount {
        self.optional_amount(name).unwrap_or(Amount::Fixed(default))
    }

    /// Bytes of something, at most so many.
    pub fn bytes(&mut self, name: &str, default: f64, most: u64) -> Amount {
        let amount = self.amount(name, default);
        if amount.mean() > most as f64 {
            let gib = most >> 30;
            self.error(name, format!("'{name}' must be at most {gib} GiB"));
        }
        amount
    }

    pub fn distribution(&mut self, name: &str) -> Option<Distribution> {
        self.typed(name, "a random variable (randvar)", |value| match value {
            Value::Random(distribution) => Ok(distribution),
            other => Err(other),
        })
    }

    /// A percentage; the bare attribute means all.
    pub fn percentage(&mut self, name: &str) -> f64 {
        let percent = self.typed(name, "a percentage", |value| match value {
            Value::Bool(flag) => Ok(if flag { 100.0 } else { 0.0 }),
            Value::Number(number) => Ok(number),
            other => Err(other),
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
