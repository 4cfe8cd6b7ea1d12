//! Whether files rest that were overwritten all the time.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::branch::store::Store;
use crate::protocol::NodeId;
use crate::volume::Flash;

#[derive(Default)]
pub struct Resting {
    /// They must rest for so long.
    pub needed: Duration,
    /// The versions of all files that were seen last, and since when.
    seen: Option<(Vec<(NodeId, u64)>, Instant)>,
}

impl Resting {
    /// They must rest for so long from now on.
    pub fn anew(needed: Duration) -> Self {
        Self { needed, seen: None }
    }

    /// Whether no write to any of these files was seen for as long as is needed.
    pub fn is_over<S: Store>(&mut self, flash: &Flash<S>, files: &BTreeSet<NodeId>) -> bool {
        let version = |id: &NodeId| Some((*id, flash.node(*id).ok()?.version));
        let now: Vec<_> = files.iter().filter_map(version).collect();
        match &self.seen {
            Some((seen, since)) if *seen == now => since.elapsed() >= self.needed,
            _ => {
                self.seen = Some((now, Instant::now()));
                false
            }
        }
    }
}
