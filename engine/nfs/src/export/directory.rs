//! READDIR and READDIRPLUS.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};

use super::tree::{Id, Tree};
use crate::protocol::nfs3::{Status, put_some_attributes};
use crate::protocol::xdr::Write;

/// The part of a folder that is asked for.
pub struct Page {
    /// How many names the client has, and of which state of the folder.
    pub cookie: u64,
    pub verifier: u64,
    pub room_b: usize,
    pub with_files: bool,
}

/// Behind the entries: that none follows, and whether these were the last.
const END_B: usize = 8;

/// Write names of a folder, in their order, from one on. A folder that changed must be read anew.
pub fn put(tree: &Tree, id: Id, page: &Page, out: &mut Vec<u8>) -> Result<(), Status> {
    let folder = tree.open(id, libc::O_RDONLY | libc::O_DIRECTORY)?;
    let found = folder.metadata()?;
    let verifier = (found.mtime() << 30 ^ found.mtime_nsec()) as u64;
    if page.cookie != 0 && page.verifier != verifier {
        return Err(Status::BadCookie);
    }
    let begin = out.len();
    put_some_attributes(out, &found);
    out.hyper(verifier);
    let names = names(&folder)?;
    let first = usize::try_from(page.cookie)
        .unwrap_or(usize::MAX)
        .min(names.len());
    let mut is_last = true;
    for (nth, (name, inode)) in names.iter().enumerate().skip(first) {
        let whole = out.len();
        out.word(1);
        out.hyper(*inode);
        out.opaque(name);
        out.hyper(nth as u64 + 1);
        if page.with_files {
            put_file(tree, id, name, out);
        }
        if out.len() - begin + END_B > page.room_b {
            out.truncate(whole);
            is_last = false;
            if nth == first {
                return Err(Status::TooSmall);
            }
            break;
        }
    }
    out.word(0);
    out.word(is_last.into());
    Ok(())
}

/// All names with their inodes, those of the folder itself and the one above first.
fn names(folder: &fs::File) -> Result<Vec<(Vec<u8>, u64)>, Status> {
    let inode = folder.metadata()?.ino();
    let mut names = Vec::new();
    for entry in fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))? {
        let entry = entry?;
        names.push((entry.file_name().into_vec(), entry.ino()));
    }
    names.sort_unstable();
    names.splice(..0, [(b".".to_vec(), inode), (b"..".to_vec(), inode)]);
    Ok(names)
}

/// Attributes and handle; neither, of a file that went meanwhile.
fn put_file(tree: &Tree, folder: Id, name: &[u8], out: &mut Vec<u8>) {
    match tree.look_up(folder, name) {
        Ok(found) => {
            put_some_attributes(out, &found);
            out.word(1);
            out.opaque(&tree.handle(Id::of(&found)));
        }
        Err(_) => out.extend([0; 8]),
    }
}
