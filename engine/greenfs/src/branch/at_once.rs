//! Files that get all of their data at once.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

use crate::branch::folder::Folder;
use crate::branch::own;
use crate::branch::store::{Store, if_allowed};
use crate::sys;

/// So much is written to a file by one step of the kernel.
const AT_ONCE_B: usize = 4096;

impl Folder {
    /// Give an empty file its data: who is killed leaves all or nothing, where the file system and the
    /// owners of the folder allow that.
    pub fn fill(&mut self, path: &Path, data: &[u8]) -> io::Result<()> {
        let found = self.reach(path)?.metadata()?;
        if data.len() <= AT_ONCE_B || found.nlink() > 1 {
            return self.write(path, 0, data);
        }
        let Some(mut new) = self.nameless(path, &found)? else {
            return self.write(path, 0, data);
        };
        new.write_all(data)?;
        new.set_permissions(found.permissions())?;
        let whole = own("whole");
        if self.look(&whole)?.is_some() {
            self.remove_file(&whole)?;
        }
        let whole_place = self.place(&whole)?;
        sys::link_node(&new, &whole_place.path)?;
        self.rename(&whole, path)
    }

    /// A file without a name, of the owner and the group of the one that it will replace; none if there
    /// can be none.
    fn nameless(&self, path: &Path, found: &Metadata) -> io::Result<Option<File>> {
        // There it gets the group that the other one got: a plain user may not be able to set that.
        let parent = self.place(path.parent().unwrap_or(Path::new("")))?;
        let mut options = OpenOptions::new();
        let options = options
            .write(true)
            .custom_flags(libc::O_TMPFILE | libc::O_NOFOLLOW)
            .mode(0o600);
        let Ok(new) = options.open(&parent.path) else {
            return Ok(None); // the file system knows no such files
        };
        let its = new.metadata()?;
        if (its.uid(), its.gid()) == (found.uid(), found.gid()) {
            return Ok(Some(new));
        }
        let owned = fchown(&new, Some(found.uid()), Some(found.gid()));
        Ok(if_allowed(owned)?.map(|()| new))
    }
}
