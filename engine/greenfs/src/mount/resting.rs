//! Which files rest that were overwritten all the time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use crate::branch::store::Store;
use crate::protocol::NodeId;
use crate::volume::Flash;

pub struct Resting {
    /// They must rest for so long.
    pub needed: Duration,
    /// The version of each that was seen last, and since when.
    seen: BTreeMap<NodeId, (u64, Instant)>,
}

impl Resting {
    /// They must rest for so long from now on.
    pub fn anew(needed: Duration) -> Self {
        Self {
            needed,
            seen: BTreeMap::new(),
        }
    }

    /// Those of these files of which no change was seen for as long as is needed.
    pub fn rested<S: Store>(
        &mut self,
        flash: &mut Flash<S>,
        files: &BTreeSet<NodeId>,
    ) -> io::Result<BTreeSet<NodeId>> {
        self.seen.retain(|id, _| files.contains(id));
        let mut rested = BTreeSet::new();
        for id in files {
            flash.note_file(*id)?; // memory may have changed it
            let Ok(node) = flash.node(*id) else { continue };
            let seen = self.seen.entry(*id);
            let (version, since) = seen.or_insert((node.version, Instant::now()));
            if *version != node.version {
                (*version, *since) = (node.version, Instant::now());
            } else if since.elapsed() >= self.needed {
                rested.insert(*id);
            }
        }
        Ok(rested)
    }
}
