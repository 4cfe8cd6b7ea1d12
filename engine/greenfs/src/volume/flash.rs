//! Flash with its journal, and how it goes on by a record.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use crate::branch::own;
use crate::branch::store::{Store, replace};
use crate::journal::{checkpoint, frame};
use crate::protocol::dirty::Dirty;
use crate::protocol::{
    Behind, Catalogue, Change, Changes, Found, Kind, Node, NodeId, Record, Role, State,
};
use crate::volume::marks::Parts;

pub(super) const CHECKPOINT: &str = "checkpoint";
pub const JOURNAL: &str = "journal";

/// A journal that is longer than this, and than what the last checkpoint had, is begun anew. Bytes.
const JOURNAL_MOST_B: u64 = 4 << 20;

/// One that is so many times as long is begun anew at once, whoever waits for it.
const JOURNAL_LONGEST: u64 = 2;

/// Identities from here on are of devices, sockets and pipes, for as long as the volume is open.
pub(super) const OTHERS_FROM: u64 = 1 << 62;

/// What fsync(2) says if something that was written is lost; its other errors come before it begins.
const LOST: [i32; 3] = [libc::EIO, libc::ENOSPC, libc::EDQUOT];

pub struct Flash<S> {
    /// For messages.
    pub(super) name: PathBuf,
    pub(super) store: S,
    pub(super) id: String,
    pub(super) state: State,
    pub(super) journal_b: u64,
    pub(super) checkpoint_b: u64,
    /// A checkpoint found no room, and none is tried before the journal is longer than this.
    pub(super) again_b: u64,
    pub(super) why_long: Option<String>,
    /// The journal is durable up to this record.
    pub(super) durable: u64,
    /// Files that were written to, and whose new size and time are not in the journal (`Flash::written`).
    pub(super) written: HashSet<NodeId>,
    /// Which bytes of them changed that the journal does not say yet.
    pub(super) unnoted: Dirty,
    /// Writes that are being done, by file.
    pub(super) writing: HashMap<NodeId, u32>,
    /// Files that programs may change through memory that they share, without a word, and how many
    /// have them open. Such memory may stay when they are closed: so do they here, as long as it may.
    pub(super) shared: BTreeMap<NodeId, u32>,
    /// What they were like before anybody could change them, where their time tells of any change since.
    pub(super) before: BTreeMap<NodeId, Found>,
    /// Those of which the kernel never says whether that memory is gone.
    pub(super) untellable: HashSet<NodeId>,
    /// Files of which the journal says that their time does not tell further changes, and since which
    /// record: such a one counts as changed when the volume is opened.
    pub(super) fresh: BTreeMap<NodeId, u64>,
    /// Devices, sockets, pipes and mounts: no branch has them, nor has the journal.
    pub(super) others: Catalogue,
    pub(super) next_other: u64,
    /// Files that are not whole.
    pub(super) parts: Parts,
    /// Branches that are being looked at: what they lack is not all known.
    pub(super) surveyed: BTreeSet<Role>,
    /// The journal lacks something that was done, or may: only opening the volume again mends that.
    pub(super) is_broken: bool,
}

impl<S: Store> Flash<S> {
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Which volume it is of.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What flash itself is.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Whether a branch that was looked at has everything that is written down.
    pub fn has_all(&self, role: Role) -> bool {
        let behind = self.behind(role);
        behind.is_some_and(|behind| behind.touched.is_empty() && behind.pushing.is_none())
    }

    /// How many devices, sockets, pipes and mounts there are: no branch has them.
    pub fn left_out(&self) -> usize {
        self.others.nodes().len()
    }

    /// Write a record, then go on by it.
    ///
    /// # Errors
    /// If the journal is broken, also by this record.
    pub(super) fn record(&mut self, change: Change) -> io::Result<()> {
        self.check_journal()?;
        let seq = self.state.seq + 1;
        self.note_fresh(seq, &change);
        let record = Record { seq, change };
        self.is_broken = true;
        let line = frame::line(&record)?;
        self.store.write(&own(JOURNAL), self.journal_b, &line)?;
        self.state.apply(record).map_err(io::Error::other)?;
        self.is_broken = false;
        self.journal_b += line.len() as u64;
        if self.journal_b > self.again_b.max(JOURNAL_LONGEST * self.journal_most_b()) {
            self.shorten_journal();
        }
        self.check_journal()
    }

    fn journal_most_b(&self) -> u64 {
        JOURNAL_MOST_B.max(self.checkpoint_b)
    }

    /// Whether the journal is to be begun anew, when nobody waits for that.
    pub fn has_long_journal(&self) -> bool {
        self.journal_b > self.again_b.max(self.journal_most_b())
    }

    /// Begin the journal anew if a checkpoint has room. Else it goes on, and that is tried again when it has grown.
    pub fn shorten_journal(&mut self) {
        let shortened = self.shorten();
        if shortened.is_err() {
            self.again_b = self.journal_b + JOURNAL_MOST_B / 8;
        }
        self.why_long = shortened.err().map(|error| error.to_string());
    }

    fn shorten(&mut self) -> io::Result<()> {
        match self.store.free_b()? < 2 * self.checkpoint_b {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => self.compact(),
        }
    }

    /// Why no checkpoint could take the place of a long journal when that was tried last.
    pub fn why_long(&self) -> Option<String> {
        self.why_long.clone()
    }

    /// See that the journal has all that was done.
    ///
    /// # Errors
    /// If it lacks something, or may: nothing that comes after passes for durable.
    pub fn check_journal(&self) -> io::Result<()> {
        match self.is_broken {
            true => Err(io::Error::other(
                "what was done could not be written down, or not durably",
            )),
            false => Ok(()),
        }
    }

    /// Make all of flash durable. The store has an opening of its own, so the kernel tells it of a failure
    /// whoever was told before.
    pub(super) fn sync_all(&mut self) -> io::Result<()> {
        self.check_journal()?;
        let done = self.store.sync_all();
        self.note_synced(done)
    }

    /// Flash was made durable, or `done` says why not. The kernel says that once, and then takes what is
    /// lost for written: so it is remembered here.
    pub fn note_synced(&mut self, done: io::Result<()>) -> io::Result<()> {
        let is_lost =
            |error: &io::Error| error.raw_os_error().is_none_or(|raw| LOST.contains(&raw));
        self.is_broken |= done.as_ref().is_err_and(is_lost);
        done
    }

    /// Write down nodes as they are from now on; those that no branch has are only remembered.
    pub(super) fn record_nodes(&mut self, changes: Changes) -> io::Result<()> {
        let is_other = |(id, _): &(NodeId, Option<Node>)| id.0 >= OTHERS_FROM;
        let (others, nodes): (Changes, Changes) = changes.into_iter().partition(is_other);
        for (id, node) in others {
            self.others.set(id, node);
        }
        if nodes.is_empty() {
            return Ok(());
        }
        let gone = nodes.iter().filter(|(_, node)| node.is_none());
        let gone: Vec<NodeId> = gone.map(|(id, _)| *id).collect();
        self.record(Change::Nodes(nodes))?;
        gone.into_iter().try_for_each(|id| self.forget_part(id))
    }

    /// An identity that was never given.
    pub(super) fn new_id(&mut self, kind: &Kind) -> NodeId {
        match kind {
            Kind::Other => {
                self.next_other += 1;
                NodeId(self.next_other - 1)
            }
            _ => NodeId(self.state.next_node),
        }
    }

    /// Put a checkpoint in the place of the journal.
    pub fn compact(&mut self) -> io::Result<()> {
        self.sync_all()?;
        let text = checkpoint::written(&self.state)?;
        replace(&mut self.store, &own(CHECKPOINT), &text)?;
        self.store.truncate(&own(JOURNAL), 0)?;
        (self.journal_b, self.again_b) = (0, 0);
        self.checkpoint_b = text.len() as u64;
        self.sync_all()?;
        self.note_durable(self.state.seq);
        Ok(())
    }

    pub(super) fn behind(&self, role: Role) -> Option<&Behind> {
        self.state.behind.get(&role)
    }
}
