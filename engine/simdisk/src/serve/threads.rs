//! The threads of the server.

use std::thread::Builder;

/// Threads do little; all of a stack is locked. Bytes.
const STACK_B: usize = 256 << 10;

/// A thread that is to be started, by its name.
pub fn named(name: &str) -> Builder {
    Builder::new().name(name.into()).stack_size(STACK_B)
}
