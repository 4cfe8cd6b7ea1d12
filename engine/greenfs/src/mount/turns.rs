//! Who brings which piece of a file: one at a time, and the others wait for that.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex};

use crate::protocol::NodeId;

/// A piece of a file, by its number.
type Piece = (NodeId, u64);

#[derive(Default)]
pub struct Turns {
    taken: Mutex<HashSet<Piece>>,
    left: Condvar,
}

/// As long as it lasts, nobody else brings this piece.
pub struct Turn<'a> {
    turns: &'a Turns,
    piece: Piece,
}

impl Turns {
    /// Wait until nobody brings this piece.
    pub fn take(&self, piece: Piece) -> Turn<'_> {
        let taken = self.taken.lock().expect("a panic ends this process");
        let waited = self.left.wait_while(taken, |taken| taken.contains(&piece));
        waited.expect("a panic ends this process").insert(piece);
        Turn { turns: self, piece }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut taken = self.turns.taken.lock().expect("a panic ends this process");
        taken.remove(&self.piece);
        self.turns.left.notify_all();
    }
}
