//! What of a file is given up, when room is needed.

use std::ops::Range;

use crate::cache::Recent;
use crate::cache::part::{PIECE_B, Part};
use crate::ranges::Ranges;

/// A file that is not larger is given up whole, unless it is open. Bytes.
const WHOLE_MOST_B: u64 = 16 << 20;

/// So many pieces of an open file that were read last stay.
const IN_USE: usize = 8;

/// The ranges of a file to be given up so that so many bytes less are here, as far as there are: first
/// the end of what nobody read since it was opened, then what was not read for the longest time. `used`
/// are its pieces, by their number.
pub fn to_give_up(
    part: &Part,
    used: &Recent<u64>,
    excess_b: u64,
    is_open: bool,
) -> Vec<Range<u64>> {
    let size_b = part.status.size_b;
    if size_b <= WHOLE_MOST_B && !is_open {
        return part.here.iter().collect();
    }
    let stay = if is_open { IN_USE } else { 0 };
    let used_last: Vec<u64> = used.oldest().rev().take(stay).collect();
    let unused = (0..size_b.div_ceil(PIECE_B)).rev();
    let unused = unused.filter(|piece| !used.has(*piece));
    let in_order = unused.chain(used.oldest().filter(|piece| !used_last.contains(piece)));
    let mut given_up = Ranges::default();
    let mut here = part.here.clone();
    for piece in in_order {
        if given_up.count_b() >= excess_b {
            break;
        }
        let all = part.within(piece * PIECE_B..(piece + 1) * PIECE_B);
        let absent = here.gaps(all.clone());
        given_up.insert(all.clone());
        absent.into_iter().for_each(|gap| given_up.remove(gap));
        here.remove(all);
    }
    given_up.iter().collect()
}
