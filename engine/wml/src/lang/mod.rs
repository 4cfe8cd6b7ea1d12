//! The language: from text to a checked [`crate::model::Model`].

pub mod ast;
mod attributes;
pub mod diagnostic;
mod evaluate;
mod expressions;
mod lexer;
mod objects;
mod parser;
mod resolve;
mod rules;
mod vocabulary;

pub use diagnostic::{Diagnostic, Severity};
pub use evaluate::Value;
pub use expressions::parse_value;
pub use parser::parse;
pub use resolve::{Checked, check};
