//! What is written into files.

use crate::random::Stream;

/// Compressors and file systems work on units of at least this size.
const UNIT_B: usize = 4096;

/// Fill a buffer with bytes of which a compressor saves so many percent: each unit begins with
/// bytes that do not compress and ends with a short pattern, another one in each unit.
pub fn fill_data(buffer: &mut [u8], compress_percent: f64, stream: &mut Stream) {
    if compress_percent <= 0.0 {
        return stream.fill(buffer);
    }
    let kept = 1.0 - compress_percent.min(100.0) / 100.0;
    for unit in buffer.chunks_mut(UNIT_B) {
        let (random, patterned) = unit.split_at_mut((unit.len() as f64 * kept).round() as usize);
        stream.fill(random);
        let pattern = stream.next_u64().to_le_bytes();
        for chunk in patterned.chunks_mut(pattern.len()) {
            chunk.copy_from_slice(&pattern[..chunk.len()]);
        }
    }
}
