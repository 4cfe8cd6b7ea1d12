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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::io::Write;

    fn compressed(data: &[u8]) -> usize {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap().len()
    }

    #[test]
    fn data_compress_by_the_percentage_asked_for_as_a_whole_and_in_every_page() {
        for percent in [0.0, 10.0, 25.0, 50.0, 80.0, 100.0] {
            let mut data = vec![0; 1 << 18];
            fill_data(&mut data, percent, &mut Stream::new(1, &["data"]));
            let saved = |data: &[u8]| 100.0 * (1.0 - compressed(data) as f64 / data.len() as f64);
            assert!(
                (saved(&data) - percent).abs() < 2.0,
                "{percent}: {}",
                saved(&data)
            );
            for page in data.chunks(4096).step_by(16) {
                assert!(
                    (saved(page) - percent).abs() < 3.0,
                    "{percent}: {}",
                    saved(page)
                );
            }
            let pages: HashSet<&[u8]> = data.chunks(4096).collect();
            assert_eq!(pages.len(), 64, "pages must differ");
        }
    }
}
