//! Copying what a plan needs to a branch, before anything there changes its place.

use std::io;
use std::path::{Path, PathBuf};

use crate::branch::own;
use crate::branch::store::{Store, named};
use crate::protocol::plan::Put;

const PIECE_B: usize = 1 << 20;

/// Which of the two sides of a copy failed.
#[derive(Debug)]
pub enum Trouble {
    Flash(io::Error),
    Branch(io::Error),
}

/// Where the copy of a file waits.
pub fn place(put: &Put) -> PathBuf {
    own("stage").join(put.node.0.to_string())
}

/// Copy a file from flash. Returns the bytes that were copied.
pub fn copy<S: Store>(flash: &S, from: &Path, to: &mut S, put: &Put) -> Result<u64, Trouble> {
    let on_flash = |error| Trouble::Flash(named(from)(error));
    let on_branch = |error| Trouble::Branch(named(&put.path)(error));
    let copy = place(put);
    to.create(&copy, 0o600).map_err(on_branch)?;
    let mut offset = 0;
    loop {
        let data = flash.read(from, offset, PIECE_B).map_err(on_flash)?;
        if !data.is_empty() {
            to.write(&copy, offset, &data).map_err(on_branch)?;
        }
        offset += data.len() as u64;
        if data.len() < PIECE_B {
            break;
        }
    }
    to.dress(&copy, &put.expected.attributes)
        .map_err(on_branch)?;
    Ok(offset)
}
