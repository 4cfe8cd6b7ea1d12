//! Random variables (`randvar`).

use serde::Serialize;

use super::Stream;
use super::variate::Variate;

/// The form of a random variable.
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

impl Segment {
    fn value(&self, unit: f64) -> f64 {
        self.minimum + unit * (self.maximum - self.minimum)
    }
}

/// A random variable: `minimum` plus a variate that makes the whole have the `mean`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    pub shape: Shape,
    /// Of a table, 0 leaves its values as they are; else they are scaled.
    pub mean: f64,
    pub minimum: f64,
    pub maximum: Option<f64>,
    /// Round to the nearest multiple of this; 0 leaves it alone.
    pub round: f64,
    /// A stream that does not depend on the seed of the run; variables with the same seed share it.
    pub seed: Option<u64>,
}

impl Distribution {
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match self.seed {
            None => self.draw(stream),
            Some(seed) => self.draw(stream.seeded(seed)),
        }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let above = self.mean - self.minimum;
        self.finish(match &self.shape {
            Shape::Uniform => 2.0 * above * stream.unit(),
            Shape::Gamma(shape) => stream.gamma(*shape) * above / shape,
            Shape::Tabular(table) => {
                let segment = segment_at(table, stream.unit());
                self.table_scale(table) * segment.value(stream.unit())
            }
        })
    }

    /// The value of so much above the minimum.
    fn finish(&self, above: f64) -> f64 {
        let mut value = self.minimum + above;
        if self.round > 0.0 {
            value = (value / self.round).round() * self.round;
        }
        self.maximum.map_or(value, |maximum| value.min(maximum))
    }

    /// What makes the mean of the table that of the variable, above the minimum.
    fn table_scale(&self, table: &[Segment]) -> f64 {
        if self.mean > 0.0 {
            (self.mean - self.minimum) / table_mean(table, |segment| segment.value(0.5))
        } else {
            1.0
        }
    }

    /// The mean of what is drawn, rounded and cut as it is.
    pub fn expectation(&self) -> f64 {
        let above = self.mean - self.minimum;
        match &self.shape {
            Shape::Tabular(table) => {
                let scale = self.table_scale(table);
                table_mean(table, |segment| {
                    Variate::Unit.expectation(|u| self.finish(scale * segment.value(u)))
                })
            }
            _ if self.maximum.is_none() && self.round == 0.0 => self.mean,
            Shape::Uniform => Variate::Unit.expectation(|u| self.finish(2.0 * above * u)),
            Shape::Gamma(shape) => {
                Variate::Gamma(*shape).expectation(|x| self.finish(x * above / shape))
            }
        }
    }

    /// A bound that draws may exceed only where the distribution has none.
    pub fn usual_maximum(&self) -> f64 {
        let above = self.mean - self.minimum;
        self.finish(match &self.shape {
            Shape::Uniform => 2.0 * above,
            Shape::Gamma(shape) => Variate::Gamma(*shape).usual_maximum() * above / shape,
            Shape::Tabular(table) => {
                let ends = table
                    .iter()
                    .map(|segment| segment.minimum.max(segment.maximum));
                self.table_scale(table) * ends.fold(0.0, f64::max)
            }
        })
    }
}

/// The segment that stands at a share of the whole table.
fn segment_at(table: &[Segment], unit: f64) -> &Segment {
    let mut left = unit * table.iter().map(|segment| segment.percent).sum::<f64>();
    let found = table.iter().find(|segment| {
        left -= segment.percent;
        left < 0.0
    });
    found.unwrap_or_else(|| table.last().expect("a table has rows"))
}

fn table_mean(table: &[Segment], of_segment: impl Fn(&Segment) -> f64) -> f64 {
    let percent: f64 = table.iter().map(|segment| segment.percent).sum();
    let sum: f64 = table
        .iter()
        .map(|segment| segment.percent * of_segment(segment))
        .sum();
    sum / percent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(distribution: &Distribution) -> Vec<f64> {
        let mut stream = Stream::new(7, &["test"]);
        (0..200_000)
            .map(|_| distribution.sample(&mut stream))
            .collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn segment(percent: f64, minimum: f64, maximum: f64) -> Segment {
        Segment {
            percent,
            minimum,
            maximum,
        }
    }

    #[test]
    fn gamma_variables_have_the_mean_and_variance_of_their_shape() {
        for shape in [0.5, 1.0, 1.5, 4.0] {
            let values = draws(&Distribution {
                shape: Shape::Gamma(shape),
                mean: 32.0,
                minimum: 1.0,
                ..Distribution::default()
            });
            let mean = mean(&values);
            assert!((mean - 32.0).abs() < 0.5, "shape {shape}: mean {mean}");
            let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
            let variance = squares / values.len() as f64;
            let expected = 31.0f64.powi(2) / shape;
            assert!(
                (variance / expected - 1.0).abs() < 0.05,
                "shape {shape}: {variance}"
            );
            assert!(values.iter().all(|value| *value >= 1.0));
        }
    }

    #[test]
    fn uniform_variables_have_their_mean_and_round_to_multiples() {
        let values = draws(&Distribution {
            shape: Shape::Uniform,
            mean: 100.0,
            minimum: 20.0,
            round: 8.0,
            ..Distribution::default()
        });
        let mean = mean(&values);
        assert!((mean - 100.0).abs() < 0.5, "mean {mean}");
        assert!(
            values
                .iter()
                .all(|v| (16.0..=184.0).contains(v) && v % 8.0 == 0.0)
        );
    }

    #[test]
    fn tables_keep_their_shares_and_are_uniform_inside_of_a_segment() {
        let table = vec![
            segment(10.0, 0.0, 2.0),
            segment(65.0, 4.0, 8.0),
            segment(25.0, 100.0, 100.0),
        ];
        let values = draws(&Distribution {
            shape: Shape::Tabular(table),
            ..Distribution::default()
        });
        let share = |from: f64, to: f64| {
            let inside = values.iter().filter(|v| (from..to).contains(*v)).count();
            inside as f64 / values.len() as f64
        };
        for (from, to, expected) in [
            (0.0, 2.0, 0.1),
            (0.0, 1.0, 0.05),
            (4.0, 8.0, 0.65),
            (4.0, 5.0, 0.1625),
            (100.0, 101.0, 0.25),
        ] {
            let found = share(from, to);
            assert!((found - expected).abs() < 0.006, "{from} to {to}: {found}");
        }
    }

    #[test]
    fn tables_are_scaled_to_their_mean_above_the_minimum() {
        let table = vec![segment(50.0, 0.0, 2.0), segment(50.0, 10.0, 20.0)];
        let distribution = Distribution {
            shape: Shape::Tabular(table),
            mean: 90.0,
            minimum: 10.0,
            ..Distribution::default()
        };
        let values = draws(&distribution);
        assert!((mean(&values) - 90.0).abs() < 0.9);
        assert!((distribution.expectation() - 90.0).abs() < 1e-9);
        // The table's mean is 8, so that 20 becomes 10 + 20 * 80 / 8.
        assert_eq!(distribution.usual_maximum(), 210.0);
        assert!(values.iter().all(|value| (10.0..210.0).contains(value)));
    }

    #[test]
    fn a_maximum_cuts_and_is_part_of_the_mean() {
        for shape in [
            Shape::Uniform,
            Shape::Gamma(1.5),
            Shape::Tabular(vec![segment(100.0, 0.0, 9.0)]),
        ] {
            let distribution = Distribution {
                shape,
                mean: 50.0,
                minimum: 10.0,
                maximum: Some(60.0),
                ..Distribution::default()
            };
            let values = draws(&distribution);
            assert!(values.iter().all(|value| (10.0..=60.0).contains(value)));
            let (exact, sampled) = (distribution.expectation(), mean(&values));
            assert!(
                (sampled / exact - 1.0).abs() < 0.005,
                "{distribution:?}: {sampled}, {exact}"
            );
            assert!(exact < 49.0);
        }
    }

    #[test]
    fn a_variable_with_a_seed_does_not_depend_on_the_seed_of_the_run() {
        let of_run = |run_seed, seed| {
            let distribution = Distribution {
                mean: 1.0,
                seed,
                ..Distribution::default()
            };
            distribution.sample(&mut Stream::new(run_seed, &["thread", "1"]))
        };
        assert_eq!(of_run(1, Some(9)), of_run(2, Some(9)));
        assert_ne!(of_run(1, Some(9)), of_run(1, Some(8)));
        assert_ne!(of_run(1, None), of_run(2, None));
    }
}
