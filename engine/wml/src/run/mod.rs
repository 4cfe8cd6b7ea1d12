//! Running a model: real processes and threads, a common start, an exact end.

mod arena;
mod child;
mod children;
mod ending;
mod gates;
mod orphan;
mod places;
mod process;
mod room;
mod supervisor;
mod timing;
mod turns;

pub use arena::Arena;
pub use ending::{Ending, Halt};
pub use orphan::die_with_parent;
pub use places::Place;
pub use process::ProcessRecord;
pub use room::{check_room, memory_doubts};
pub use supervisor::{Watch, supervise};
pub use timing::{MaxErrors, Options, Timing};
pub use turns::Turn;
