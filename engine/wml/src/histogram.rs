//! Log-linear histograms of nanoseconds: 32 buckets an octave, so that a bucket is at most 1/32
//! of its lower bound wide; below 64 ns every value has its own. Merging is adding.

/// Octaves above the linear part; longer times (over 73 minutes) fall into the last bucket.
const OCTAVES: usize = 36;
const PER_OCTAVE: usize = 32;

pub const BUCKETS: usize = (OCTAVES + 2) * PER_OCTAVE;

pub fn bucket_of(ns: u64) -> usize {
    if ns < 2 * PER_OCTAVE as u64 {
        return ns as usize;
    }
    let shift = (ns.ilog2() - PER_OCTAVE.ilog2()) as usize;
    (shift * PER_OCTAVE + (ns >> shift) as usize).min(BUCKETS - 1)
}

/// The half-open range of nanoseconds of a bucket.
pub fn bounds_ns(bucket: usize) -> (u64, u64) {
    if bucket < 2 * PER_OCTAVE {
        return (bucket as u64, bucket as u64 + 1);
    }
    let shift = bucket / PER_OCTAVE - 1;
    let mantissa = (bucket % PER_OCTAVE + PER_OCTAVE) as u64;
    (mantissa << shift, (mantissa + 1) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_line_and_hold_what_falls_into_them() {
        let mut end = 0;
        for bucket in 0..BUCKETS {
            let (lower, upper) = bounds_ns(bucket);
            assert_eq!(lower, end, "a gap before bucket {bucket}");
            assert!(upper > lower && (upper - lower) * 32 <= lower.max(32));
            assert_eq!(bucket_of(lower), bucket);
            assert_eq!(bucket_of(upper - 1), bucket);
            end = upper;
        }
        assert!(end > 73 * 60 * 1_000_000_000);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }
}
