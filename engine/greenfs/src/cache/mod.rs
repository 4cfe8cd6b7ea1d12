//! What flash may leave to the other branches: which bytes of a file are here, and what was used
//! last, as values.

pub mod choice;
pub mod part;
pub mod recent;

pub use part::Part;
pub use recent::Recent;
