//! A volume: flash, on which everything happens, and the branches that are brought up to it.
//!
//! What programs see is on flash. A branch that is connected is brought up at every `fsync`; one
//! that is away catches up when it is connected again.

mod base;
mod connect;
mod open;
mod operations;
mod push;

pub use base::Volume;
pub use open::preview;
pub use push::Pushed;
