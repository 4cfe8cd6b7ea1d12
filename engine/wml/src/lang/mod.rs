//! The language: from text to a checked [`crate::model::Model`].

pub mod ast;
mod attributes;
pub mod diagnostic;
mod evaluate;
mod lexer;
mod parser;
mod resolve;
mod rules;
mod vocabulary;

pub use diagnostic::{Diagnostic, Severity};
pub use evaluate::Value;
pub use parser::{parse, parse_value};
pub use resolve::{Checked, check};
