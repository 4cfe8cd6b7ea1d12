//! Streams of random numbers.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2021), seeded through SplitMix64 from the
//! run's seed and the name of the stream, so that streams are independent of one another and of
//! how many there are.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
    /// Stands for its path.
    name: u64,
    /// The streams of variables that have seeds of their own, by seed.
    seeded: Vec<(u64, Stream)>,
}

/// The next number of the SplitMix64 generator with this state.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A random number as one in [0, bound); 0 if the bound is 0. Lemire's multiplication, biased by
/// under 2^-32 for any bound below 2^32.
pub fn scale(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

impl Stream {
    /// The stream of a seed that `path` names, such as `["thread", "2", "17"]`.
    pub fn new(seed: u64, path: &[&str]) -> Self {
        Self::from_key(key(seed, path), key(0, path))
    }

    fn from_key(mut key: u64, name: u64) -> Self {
        Self {
            state: std::array::from_fn(|_| split_mix(&mut key)),
            name,
            seeded: Vec::new(),
        }
    }

    /// The stream of the same path with a seed of its own, whatever the seed of this one. It goes
    /// on where its last user left it.
    pub fn seeded(&mut self, seed: u64) -> &mut Stream {
        let known = self.seeded.iter().position(|(known, _)| *known == seed);
        let place = known.unwrap_or_else(|| {
            let key = split_mix(&mut seed.clone()) ^ self.name;
            self.seeded.push((seed, Self::from_key(key, self.name)));
            self.seeded.len() - 1
        });
        &mut self.seeded[place].1
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

    /// Uniform in [0, bound); 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.next_u64(), bound)
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

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
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

fn key(seed: u64, path: &[&str]) -> u64 {
    let mut key = seed;
    for name in path {
        for &byte in name.as_bytes().iter().chain(&[0xff]) {
            key = split_mix(&mut key) ^ u64::from(byte);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_stream_with_its_own_seed_depends_on_the_name_only_and_goes_on() {
        let draws = |run_seed, path: &[&str], seed| -> [u64; 3] {
            let mut stream = Stream::new(run_seed, path);
            std::array::from_fn(|_| {
                stream.next_u64();
                stream.seeded(seed).next_u64()
            })
        };
        let first = draws(1, &["thread", "1"], 5);
        assert_eq!(first, draws(2, &["thread", "1"], 5), "another run's seed");
        assert_ne!(first[0], first[1], "it began again");
        for other in [draws(1, &["thread", "2"], 5), draws(1, &["thread", "1"], 6)] {
            assert!(first.iter().all(|draw| !other.contains(draw)));
        }
    }

    #[test]
    fn bounded_numbers_stay_below_their_bound_and_fill_it() {
        let mut stream = Stream::new(1, &["test"]);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[stream.below(7) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
        assert_eq!(stream.below(0), 0);
    }
}
