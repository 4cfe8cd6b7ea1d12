//! Seeded streams and the distributions of random variables.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2021), seeded through SplitMix64 from the
//! run's seed and the name of the stream, so that streams are independent of one another and of
//! how many there are.

mod custom;
mod distribution;

pub use custom::{Custom, Kind};
pub use distribution::{Amount, Distribution, Segment, Shape};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream of a seed that `path` names, such as `["thread", "2", "17"]`.
    pub fn new(seed: u64, path: &[&str]) -> Self {
        let mut key = seed;
        for name in path {
            for &byte in name.as_bytes().iter().chain(&[0xff]) {
                key = split_mix(&mut key) ^ u64::from(byte);
            }
        }
        Self {
            state: std::array::from_fn(|_| split_mix(&mut key)),
        }
    }

    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [0, bound); 0 if the bound is 0. Lemire's multiplication, biased by under 2^-32
    /// for any bound below 2^32.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Fill a buffer with bytes that do not compress.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Fisher and Yates' shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Standard normal: Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Gamma with scale 1: Marsaglia and Tsang (2000), with their boost for shapes below 1.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = (1.0 - self.unit()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(distribution: &Distribution) -> (f64, f64, f64) {
        let mut stream = Stream::new(7, &["test"]);
        let n = 200_000;
        let values: Vec<f64> = (0..n).map(|_| distribution.sample(&mut stream)).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        (
            mean,
            variance,
            values.iter().copied().fold(f64::INFINITY, f64::min),
        )
    }

    #[test]
    fn gamma_variables_have_the_mean_and_variance_of_their_shape() {
        for shape in [0.5, 1.0, 1.5, 4.0] {
            let gamma = Distribution {
                shape: Shape::Gamma(shape),
                mean: 32.0,
                minimum: 1.0,
                ..Distribution::default()
            };
            let (mean, variance, minimum) = moments(&gamma);
            assert!((mean - 32.0).abs() < 0.5, "shape {shape}: mean {mean}");
            let expected = 31.0f64.powi(2) / shape;
            assert!(
                (variance / expected - 1.0).abs() < 0.05,
                "shape {shape}: {variance}"
            );
            assert!(minimum >= 1.0);
        }
    }

    #[test]
    fn uniform_variables_have_their_mean_and_round_to_multiples() {
        let uniform = Distribution {
            shape: Shape::Uniform,
            mean: 100.0,
            minimum: 20.0,
            round: 8.0,
            ..Distribution::default()
        };
        let (mean, _, minimum) = moments(&uniform);
        assert!((mean - 100.0).abs() < 0.5, "mean {mean}");
        assert!(minimum >= 16.0 && minimum % 8.0 == 0.0);
    }

    #[test]
    fn streams_repeat_with_their_seed_and_differ_by_name() {
        let draw = |seed, path: &[&str]| Stream::new(seed, path).next_u64();
        assert_eq!(draw(1, &["a", "b"]), draw(1, &["a", "b"]));
        let others = [
            draw(2, &["a", "b"]),
            draw(1, &["ab"]),
            draw(1, &["a"]),
            draw(1, &["b", "a"]),
        ];
        assert!(!others.contains(&draw(1, &["a", "b"])));
    }
}
