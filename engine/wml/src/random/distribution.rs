//! Numbers that are drawn at each use.

use serde::Serialize;

use super::{Custom, Stream};

/// The form of a random variable (`randvar`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    #[default]
    Uniform,
    Gamma(f64),
    Tabular(Vec<Segment>),
}

/// A row of a table of probabilities: uniform from `minimum` to `maximum`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segment {
    pub percent: f64,
    pub minimum: f64,
    pub maximum: f64,
}

/// A random variable: `minimum` plus a variate that makes the whole have the `mean`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    pub shape: Shape,
    pub mean: f64,
    pub minimum: f64,
    pub maximum: Option<f64>,
    /// Round to the nearest multiple of this; 0 leaves it alone.
    pub round: f64,
    /// Its own stream, whatever the seed of the run.
    pub seed: Option<u64>,
}

impl Distribution {
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let above = self.mean - self.minimum;
        let value = self.minimum
            + match &self.shape {
                Shape::Uniform => 2.0 * above * stream.unit(),
                Shape::Gamma(shape) => stream.gamma(*shape) * above / shape,
                Shape::Tabular(_) => above,
            };
        if self.round > 0.0 {
            (value / self.round).round() * self.round
        } else {
            value
        }
    }
}

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
        self.draw_exact(stream).round() as u64
    }

    pub fn mean(&self) -> f64 {
        match self {
            Amount::Fixed(value) => *value,
            Amount::Random(distribution) => distribution.mean,
            Amount::Custom(custom) => custom.mean(),
        }
    }

    /// A bound that draws may exceed only where the distribution has none.
    pub fn usual_maximum(&self) -> f64 {
        match self {
            Amount::Fixed(value) => *value,
            Amount::Random(distribution) => 2.0 * distribution.mean,
            Amount::Custom(custom) => custom.usual_maximum(),
        }
    }
}
