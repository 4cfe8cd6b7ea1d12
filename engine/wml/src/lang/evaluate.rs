//! Variables and the values of expressions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::ast::{Attribute, Chunk, Expression, Operator, Span, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, suggestion};
use super::vocabulary;
use crate::random::{Distribution, Shape};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    #[serde(serialize_with = "whole_if_possible")]
    Number(f64),
    Bool(bool),
    Text(String),
    Random(Distribution),
}

/// 20000 rather than 20000.0.
fn whole_if_possible<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

impl Value {
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Text(_) => "text",
            Value::Random(_) => "a random variable",
        }
    }
}

/// What `set` has set, with what the command line overrides.
pub struct Variables {
    values: BTreeMap<String, Value>,
    overridden: BTreeSet<String>,
    set: BTreeMap<String, Span>,
    read: RefCell<BTreeSet<String>>,
}

type Evaluated<T> = Result<T, Diagnostic>;

impl Variables {
    pub fn new(overrides: &BTreeMap<String, Expression>) -> Self {
        let values = overrides.iter().filter_map(|(name, expression)| {
            let value = match expression {
                Expression::Number(number) => Value::Number(*number),
                Expression::Bool(flag) => Value::Bool(*flag),
                Expression::Text(chunks) => match chunks.as_slice() {
                    [Chunk::Literal(text)] => Value::Text(text.clone()),
                    _ => return None,
                },
                _ => return None,
            };
            Some((name.clone(), value))
        });
        Self {
            values: values.collect(),
            overridden: overrides.keys().cloned().collect(),
            set: BTreeMap::new(),
            read: RefCell::default(),
        }
    }

    /// Set a variable, unless the command line has the last word.
    pub fn set(&mut self, name: &Spanned<String>, value: Value) {
        self.set.insert(name.node.clone(), name.span);
        if !self.overridden.contains(&name.node) {
            self.values.insert(name.node.clone(), value);
        }
    }

    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    /// Overrides that the text never mentions, and variables that it never reads.
    pub fn unused(&self) -> Vec<Diagnostic> {
        let read = self.read.borrow();
        let strange = self
            .overridden
            .iter()
            .filter(|name| !read.contains(*name) && !self.set.contains_key(*name));
        let errors = strange.map(|name| {
            let known = self.set.keys().chain(read.iter()).map(String::as_str);
            let near = suggestion(name, known);
            let message = format!("--set {name}: the text neither sets nor uses ${name}{near}");
            Diagnostic::error(Span::default(), message)
        });
        let idle = self.set.iter().filter(|(name, _)| !read.contains(*name));
        let warnings =
            idle.map(|(name, span)| Diagnostic::warning(*span, format!("${name} is never used")));
        errors.chain(warnings).collect()
    }

    fn get(&self, name: &str, span: Span) -> Evaluated<&Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.values.get(name).ok_or_else(|| {
            let near = suggestion(name, self.values.keys().map(String::as_str));
            let message = format!("${name} is not set{near}: pass --set {name}=VALUE or set it");
            Diagnostic::error(span, message)
        })
    }

    pub fn evaluate(&self, expression: &Spanned<Expression>) -> Evaluated<Value> {
        let span = expression.span;
        Ok(match &expression.node {
            Expression::Number(number) => Value::Number(*number),
            Expression::Bool(flag) => Value::Bool(*flag),
            Expression::Text(chunks) => Value::Text(self.interpolate(chunks)?),
            Expression::Variable(name) => self.get(name, span)?.clone(),
            Expression::Random(attributes) => Value::Random(self.distribution(attributes, span)?),
            Expression::Binary(operator, left, right) => {
                let (a, b) = (self.operand(left)?, self.operand(right)?);
                let result = match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                };
                if !result.is_finite() {
                    return Err(Diagnostic::error(span, "this has no finite value"));
                }
                Value::Number(result)
            }
        })
    }

    fn operand(&self, expression: &Spanned<Expression>) -> Evaluated<f64> {
        match self.evaluate(expression)? {
            Value::Number(number) => Ok(number),
            other => Err(Diagnostic::error(
                expression.span,
                format!("arithmetic needs numbers, and this is {}", other.describe()),
            )),
        }
    }

    fn interpolate(&self, chunks: &[Chunk]) -> Evaluated<String> {
        let mut text = String::new();
        for chunk in chunks {
            match chunk {
                Chunk::Literal(literal) => text.push_str(literal),
                Chunk::Variable(name) => match self.get(&name.node, name.span)? {
                    Value::Number(number) => text.push_str(&number.to_string()),
                    Value::Bool(flag) => text.push_str(&flag.to_string()),
                    Value::Text(value) => text.push_str(value),
                    Value::Random(_) => {
                        let message = "a random variable has no value outside a flowop";
                        return Err(Diagnostic::error(name.span, message));
                    }
                },
            }
        }
        Ok(text)
    }

    /// `randvar(...)`: gamma with a shape of 1.5 unless said otherwise.
    fn distribution(&self, attributes: &[Attribute], span: Span) -> Evaluated<Distribution> {
        let mut diagnostics = Vec::new();
        let mut read = AttributeReader::new(
            attributes,
            &vocabulary::RANDVAR,
            span,
            self,
            &mut diagnostics,
        );
        let kind = read.text("type").unwrap_or_else(|| "gamma".to_owned());
        let gamma = read.number("gamma", 1500.0) / 1000.0;
        let distribution = Distribution {
            shape: if kind == "uniform" {
                Shape::Uniform
            } else {
                Shape::Gamma(gamma)
            },
            mean: read.number("mean", 0.0),
            minimum: read.number("min", 0.0),
            round: read.number("round", 0.0),
            ..Distribution::default()
        };
        if !["uniform", "gamma"].contains(&kind.as_str()) {
            let near = suggestion(&kind, ["uniform", "gamma"]);
            read.error(
                "type",
                format!("'{kind}' is not a supported distribution{near}"),
            );
        }
        if kind == "gamma" && gamma <= 0.0 {
            read.error("gamma", "the gamma shape must be above 0".to_owned());
        }
        if distribution.mean < distribution.minimum {
            read.error("mean", "the mean is below the minimum".to_owned());
        }
        diagnostics.into_iter().next().map_or(Ok(distribution), Err)
    }
}
