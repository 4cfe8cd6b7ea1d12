//! Trees of files: their layout, their creation, and who may use which file.

mod create;
mod files;
mod layout;
mod progress;

pub use create::{Prepared, prepare, verify};
pub use files::{Claim, Files, Pick};
pub use layout::Layout;
