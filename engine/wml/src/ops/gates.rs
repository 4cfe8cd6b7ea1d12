//! What the flowops of different threads wait at.

use crate::shared::{Gate, Shared};

/// What one instance of a `semblock` or `block` waits at.
#[derive(Default)]
pub struct GatePair {
    pub events: Gate,
    /// How far posters that block may still run ahead.
    pub room: Gate,
}

// SAFETY: made of gates, which are.
unsafe impl Shared for GatePair {}

impl GatePair {
    pub fn open_room(&self, highwater: u32) {
        self.room.post(highwater);
    }

    /// Let everyone through from now on.
    pub fn release(&self) {
        self.events.release();
        self.room.release();
    }
}

/// The gates of one thread, by the place of its flowops.
pub struct Gates<'a> {
    /// What its own gates wait at, and whether some poster waits for room in them.
    pub own: Vec<Option<(&'a GatePair, bool)>>,
    /// The instances that each of its posters reaches.
    pub targets: Vec<Vec<&'a GatePair>>,
}
