//! The standard variates that all variables are made of.

use super::Stream;

/// A variate without parameters of place and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variate {
    /// Uniform in [0, 1).
    Unit,
    /// With mean 0 and deviation 1.
    Normal,
    /// With mean 1.
    Exponential,
    /// With this shape, and scale 1.
    Gamma(f64),
}

/// Points of a numerical integration.
const POINTS: u32 = 1 << 14;

impl Variate {
    pub fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Variate::Unit => stream.unit(),
            Variate::Normal => stream.normal(),
            Variate::Exponential => stream.exponential(),
            Variate::Gamma(shape) => stream.gamma(shape),
        }
    }

    /// The mean of a function of it, by the midpoint rule. Smooth functions that do not grow
    /// faster than exponentially come out exact to about 1e-9, kinks cost about 1e-5, and steps
    /// some thousandths of their height.
    pub fn expectation(self, function: impl Fn(f64) -> f64) -> f64 {
        match self {
            Variate::Unit => integrate(0.0, 1.0, |u| (1.0, function(u))),
            // Where the density becomes 0 in floating point.
            Variate::Normal => integrate(-38.0, 38.0, |x| ((-0.5 * x * x).exp(), function(x))),
            Variate::Exponential => Variate::Gamma(1.0).expectation(function),
            // Over the logarithm, in which the density has no pole; as a share of its highest.
            Variate::Gamma(k) => {
                let lowest = k.ln() - 60.0 / k - 12.0 / k.sqrt();
                let highest = (k + 40.0 * k.sqrt() + 800.0).ln();
                let top = k * k.ln() - k;
                integrate(lowest, highest, |log| {
                    let x = log.exp();
                    ((k * log - x - top).exp(), function(x))
                })
            }
        }
    }

    /// What it exceeds less than once in 10^8 draws: six deviations; for gamma, the bound
    /// k + sqrt(2kt) + t, which is exceeded with a probability below exp(-t) (Boucheron, Lugosi
    /// and Massart, 2013, section 2.4).
    pub fn usual_maximum(self) -> f64 {
        const T: f64 = 20.0;
        match self {
            Variate::Unit => 1.0,
            Variate::Normal => 6.0,
            Variate::Exponential => T,
            Variate::Gamma(k) => k + (2.0 * k * T).sqrt() + T,
        }
    }
}

/// The mean of the values that a function gives with their weights.
fn integrate(from: f64, to: f64, weighted: impl Fn(f64) -> (f64, f64)) -> f64 {
    let step = (to - from) / f64::from(POINTS);
    let (mut weights, mut sum) = (0.0, 0.0);
    for point in 0..POINTS {
        let (weight, value) = weighted(from + (f64::from(point) + 0.5) * step);
        if weight > 0.0 {
            weights += weight;
            sum += weight * value;
        }
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [f64; 7] = [0.05, 0.5, 1.0, 1.5, 4.0, 100.0, 1e6];

    #[test]
    fn means_and_variances_are_those_of_theory() {
        let mut cases = vec![
            (Variate::Unit, 0.5, 1.0 / 12.0),
            (Variate::Normal, 0.0, 1.0),
            (Variate::Exponential, 1.0, 1.0),
        ];
        cases.extend(SHAPES.map(|k| (Variate::Gamma(k), k, k)));
        for (variate, mean, variance) in cases {
            let found = variate.expectation(|x| x);
            assert!(
                (found - mean).abs() < 1e-8 * mean.max(1.0),
                "{variate:?}: {found}"
            );
            let found = variate.expectation(|x| (x - mean).powi(2));
            assert!(
                (found / variance - 1.0).abs() < 1e-6,
                "{variate:?}: {found}"
            );
        }
    }

    #[test]
    fn draws_have_the_distribution_that_the_integral_assumes() {
        let draws = 100_000;
        let mut variates = vec![Variate::Unit, Variate::Normal, Variate::Exponential];
        variates.extend(SHAPES.map(Variate::Gamma));
        for variate in variates {
            let mut stream = Stream::new(3, &["variate"]);
            let mut values: Vec<f64> = (0..draws).map(|_| variate.draw(&mut stream)).collect();
            values.sort_by(f64::total_cmp);
            for tenth in 1..10 {
                let quantile = values[draws * tenth / 10];
                let below = variate.expectation(|x| f64::from(x <= quantile));
                // Five deviations of a share of 100,000 draws, and a step of the integral.
                assert!(
                    (below - tenth as f64 / 10.0).abs() < 0.012,
                    "{variate:?} {tenth}: {below}"
                );
            }
            assert!(*values.last().unwrap() <= variate.usual_maximum());
        }
    }
}
