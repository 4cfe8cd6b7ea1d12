//! Copying what a plan needs to a branch, before anything there changes its place.
//!
//! Of a file that the branch has in an older version, only what may be other is brought; the rest it
//! takes from its own, where that costs less.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use crate::branch::own;
use crate::branch::store::{PIECE_B, Store, if_allowed, named, remove_tree};
use crate::protocol::NodeId;
use crate::protocol::node::Expected;
use crate::protocol::plan::Put;
use crate::ranges::Ranges;

/// What a branch takes from its own begins and ends at multiples of this: file systems share whole
/// blocks, and to ask for less would cost more than it saves. Bytes.
const BLOCK_B: u64 = 4096;

/// So much is asked for at once: a server works on that even if the client has gone. Bytes.
const SHARE_MOST_B: u64 = 256 << 20;

/// The version of a file that a branch has.
pub struct Base {
    pub path: PathBuf,
    pub expected: Expected,
    /// Which of its bytes may be other than they are to be.
    pub dirty: Ranges,
}

impl Base {
    /// What stays as it is, in a file that will have so many bytes.
    fn clean(&self, size_b: u64) -> VecDeque<Range<u64>> {
        let end = size_b.min(self.expected.attributes.size) / BLOCK_B * BLOCK_B;
        self.dirty.rounded(BLOCK_B).gaps(0..end).into()
    }
}

/// Where the copy of a file waits.
pub fn place(put: &Put) -> PathBuf {
    own("stage").join(put.node.0.to_string())
}

/// Remove all copies that wait but those of these files.
pub fn keep_only(on: &mut impl Store, files: &BTreeSet<NodeId>) -> io::Result<()> {
    let kept: BTreeSet<OsString> = files.iter().map(|id| id.0.to_string().into()).collect();
    for name in on.list(&own("stage"))? {
        if !kept.contains(&name) {
            remove_tree(on, &own("stage").join(&name))?;
        }
    }
    Ok(())
}

/// The copy of a file, as far as it came.
pub struct Copy<'a, S> {
    to: &'a mut S,
    put: &'a Put,
    base: Option<&'a Base>,
    /// What is taken from the base, behind what is there.
    clean: VecDeque<Range<u64>>,
    /// What the base was when it was looked at.
    inode: Option<u64>,
    at_b: u64,
    brought_b: u64,
}

impl<'a, S: Store> Copy<'a, S> {
    pub fn begin(to: &'a mut S, put: &'a Put, base: Option<&'a Base>) -> io::Result<Self> {
        to.create(&place(put), 0o600).map_err(named(&put.path))?;
        let mut copy = Self {
            to,
            put,
            base,
            clean: VecDeque::new(),
            inode: None,
            at_b: 0,
            brought_b: 0,
        };
        if let Some(base) = base {
            copy.clean = base.clean(copy.size_b());
        }
        if !copy.clean.is_empty() {
            copy.inode = copy.found()?;
        }
        if copy.inode.is_none() {
            copy.clean.clear();
        }
        Ok(copy)
    }

    /// The inode of the base, if it is what was left there.
    fn found(&self) -> io::Result<Option<u64>> {
        let Some(base) = self.base else {
            return Ok(None);
        };
        let found = if_allowed(self.to.look(&base.path)).map_err(named(&base.path))?;
        let found = found.flatten().filter(|found| base.expected.is(found));
        Ok(found.map(|found| found.inode))
    }

    /// What is to be added next: nothing behind the end that the file is to have, though it may have grown
    /// meanwhile. What goes before that is there.
    pub fn wants(&mut self) -> io::Result<Range<u64>> {
        while let (Some(base), Some(next)) = (self.base, self.clean.front().cloned()) {
            if next.start > self.at_b {
                let end = next.start.min(self.at_b + PIECE_B as u64);
                return Ok(self.at_b..end);
            }
            let end = next.end.min(self.at_b + SHARE_MOST_B);
            match self.to.share(&base.path, &place(self.put), self.at_b..end) {
                Ok(true) => self.at_b = end,
                Ok(false) => self.clean.clear(),
                // It may be damaged there.
                Err(_) => self.begin_anew()?,
            }
            if self.at_b == next.end {
                self.clean.pop_front();
            }
        }
        let end = self.size_b().min(self.at_b + PIECE_B as u64);
        Ok(self.at_b..end.max(self.at_b))
    }

    /// Whether all is there.
    pub fn has_all(&self) -> bool {
        self.at_b >= self.size_b()
    }

    fn size_b(&self) -> u64 {
        self.put.expected.attributes.size
    }

    /// Add what was wanted, as far as the file goes.
    pub fn add(&mut self, piece: &[u8]) -> io::Result<()> {
        if !piece.is_empty() {
            let written = self.to.write_copy(&place(self.put), self.at_b, piece);
            written.map_err(named(&self.put.path))?;
            self.at_b += piece.len() as u64;
            self.brought_b += piece.len() as u64;
        }
        Ok(())
    }

    /// Dress it as it will be. Returns the bytes that were brought; none if others changed meanwhile what
    /// was taken from the branch: then all of it is wanted.
    pub fn end(&mut self) -> io::Result<Option<u64>> {
        if self.inode.is_some() && self.found()? != self.inode {
            self.begin_anew()?;
            return Ok(None);
        }
        let attributes = &self.put.expected.attributes;
        let dressed = self.to.dress(&place(self.put), attributes);
        dressed.map_err(named(&self.put.path))?;
        Ok(Some(self.brought_b))
    }

    /// Take nothing from the branch.
    fn begin_anew(&mut self) -> io::Result<()> {
        let place = place(self.put);
        let removed = self.to.remove_file(&place);
        let made = removed.and_then(|()| self.to.create(&place, 0o600));
        made.map_err(named(&self.put.path))?;
        self.clean.clear();
        self.inode = None;
        self.at_b = 0;
        Ok(())
    }
}
