//! The four heuristics, by what they keep of a file.

use serde::{Deserialize, Serialize};

use crate::cursor::{Cursor, MOST_COUNT, NEAR_B};
use crate::request::Request;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Heuristic {
    /// That of FreeBSD 4: a request out of order ends all read-ahead.
    #[default]
    Default,
    /// Read ahead whatever is read.
    Always,
    /// Requests that are a little out of order change nothing, others halve the count (section 6.2).
    SlowDown,
    /// A count for each of several places that a file is read at (section 7).
    Cursors,
}

impl Heuristic {
    /// The count after a request, of a file that is read at these places: the one that was not
    /// used for longest stands first. At most `pool` of them are kept.
    pub fn count(self, cursors: &mut Vec<Cursor>, pool: usize, request: Request) -> u32 {
        match self {
            Self::Always => MOST_COUNT,
            Self::Default => only(cursors, request, Cursor::note),
            Self::SlowDown => only(cursors, request, Cursor::note_slowly),
            Self::Cursors => nearest(cursors, pool, request),
        }
    }
}

fn only(cursors: &mut Vec<Cursor>, request: Request, note: fn(&mut Cursor, Request)) -> u32 {
    match cursors.last_mut() {
        Some(cursor) => note(cursor, request),
        None => cursors.push(Cursor::new(request)),
    }
    cursors.last().map_or(0, |cursor| cursor.count())
}

/// The cursor that a request belongs to goes on; one that belongs to none begins another.
fn nearest(cursors: &mut Vec<Cursor>, pool: usize, request: Request) -> u32 {
    // Of those equally near the one that was used last.
    let near = (0..cursors.len())
        .rev()
        .filter(|&nth| cursors[nth].distance_b(request) <= NEAR_B)
        .min_by_key(|&nth| cursors[nth].distance_b(request));
    let cursor = match near {
        Some(nth) => {
            let mut cursor = cursors.remove(nth);
            cursor.note_slowly(request);
            cursor
        }
        None => Cursor::new(request),
    };
    if cursors.len() >= pool.max(1) {
        cursors.remove(0);
    }
    cursors.push(cursor);
    cursor.count()
}
