//! READ: what is asked for, and what is read ahead of it.

use std::io;
use std::ops::Range;

use readahead::Request;

use super::open::OpenFile;
use super::served::{Asked, Export};
use super::tree::Id;
use crate::lock::locked;
use crate::protocol::nfs3::{Status, put_some_attributes};
use crate::protocol::xdr::Write;
use crate::sys;

/// The least that the disk is asked for where something is left of what was read ahead: as
/// `cluster_kib` of a simulation.
const CLUSTER_B: u64 = 64 * 1024;

/// The number of bytes, whether they are the last, and the number once more, before the bytes.
const COUNTS_B: usize = 12;

/// Write the results of reading a range of a file, asked for by a call of this number.
pub fn file(
    export: &Export,
    id: Id,
    range: Range<u64>,
    (xid, asked): (u32, Asked),
    out: &mut Vec<u8>,
) -> Result<(), Status> {
    let open = export.open.get(id, &export.tree)?;
    let found = open.file.metadata()?;
    let within = range.start..range.end.min(found.len());
    if asked.is_repeated {
        export.ahead.repeated();
    } else if !within.is_empty() {
        let request = Request {
            file: id.inode,
            offset_b: range.start,
            count_b: range.end - range.start,
        };
        let decision = export.ahead.decide(request, asked.peer, xid);
        read_ahead(
            &open,
            &within,
            decision.ahead_b.min(found.len() - within.end),
        );
    }
    put_some_attributes(out, &found);
    let counts = out.len();
    let data = counts + COUNTS_B;
    out.resize(data, 0);
    let got_b = read_whole(&open, out, &within)?;
    let is_last = range.start.saturating_add(got_b as u64) >= found.len();
    let words = [got_b as u32, is_last.into(), got_b as u32].map(u32::to_be_bytes);
    out[counts..data].copy_from_slice(words.as_flattened());
    out.pad(got_b);
    Ok(())
}

fn read_ahead(open: &OpenFile, read: &Range<u64>, ahead_b: u64) {
    let due = locked(&open.windows).due(read.end, ahead_b, CLUSTER_B);
    if let Some(due) = due {
        // What follows on what is asked for makes one command with it.
        let from = if due.start == read.end {
            read.start
        } else {
            due.start
        };
        // Only advice: what the kernel makes of it shows in how long reads take.
        let _ = sys::advise(&open.file, from, due.end - from, libc::POSIX_FADV_WILLNEED);
    }
}

/// Read a range that may be empty, up to the end of the file, and say how much that was.
fn read_whole(open: &OpenFile, out: &mut Vec<u8>, range: &Range<u64>) -> io::Result<usize> {
    let before = out.len();
    let mut at = range.start;
    while at < range.end {
        match sys::read_at(&open.file, out, at, (range.end - at) as usize) {
            Ok(0) => break,
            Ok(more_b) => at += more_b as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(out.len() - before)
}
