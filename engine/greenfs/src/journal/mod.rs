//! What flash keeps of the state: a checkpoint, and a line for each record since.

pub mod checkpoint;
pub mod frame;
pub mod lines;
