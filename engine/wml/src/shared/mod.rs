//! State that the processes of a run share: anonymous memory, futexes, gates, the event budget.
//!
//! Everything here is mapped before the fork and reached through atomics only.

mod budget;
mod control;
pub mod futex;
mod gate;
mod memory;
mod work;

pub use budget::{Budget, Lease};
pub use control::Control;
pub use gate::Gate;
pub use memory::{Mapping, Shared, one, slice};
pub use work::Work;
