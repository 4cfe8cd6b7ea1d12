//! The language: from text to a checked [`crate::model::Program`].

pub mod ast;
mod attributes;
mod blocks;
mod commands;
pub mod diagnostic;
mod distributions;
mod evaluate;
mod expressions;
mod flowops;
mod layout;
mod lexer;
mod listing;
mod objects;
mod parser;
mod resolve;
mod rules;
mod steps;
pub mod vocabulary;

pub use diagnostic::{Diagnostic, Severity, Source};
pub use expressions::parse_value;
pub use layout::format;
pub use resolve::{Checked, check, check_to_run};
