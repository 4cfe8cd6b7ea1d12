//! A volume: flash, on which everything happens, and the branches that are brought up to it.
//!
//! What programs see is on flash. A branch that is connected is brought up at every `fsync`; one
//! that is away catches up when it is connected again.

mod access;
mod among;
mod connect;
mod flash;
mod held;
mod marking;
mod marks;
mod noting;
mod open;
mod operations;
mod parts;
mod push;
mod pushed;
mod round;
mod sharing;
mod snapshots;
mod survey;
mod trouble;
mod whole;
mod writing;

pub use access::{Access, Branch};
pub use connect::{catch_up, expect_known, greet};
pub use flash::{Flash, JOURNAL};
pub use held::{Held, bring, complete, read_held};
pub use noting::NOTED_AT_ONCE;
pub use open::{Preview, preview};
pub use operations::New;
pub use parts::absent;
pub use push::{push, push_rested};
pub use pushed::Pushed;
pub use trouble::Trouble;
pub use whole::Volume;
