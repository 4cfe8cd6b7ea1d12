//! The values of expressions.

use serde::{Serialize, Serializer};

use crate::random::{Custom, Distribution};

/// What a variable or an expression is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    #[serde(serialize_with = "whole_if_possible")]
    Number(f64),
    Bool(bool),
    Text(String),
    Random(Distribution),
    Custom(Custom),
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
            Value::Custom(_) => "a custom variable",
        }
    }

    /// How it reads in a text, unless it differs at each use.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Text(text) => Some(text.clone()),
            Value::Random(_) | Value::Custom(_) => None,
        }
    }
}
