//! Numbers that are drawn at each use.

use serde::Serialize;

use super::{Custom, Distribution, Stream};

/// A number, or a random variable that is drawn at each use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Amount {
    Fixed(f64),
    Random(Distribution),
    Custom(Custom),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Fixed(0.0)
    }
}

impl Amount {
    /// The next value.
    pub fn draw_exact(&self, stream: &mut Stream) -> f64 {
        match self {
            Amount::Fixed(value) => *value,
            Amount::Random(distribution) => distribution.sample(stream),
            Amount::Custom(custom) => custom.sample(stream),
        }
    }

    /// The next value, as a whole number.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let value = self.draw_exact(stream);
        // Most values are whole, and rounding is a call of the C library.
        let whole = value as u64;
        if whole as f64 == value {
            whole
        } else {
            value.round() as u64
        }
    }

    pub fn mean(&self) -> f64 {
        match self {
            Amount::Fixed(value) => *value,
            Amount::Random(distribution) => distribution.expectation(),
            Amount::Custom(custom) => custom.mean(),
        }
    }

    /// A bound that draws may exceed only where the distribution has none.
    pub fn usual_maximum(&self) -> f64 {
        match self {
            Amount::Fixed(value) => *value,
            Amount::Random(distribution) => distribution.usual_maximum(),
            Amount::Custom(custom) => custom.usual_maximum(),
        }
    }
}
