//! The Zipf distribution, in constant time and without tables.

use super::Stream;

/// Ranks from 0 to `count` - 1, the k-th with a probability proportional to k^-theta (k from 1).
///
/// Rejection-inversion (Hoermann and Derflinger, 1996): invert the integral of x^-theta, round,
/// and reject what lies outside of the histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Zipf {
    count: f64,
    theta: f64,
    /// The integral at both ends; the lower end makes the first rank exact.
    lowest: f64,
    highest: f64,
    /// Whoever is rounded up by no more than this is accepted at once.
    shortcut: f64,
}

impl Zipf {
    /// An exponent of 0 or more, and at least one rank.
    pub fn new(count: u64, theta: f64) -> Self {
        let count = count.max(1) as f64;
        let mut zipf = Self {
            count,
            theta,
            lowest: 0.0,
            highest: 0.0,
            shortcut: 0.0,
        };
        zipf.lowest = zipf.integral(1.5) - 1.0;
        zipf.highest = zipf.integral(count + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    pub fn sample(&self, stream: &mut Stream) -> u64 {
        loop {
            let u = self.highest + stream.unit() * (self.lowest - self.highest);
            let x = self.inverse(u);
            let rank = x.round().clamp(1.0, self.count);
            if rank - x <= self.shortcut || u >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        x.powf(-self.theta)
    }

    /// The integral of the density from 1 to x: (x^(1-theta) - 1) / (1-theta), or ln x.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let scaled = (1.0 - self.theta) * log;
        if scaled.abs() < f64::EPSILON {
            log
        } else {
            log * scaled.exp_m1() / scaled
        }
    }

    fn inverse(&self, u: f64) -> f64 {
        // Rounding may lead below -1, where there is no x.
        let scaled = (u * (1.0 - self.theta)).max(-1.0);
        if scaled.abs() < f64::EPSILON {
            u.exp()
        } else {
            (u * scaled.ln_1p() / scaled).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the frequencies of some ranks are from theory, in deviations.
    fn deviations(count: u64, theta: f64) -> Vec<f64> {
        let draws = 300_000;
        let zipf = Zipf::new(count, theta);
        let mut stream = Stream::new(5, &["zipf"]);
        let mut seen = vec![0u32; count as usize];
        for _ in 0..draws {
            seen[zipf.sample(&mut stream) as usize] += 1;
        }
        let weights: Vec<f64> = (1..=count).map(|k| (k as f64).powf(-theta)).collect();
        let all: f64 = weights.iter().sum();
        // Ranks from 2^n to 2^(n+1) together, so that each class has enough draws.
        let mut classes = vec![(0.0, 0.0); count.ilog2() as usize + 1];
        for (rank, weight) in weights.iter().enumerate() {
            let class = &mut classes[(rank as u64 + 1).ilog2() as usize];
            class.0 += weight / all;
            class.1 += f64::from(seen[rank]);
        }
        let draws = f64::from(draws);
        let deviation = |(p, n): (f64, f64)| (n - draws * p) / (draws * p * (1.0 - p)).sqrt();
        classes
            .into_iter()
            .filter(|class| class.0 < 1.0)
            .map(deviation)
            .collect()
    }

    #[test]
    fn ranks_have_the_frequencies_of_theory_for_any_exponent() {
        for theta in [0.0, 0.2, 0.5, 0.99, 1.0, 1.0 + 1e-12, 1.01, 1.5, 2.0, 4.0] {
            for count in [1, 2, 3, 10, 1000, 100_000] {
                let found = deviations(count, theta);
                assert!(
                    found.iter().all(|d| d.abs() < 5.0),
                    "{theta} of {count}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn single_popular_ranks_are_exact() {
        let zipf = Zipf::new(1_000_000, 0.99);
        let mut stream = Stream::new(6, &["zipf"]);
        let draws = 1_000_000;
        let mut seen = [0u32; 5];
        for _ in 0..draws {
            let rank = zipf.sample(&mut stream);
            assert!(rank < 1_000_000);
            if rank < 5 {
                seen[rank as usize] += 1;
            }
        }
        let all: f64 = (1..=1_000_000).map(|k| f64::from(k).powf(-0.99)).sum();
        for (rank, count) in seen.iter().enumerate() {
            let expected = f64::from(draws) * (rank as f64 + 1.0).powf(-0.99) / all;
            let deviation = (f64::from(*count) - expected) / expected.sqrt();
            assert!(
                deviation.abs() < 5.0,
                "{rank}: {count} instead of {expected}"
            );
        }
    }
}
