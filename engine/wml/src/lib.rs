//! The Workload Model Language (WML): parser, checker and execution engine.

pub mod cli;
pub mod clock;
pub mod failure;
pub mod fileset;
pub mod histogram;
pub mod lang;
pub mod model;
pub mod ops;
pub mod random;
pub mod record;
pub mod report;
pub mod run;
pub mod shared;
