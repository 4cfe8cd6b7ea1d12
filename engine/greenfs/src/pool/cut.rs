//! Where chunks begin: where the bytes before say so, and not the place in the file. So what was
//! inserted moves no border behind it.

use fastcdc::v2020::{FastCDC, Normalization};

const LEAST_B: usize = 16 << 10;
const AVERAGE_B: usize = 64 << 10;

/// No chunk is longer.
pub const MOST_B: usize = 256 << 10;

/// Cut the first chunk off data. It is the right one only if the file ends with them, or they are at least
/// as long as a chunk can be. Returns its bytes: 0 if there are no data.
pub fn first(data: &[u8], seed: u64) -> usize {
    let level = Normalization::Level1;
    let cutter = FastCDC::with_level_and_seed(data, LEAST_B, AVERAGE_B, MOST_B, level, seed);
    let (_, end) = cutter.cut(0, data.len());
    end
}
