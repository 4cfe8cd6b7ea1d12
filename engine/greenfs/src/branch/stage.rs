//! Copying what a plan needs to a branch, before anything there changes its place.

use std::io;
use std::path::PathBuf;

use crate::branch::own;
use crate::branch::store::{Store, named};
use crate::protocol::plan::Put;

/// Where the copy of a file waits.
pub fn place(put: &Put) -> PathBuf {
    own("stage").join(put.node.0.to_string())
}

/// The copy of a file, as far as it came.
pub struct Copy<'a, S> {
    to: &'a mut S,
    put: &'a Put,
    copied_b: u64,
}

impl<'a, S: Store> Copy<'a, S> {
    pub fn begin(to: &'a mut S, put: &'a Put) -> io::Result<Self> {
        to.create(&place(put), 0o600).map_err(named(&put.path))?;
        Ok(Self {
            to,
            put,
            copied_b: 0,
        })
    }

    pub fn copied_b(&self) -> u64 {
        self.copied_b
    }

    pub fn add(&mut self, piece: &[u8]) -> io::Result<()> {
        if !piece.is_empty() {
            let written = self.to.write(&place(self.put), self.copied_b, piece);
            written.map_err(named(&self.put.path))?;
            self.copied_b += piece.len() as u64;
        }
        Ok(())
    }

    /// Dress it as it will be. Returns its bytes.
    pub fn end(self) -> io::Result<u64> {
        let dressed = self
            .to
            .dress(&place(self.put), &self.put.expected.attributes);
        dressed.map_err(named(&self.put.path))?;
        Ok(self.copied_b)
    }
}
