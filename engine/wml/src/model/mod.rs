//! What a checked text describes, with every value resolved.

mod fileset;
mod flowop;
mod operation;
mod program;
mod value;
mod workload;

pub use fileset::{Fileset, MAX_ENTRIES};
pub use flowop::{Flowop, FlowopId, MAX_EVENTS, MAX_IN_FLIGHT, Node, SLOTS, Select};
pub use operation::{Class, Operation};
pub use program::{Multi, Program, Run, Statistics, Step};
pub use value::Value;
pub use workload::{ArrivalProcess, Arrivals, MAX_TASKS, Model, Process, Quit, Thread};
