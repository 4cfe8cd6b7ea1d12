//! Variables and the values of expressions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Chunk, Expression, Operator, Span, Spanned};
use super::diagnostic::{Diagnostic, suggestion};
use crate::model::Value;

/// Bytes of an interpolated text; variables that grow by themselves end here.
const MAX_TEXT_B: usize = 16 * 1024;

/// Variables that hide those of the same name for a while: the locals of a composite flowop, the
/// variables of the `foreach` around a definition.
pub type Scope = BTreeMap<String, Value>;

/// What `set` has set, with what the command line overrides.
pub struct Variables {
    values: BTreeMap<String, Value>,
    overridden: BTreeSet<String>,
    set: BTreeMap<String, Span>,
    read: RefCell<BTreeSet<String>>,
    /// Why variables have no value; said once, and not again at each use.
    failed: BTreeMap<String, Diagnostic>,
    /// Only the last one counts.
    scopes: Vec<Scope>,
}

pub(super) type Evaluated<T> = Result<T, Diagnostic>;

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
            failed: BTreeMap::new(),
            scopes: Vec::new(),
        }
    }

    /// See the variables of a scope, and behind them the global ones, until [`Self::leave`].
    pub fn enter(&mut self, scope: Scope) {
        self.scopes.push(scope);
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Set a variable, unless the command line has the last word.
    pub fn set(
        &mut self,
        name: &Spanned<String>,
        expression: &Spanned<Expression>,
    ) -> Evaluated<()> {
        self.set.insert(name.node.clone(), name.span);
        let value = self.evaluate(expression);
        if self.overridden.contains(&name.node) {
            return value.map(drop);
        }
        match value {
            Ok(value) => {
                self.failed.remove(&name.node);
                self.values.insert(name.node.clone(), value);
                Ok(())
            }
            Err(diagnostic) => {
                self.values.remove(&name.node);
                self.failed.insert(name.node.clone(), diagnostic.clone());
                Err(diagnostic)
            }
        }
    }

    /// Give the variable of a `foreach` its next value.
    pub fn assign(&mut self, name: &str, value: Value) {
        self.read.borrow_mut().insert(name.to_owned());
        self.values.insert(name.to_owned(), value);
    }

    /// What the command line sets a variable to.
    pub fn overriding(&self, name: &str) -> Option<&Value> {
        self.values
            .get(name)
            .filter(|_| self.overridden.contains(name))
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.failed.contains_key(name)
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
        if let Some(value) = self.scopes.last().and_then(|scope| scope.get(name)) {
            return Ok(value);
        }
        self.read.borrow_mut().insert(name.to_owned());
        self.values.get(name).ok_or_else(|| {
            if let Some(known) = self.failed.get(name) {
                return known.clone();
            }
            let near = suggestion(name, self.values.keys().map(String::as_str));
            let message = format!("${name} is not set: pass --set {name}=VALUE or set it{near}");
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
            Expression::Random(attributes) => Value::Random(self.random(attributes, span)?),
            Expression::Custom(attributes) => Value::Custom(self.custom(attributes, span)?),
            Expression::Table(_) => {
                let message = "a table stands in randtable={{percent, min, max}, ...} only";
                return Err(Diagnostic::error(span, message));
            }
            Expression::Negative(inner) => Value::Number(-self.operand(inner)?),
            Expression::Binary(operator, left, right) => {
                let a = match operator {
                    Operator::Divide => self.dividend(left)?,
                    _ => self.operand(left)?,
                };
                let b = self.operand(right)?;
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

    pub(super) fn operand(&self, expression: &Spanned<Expression>) -> Evaluated<f64> {
        match self.evaluate(expression)? {
            Value::Number(number) => Ok(number),
            other => Err(Diagnostic::error(
                expression.span,
                format!("this must be a number, and it is {}", other.describe()),
            )),
        }
    }

    /// What stands before `/`: a number, where people may mean the beginning of a path.
    fn dividend(&self, expression: &Spanned<Expression>) -> Evaluated<f64> {
        self.operand(expression).map_err(|mut error| {
            let is_text = matches!(self.evaluate(expression), Ok(Value::Text(_)));
            if let (true, Expression::Variable(name)) = (is_text, &expression.node) {
                error.message += &format!("; a path is written in quotes, as \"${name}/below\"");
            }
            error
        })
    }

    /// The text that an expression says.
    pub fn say(&self, expression: &Spanned<Expression>) -> Evaluated<String> {
        self.evaluate(expression)?
            .to_text()
            .ok_or_else(|| no_value(expression.span))
    }

    fn interpolate(&self, chunks: &[Chunk]) -> Evaluated<String> {
        let mut text = String::new();
        for chunk in chunks {
            match chunk {
                Chunk::Literal(literal) => text.push_str(literal),
                Chunk::Variable(Spanned { node: name, span }) => {
                    let value = self.get(name, *span)?;
                    text.push_str(&value.to_text().ok_or_else(|| no_value(*span))?);
                    if text.len() > MAX_TEXT_B {
                        let message = format!("this text has more than {MAX_TEXT_B} bytes");
                        return Err(Diagnostic::error(*span, message));
                    }
                }
            }
        }
        Ok(text)
    }
}

fn no_value(span: Span) -> Diagnostic {
    let message = "a random variable has no value outside a flowop";
    Diagnostic::error(span, message)
}
