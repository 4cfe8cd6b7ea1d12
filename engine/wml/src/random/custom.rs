//! Custom random variables (`cvar`).

use serde::Serialize;

use super::Stream;

/// The distributions, with the names of their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Uniform { lower: f64, upper: f64 },
    Normal { mean: f64, sigma: f64 },
    LogNormal { shape: f64, scale: f64 },
    Exponential { mean: f64 },
    Gamma { mean: f64, gamma: f64 },
    Erlang { shape: f64, rate: f64 },
    Weibull { shape: f64, scale: f64 },
    Triangular { lower: f64, upper: f64, mode: f64 },
}

/// A variate that is rounded, then clamped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Custom {
    pub kind: Kind,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    /// Round to the nearest multiple of this, halves down; 0 leaves it alone.
    pub round: f64,
}

impl Custom {
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let _ = stream;
        self.mean()
    }

    pub fn mean(&self) -> f64 {
        0.0
    }

    /// A bound that draws may exceed only where the distribution has none.
    pub fn usual_maximum(&self) -> f64 {
        self.maximum.unwrap_or(2.0 * self.mean())
    }
}
