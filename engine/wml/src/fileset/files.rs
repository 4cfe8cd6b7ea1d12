//! The files and leaf directories of a fileset, and which of them exist.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::layout::Layout;
use super::population::{Aim, Pick, Population};
use crate::failure::Failure;
use crate::model::Fileset;
use crate::random::scale;
use crate::shared;

pub struct Files {
    pub fileset: Fileset,
    pub layout: Layout,
    files: Population,
    leafdirs: Population,
    next_directory: &'static AtomicU64,
}

/// A file that one thread alone has: it must be settled.
#[must_use]
pub struct Claim {
    pub entry: usize,
}

/// A leaf directory that one thread alone has: it must be settled.
#[must_use]
pub struct LeafClaim {
    pub leafdir: usize,
}

impl Files {
    /// The files of a fileset as they are when its tree has just been prepared. Fails if the tree
    /// is impossible or there is no memory.
    pub fn new(fileset: Fileset, seed: u64) -> Result<Self, Failure> {
        let layout = Layout::new(&fileset, seed)?;
        let files = Population::new(layout.entries.iter().map(|entry| entry.preallocated))?;
        let leafdirs = Population::new(layout.leafdirs.iter().map(|leaf| leaf.preallocated))?;
        Ok(Self {
            fileset,
            layout,
            files,
            leafdirs,
            next_directory: shared::one()?,
        })
    }

    /// Before the threads of a run start; `are_claimed` says whether its flowops claim files.
    pub fn begin_run(&mut self, are_claimed: bool) {
        self.files.begin_run(are_claimed);
    }

    /// How many files exist now; those that are created or deleted at the moment are not counted.
    pub fn existing(&self) -> u64 {
        self.files.existing()
    }

    /// Whether no file is left to create.
    pub fn is_full(&self) -> bool {
        self.files.is_full()
    }

    /// Whether no file is left to open or delete.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Use an existing file; [`Self::release`] it afterwards.
    pub fn acquire(&self, pick: Pick) -> Option<usize> {
        self.files.take(pick, Aim::Use)
    }

    pub fn release(&self, entry: usize) {
        self.files.release(entry);
    }

    /// Claim an absent entry, to create it.
    pub fn claim_absent(&self, pick: Pick) -> Option<Claim> {
        let entry = self.files.take(pick, Aim::Create)?;
        Some(Claim { entry })
    }

    /// Claim an existing file that nobody uses, to delete it. Files in use are passed over, so
    /// that deletes keep pace with creates however many files are open.
    pub fn claim_unused(&self, pick: Pick) -> Option<Claim> {
        let entry = self.files.take(pick, Aim::Delete)?;
        Some(Claim { entry })
    }

    /// Claim a file whose only user is the caller, to delete it.
    pub fn claim_own(&self, entry: usize) -> Option<Claim> {
        self.files.claim_own(entry).then_some(Claim { entry })
    }

    /// Claim a file that the caller has closed, if nobody else uses it, to delete it.
    pub fn claim_closed(&self, entry: usize) -> Option<Claim> {
        self.files.claim_unused(entry).then_some(Claim { entry })
    }

    /// The claimed file exists now, with so many users.
    pub fn settle_existing(&self, claim: Claim, users: u32) {
        self.files.settle_existing(claim.entry, users);
    }

    /// The claimed file does not exist now.
    pub fn settle_absent(&self, claim: Claim) {
        self.files.settle_absent(claim.entry);
    }

    /// A directory that always exists: the root and those between it and the files. The rotor
    /// goes round them in the order of their creation.
    pub fn directory(&self, pick: Pick) -> usize {
        let count = self.layout.directories.len() as u64;
        let number = match pick {
            Pick::Rotor | Pick::Turns(_) => self.next_directory.fetch_add(1, Relaxed),
            Pick::Own(own) => {
                *own += 1;
                *own - 1
            }
            Pick::At(number) => number,
            Pick::Uniform(random) => scale(random, count),
        };
        (number % count) as usize
    }

    /// Whether no leaf directory is left to make.
    pub fn leafdirs_full(&self) -> bool {
        self.leafdirs.is_full()
    }

    /// Whether no leaf directory is left to remove.
    pub fn leafdirs_empty(&self) -> bool {
        self.leafdirs.is_empty()
    }

    /// Claim an absent leaf directory, to make it.
    pub fn claim_absent_leafdir(&self, pick: Pick) -> Option<LeafClaim> {
        let leafdir = self.leafdirs.take(pick, Aim::Create)?;
        Some(LeafClaim { leafdir })
    }

    /// Claim an existing leaf directory, to remove it.
    pub fn claim_existing_leafdir(&self, pick: Pick) -> Option<LeafClaim> {
        let leafdir = self.leafdirs.take(pick, Aim::Delete)?;
        Some(LeafClaim { leafdir })
    }

    /// Whether the claimed leaf directory exists now.
    pub fn settle_leafdir(&self, claim: LeafClaim, exists: bool) {
        if exists {
            self.leafdirs.settle_existing(claim.leafdir, 0);
        } else {
            self.leafdirs.settle_absent(claim.leafdir);
        }
    }
}
