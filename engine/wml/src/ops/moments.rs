//! What the values of a random variable were like.

/// Count, mean and squared deviations, by Welford's method (1962).
#[derive(Clone, Copy)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    squares: f64,
    pub least: f64,
    pub largest: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    pub fn deviation(&self) -> f64 {
        (self.squares / self.count.saturating_sub(1).max(1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let mut moments = Moments::default();
        [2.0, 4.0, 4.0, 5.0, 10.0]
            .into_iter()
            .for_each(|value| moments.add(value));
        assert_eq!((moments.count, moments.mean), (5, 5.0));
        // The squared deviations sum to 36, over 4.
        assert_eq!(moments.deviation(), 3.0);
        assert_eq!((moments.least, moments.largest), (2.0, 10.0));
    }
}
