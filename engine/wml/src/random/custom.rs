//! Custom random variables (`cvar`).

use serde::Serialize;

use super::Stream;
use super::variate::Variate;

/// The distributions, with the names of their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Uniform {
        lower: f64,
        upper: f64,
    },
    Normal {
        mean: f64,
        sigma: f64,
    },
    /// The logarithm is normal with the deviation `shape`; the median is `scale`.
    LogNormal {
        shape: f64,
        scale: f64,
    },
    Exponential {
        mean: f64,
    },
    Gamma {
        mean: f64,
        gamma: f64,
    },
    Erlang {
        shape: f64,
        rate: f64,
    },
    Weibull {
        shape: f64,
        scale: f64,
    },
    Triangular {
        lower: f64,
        upper: f64,
        mode: f64,
    },
}

impl Kind {
    /// What it is made of.
    fn variate(self) -> Variate {
        match self {
            Kind::Uniform { .. } | Kind::Triangular { .. } => Variate::Unit,
            Kind::Normal { .. } | Kind::LogNormal { .. } => Variate::Normal,
            Kind::Exponential { .. } | Kind::Weibull { .. } => Variate::Exponential,
            Kind::Gamma { gamma, .. } => Variate::Gamma(gamma),
            Kind::Erlang { shape, .. } => Variate::Gamma(shape),
        }
    }

    /// Its value where the variate has the value `x`, with which it rises.
    fn value(self, x: f64) -> f64 {
        match self {
            Kind::Uniform { lower, upper } => lower + x * (upper - lower),
            Kind::Normal { mean, sigma } => mean + x * sigma,
            Kind::LogNormal { shape, scale } => scale * (x * shape).exp(),
            Kind::Exponential { mean } => mean * x,
            Kind::Gamma { mean, gamma } => mean / gamma * x,
            Kind::Erlang { rate, .. } => x / rate,
            Kind::Weibull { shape, scale } => scale * x.powf(1.0 / shape),
            // The inverse of the distribution function.
            Kind::Triangular { lower, upper, mode } => {
                let width = upper - lower;
                if x * width < mode - lower {
                    lower + (x * width * (mode - lower)).sqrt()
                } else {
                    upper - ((1.0 - x) * width * (upper - mode)).sqrt()
                }
            }
        }
    }
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
        self.finish(self.kind.variate().draw(stream))
    }

    /// The mean of what is drawn, rounded and clamped as it is.
    pub fn mean(&self) -> f64 {
        self.kind.variate().expectation(|x| self.finish(x))
    }

    /// A bound that draws may exceed only where the distribution has none.
    pub fn usual_maximum(&self) -> f64 {
        self.finish(self.kind.variate().usual_maximum())
    }

    /// The value where the variate has the value `x`.
    fn finish(&self, x: f64) -> f64 {
        let mut value = self.kind.value(x);
        if self.round > 0.0 {
            value = (value / self.round - 0.5).ceil() * self.round;
        }
        let clamped = value.max(self.minimum.unwrap_or(f64::NEG_INFINITY));
        clamped.min(self.maximum.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [(Kind, f64); 8] = [
        (
            Kind::Uniform {
                lower: 2.0,
                upper: 5.0,
            },
            3.5,
        ),
        (
            Kind::Normal {
                mean: 7.0,
                sigma: 3.0,
            },
            7.0,
        ),
        // exp(0.5^2 / 2)
        (
            Kind::LogNormal {
                shape: 0.5,
                scale: 8.0,
            },
            8.0 * 1.133_148_453_066_826_3,
        ),
        (Kind::Exponential { mean: 9.0 }, 9.0),
        (
            Kind::Gamma {
                mean: 4096.0,
                gamma: 1.5,
            },
            4096.0,
        ),
        (
            Kind::Erlang {
                shape: 3.0,
                rate: 0.5,
            },
            6.0,
        ),
        // Gamma(1 + 1/2)
        (
            Kind::Weibull {
                shape: 2.0,
                scale: 10.0,
            },
            10.0 * 0.886_226_925_452_758,
        ),
        (
            Kind::Triangular {
                lower: 1.0,
                upper: 7.0,
                mode: 4.5,
            },
            12.5 / 3.0,
        ),
    ];

    fn plain(kind: Kind) -> Custom {
        Custom {
            kind,
            minimum: None,
            maximum: None,
            round: 0.0,
        }
    }

    fn sample_mean(custom: &Custom) -> f64 {
        let mut stream = Stream::new(11, &["custom"]);
        let draws = 200_000;
        (0..draws).map(|_| custom.sample(&mut stream)).sum::<f64>() / f64::from(draws)
    }

    #[test]
    fn every_kind_has_the_mean_of_its_parameters() {
        for (kind, mean) in KINDS {
            let custom = plain(kind);
            assert!(
                (custom.mean() / mean - 1.0).abs() < 1e-6,
                "{kind:?}: {}",
                custom.mean()
            );
            let sampled = sample_mean(&custom);
            assert!((sampled / mean - 1.0).abs() < 0.01, "{kind:?}: {sampled}");
            assert!(custom.usual_maximum() > mean);
        }
    }

    #[test]
    fn a_triangular_variable_stays_in_its_triangle_and_is_most_often_near_its_mode() {
        let custom = plain(Kind::Triangular {
            lower: 1.0,
            upper: 7.0,
            mode: 4.5,
        });
        let mut stream = Stream::new(1, &["triangle"]);
        let mut histogram = [0; 6];
        for _ in 0..60_000 {
            histogram[(custom.sample(&mut stream) - 1.0) as usize] += 1;
        }
        // Areas of the slices under density 2/6 at the mode.
        let up = |x: f64| (x - 1.0).powi(2) / (6.0 * 3.5);
        let down = |x: f64| 1.0 - (7.0 - x).powi(2) / (6.0 * 2.5);
        let cumulated = [0.0, up(2.0), up(3.0), up(4.0), down(5.0), down(6.0), 1.0];
        for (slice, count) in histogram.iter().enumerate() {
            let expected = 60_000.0 * (cumulated[slice + 1] - cumulated[slice]);
            let deviation = (f64::from(*count) - expected) / expected.sqrt();
            assert!(
                deviation.abs() < 5.0,
                "{slice}: {count} instead of {expected}"
            );
        }
    }

    #[test]
    fn bounds_and_rounding_are_part_of_the_mean() {
        for (kind, mean) in KINDS {
            let custom = Custom {
                kind,
                minimum: Some(mean * 0.8),
                maximum: Some(mean * 1.5),
                round: mean / 8.0,
            };
            let (exact, sampled) = (custom.mean(), sample_mean(&custom));
            assert!(
                (sampled / exact - 1.0).abs() < 0.01,
                "{kind:?}: {sampled}, {exact}"
            );
        }
    }

    #[test]
    fn halves_are_rounded_down_before_the_bounds_clamp() {
        let value = |x, minimum, maximum| {
            let kind = Kind::Uniform { lower: x, upper: x };
            let custom = Custom {
                kind,
                minimum,
                maximum,
                round: 10.0,
            };
            custom.sample(&mut Stream::new(1, &["round"]))
        };
        assert_eq!(value(25.0, None, None), 20.0);
        assert_eq!(value(25.1, None, None), 30.0);
        assert_eq!(value(-25.0, None, None), -30.0);
        assert_eq!(value(25.0, Some(23.0), None), 23.0);
        assert_eq!(value(26.0, None, Some(27.0)), 27.0);
    }
}
