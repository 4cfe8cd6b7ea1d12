//! Keeps what is on flash within a bound: gives up what other branches have, the longest unused first.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::cache::Part;
use crate::cache::choice::to_give_up;
use crate::mount::handles::Handles;
use crate::mount::log::Log;
use crate::mount::mapped;
use crate::mount::origins::Counts;
use crate::mount::shared::Shared;
use crate::mount::standing::Standings;
use crate::mount::uses::Uses;
use crate::protocol::{Kind, NodeId, Role};
use crate::volume::Access;

/// A smaller file stays: its status file and the way to the remote would cost more. Bytes.
const SMALL_B: u64 = 64 << 10;

/// Changes are gathered for this time, and for ten times as long as the last ones took.
const GATHER: Duration = Duration::from_millis(200);

/// When there is too much, so much of the bound is made free beyond it.
const SPARE: u64 = 16;

/// How the bound was kept.
enum Kept {
    AsFarAsCanBe,
    /// The same, but for files that somebody may have memory of, and has not open.
    WithMemory,
}

pub struct Bound {
    pub shared: Arc<Shared>,
    pub handles: Arc<Handles>,
    pub standings: Arc<Standings>,
    pub log: Arc<Log>,
    pub uses: Arc<Uses>,
    pub counts: Arc<Counts>,
    /// Bytes of files on flash; without, nothing is given up.
    pub most_b: Option<u64>,
    /// The branches that must have what is given up.
    pub roles: Vec<Role>,
    /// Whether programs may have memory of flash itself, also of files that they have closed.
    pub has_memory: bool,
}

impl Bound {
    /// Keep to it until the end.
    pub fn run(&self) {
        if self.most_b.is_some() {
            self.uses.add_older(self.by_last_use().into_iter());
        }
        let mut seen = 0;
        while !self.standings.is_ending() {
            let begun = Instant::now();
            let kept = self.save().and_then(|()| self.keep());
            if let Err(error) = &kept {
                self.log
                    .say(&format!("flash: nothing can be given up: {error}"));
            }
            let took = begun.elapsed();
            // Nobody says when memory is gone.
            let most = match kept {
                Ok(Kept::WithMemory) => mapped::LOOK,
                _ => Duration::MAX,
            };
            seen = self.standings.wait_for_news(seen, most);
            self.standings.rest(GATHER + took * 10);
        }
        // What fails is brought back another time.
        let _ = self.save();
    }

    /// Files as flash says that they were used before.
    fn by_last_use(&self) -> Vec<NodeId> {
        let flash = self.shared.flash();
        let nodes = flash.state().catalogue.nodes().iter();
        let files = nodes.filter(|(_, node)| node.kind == Kind::File);
        let ids: Vec<NodeId> = files.map(|(id, _)| *id).collect();
        drop(flash);
        let last_use = |id: &NodeId| {
            let flash = self.shared.flash();
            let reached = flash.path(*id).and_then(|path| flash.store().reach(&path));
            let found = reached.and_then(|file| file.metadata()).ok()?;
            let (read, changed) = (found.atime(), found.mtime());
            Some(match flash.part(*id) {
                // What brings it back changes it.
                Some(_) => (read, found.atime_nsec()),
                None => (read, found.atime_nsec()).max((changed, found.mtime_nsec())),
            })
        };
        let mut used: Vec<_> = ids.into_iter().map(|id| (last_use(&id), id)).collect();
        used.sort();
        used.into_iter().map(|(_, id)| id).collect()
    }

    /// Write down what was brought back.
    fn save(&self) -> io::Result<()> {
        let brought = self.shared.flash().brought();
        if brought.is_empty() {
            return Ok(());
        }
        (&*self.shared).sync()?;
        self.shared.flash().save(brought)
    }

    fn keep(&self) -> io::Result<Kept> {
        let mut kept = Kept::AsFarAsCanBe;
        let Some(most_b) = self.most_b else {
            return Ok(kept);
        };
        let present_b = self.shared.flash().present_b();
        if present_b <= most_b || !self.is_connected() {
            return Ok(kept);
        }
        let mut excess_b = present_b - (most_b - most_b / SPARE);
        let mut given_up_b = 0;
        for id in self.uses.oldest() {
            if excess_b == 0 {
                break;
            }
            let Some(less_b) = self.give_up(id, excess_b)? else {
                kept = Kept::WithMemory;
                continue;
            };
            excess_b = excess_b.saturating_sub(less_b);
            given_up_b += less_b;
        }
        if given_up_b == 0 {
            return Ok(kept);
        }
        (&*self.shared).sync()?;
        self.shared.flash().let_go()?;
        self.counts
            .given_up_b
            .fetch_add(given_up_b, Ordering::Relaxed);
        Ok(kept)
    }

    /// Give up what is to be given up of a file. Returns the bytes; none if somebody may have memory of it.
    fn give_up(&self, id: NodeId, excess_b: u64) -> io::Result<Option<u64>> {
        let mut flash = self.shared.flash();
        let Ok(node) = flash.node(id) else {
            self.uses.forget(id);
            return Ok(Some(0));
        };
        let (inode, size_b) = (node.inode, node.attributes.size);
        let is_open = self.handles.of(id).is_some();
        let ranges = match flash.part(id) {
            Some(part) => to_give_up(part, &self.uses.pieces(id), excess_b, is_open),
            // The kernel or a program reads it without asking here.
            None if is_open || size_b < SMALL_B => return Ok(Some(0)),
            None if self.has_memory && flash.store().may_be_open(&flash.path(id)?) => {
                return Ok(None);
            }
            None => {
                self.uses.forget_pieces(id);
                let whole = Part::whole(inode, size_b);
                to_give_up(&whole, &self.uses.pieces(id), excess_b, false)
            }
        };
        let mut given_up_b = 0;
        for range in ranges {
            given_up_b += flash.give_up(id, range, &self.roles)?;
        }
        Ok(Some(given_up_b))
    }

    /// Whether the remote is there: what flash gives up can be read at once.
    fn is_connected(&self) -> bool {
        self.standings.look(|branches| {
            let remote = branches.get(&Role::Remote);
            remote.is_some_and(|remote| remote.phase.is_connected())
        })
    }
}
