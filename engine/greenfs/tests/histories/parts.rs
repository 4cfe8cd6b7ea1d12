//! Files that are not whole on flash, as whoever reads flash itself finds them.

use std::collections::HashMap;
use std::path::Path;

use greenfs::branch::store::{Store, read_whole};
use greenfs::cache::part::Status;
use greenfs::journal::frame;
use greenfs::ranges::Ranges;

use crate::operation::{Shape, shape};

/// The mode that says it.
const MARK: u32 = 0o1000;

/// What the status files say, by the inode.
fn statuses(flash: &impl Store) -> HashMap<u64, Ranges> {
    let folder = Path::new(".greenfs/parts");
    let mut statuses = HashMap::new();
    for name in flash.list(folder).unwrap_or_default() {
        if name
            .to_str()
            .is_some_and(|name| name.parse::<u64>().is_ok())
        {
            let text = read_whole(flash, &folder.join(name)).expect("it can be read");
            let text = text.expect("it is there");
            let status = text.strip_suffix(b"\n").and_then(frame::value::<Status>);
            if let Some(status) = status {
                statuses.insert(status.inode, status.here);
            }
        }
    }
    statuses
}

/// What flash holds. Of a file that says that it is not whole, what its status file does not claim is
/// taken from what there should be, and so is its mode.
pub fn unveiled(flash: &impl Store, should: &Shape) -> Shape {
    let mut shape = shape(flash, false);
    let statuses = statuses(flash);
    for (path, seen) in &mut shape {
        let Some(should) = should.get(path).filter(|_| seen.mode & !0o600 == MARK) else {
            continue;
        };
        let found = flash.look(path).expect("it can be read");
        let found = found.expect("it is there");
        let unknown = Ranges::default();
        let here = statuses.get(&found.inode).unwrap_or(&unknown);
        for gap in here.gaps(0..seen.data.len().min(should.data.len()) as u64) {
            let gap = gap.start as usize..gap.end as usize;
            seen.data[gap.clone()].copy_from_slice(&should.data[gap]);
        }
        seen.mode = should.mode;
    }
    shape
}
