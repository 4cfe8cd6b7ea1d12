//! Log-linear histograms of nanoseconds: 32 buckets an octave, so that a bucket is at most 1/32
//! of its lower bound wide; below 64 ns every value has its own. Merging is adding.

/// Octaves above the linear part; longer times (over 73 minutes) fall into the last bucket.
const OCTAVES: usize = 36;
const PER_OCTAVE: usize = 32;

pub const BUCKETS: usize = (OCTAVES + 2) * PER_OCTAVE;

/// Lower bound and upper bound (outside) in nanoseconds, and how many values lie between.
pub type Bucket = (u64, u64, u64);

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

/// The buckets that hold anything.
pub fn filled(counts: &[u64]) -> Vec<Bucket> {
    let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    filled
        .map(|(bucket, &count)| {
            let (lower_ns, upper_ns) = bounds_ns(bucket);
            (lower_ns, upper_ns, count)
        })
        .collect()
}

/// The quantile `q`, as the upper bound of the bucket that it falls in.
pub fn quantile_ns(buckets: &[Bucket], q: f64) -> Option<u64> {
    let total: u64 = buckets.iter().map(|bucket| bucket.2).sum();
    let rank = ((q * total as f64).ceil() as u64).max(1);
    let mut reached = 0;
    buckets.iter().find_map(|&(_, upper_ns, count)| {
        reached += count;
        (reached >= rank).then_some(upper_ns)
    })
}

/// The same values in one bucket for each power of two, from the first that is filled to the last.
pub fn octaves(buckets: &[Bucket]) -> Vec<Bucket> {
    let octave = |ns: u64| ns.max(1).ilog2();
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else {
        return Vec::new();
    };
    (octave(first.0)..=octave(last.0))
        .map(|power| {
            let inside = buckets.iter().filter(|bucket| octave(bucket.0) == power);
            (1 << power, 2 << power, inside.map(|bucket| bucket.2).sum())
        })
        .collect()
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

    fn histogram(values: impl Iterator<Item = u64>) -> Vec<Bucket> {
        let mut counts = [0; BUCKETS];
        values.for_each(|ns| counts[bucket_of(ns)] += 1);
        filled(&counts)
    }

    #[test]
    fn quantiles_are_those_of_the_values_to_a_bucket() {
        let buckets = histogram(1..=100_000);
        for q in [0.01, 0.5, 0.99, 0.999] {
            let exact = q * 100_000.0;
            let above = quantile_ns(&buckets, q).unwrap() as f64 - exact;
            assert!((0.0..=exact / 32.0 + 1.0).contains(&above), "{q}: {above}");
        }
        assert_eq!(quantile_ns(&[], 0.5), None);
    }

    #[test]
    fn octaves_keep_every_value() {
        let buckets = histogram([0, 1, 2, 3, 4, 1000, 1023, 1024].into_iter());
        let octaves = octaves(&buckets);
        assert_eq!(octaves[..3], [(1, 2, 2), (2, 4, 2), (4, 8, 1)]);
        assert_eq!(octaves[9..], [(512, 1024, 2), (1024, 2048, 1)]);
        assert_eq!(octaves.len(), 11);
    }
}
