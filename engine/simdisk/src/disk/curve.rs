//! The seek curve: settle + root * sqrt(d) + linear * d, fitted to measured points.

use crate::profile::disk::SeekCurve;

/// The time for a distance in cylinders, in ms.
pub fn ms(curve: SeekCurve, distance: u32) -> f64 {
    let distance = f64::from(distance);
    curve.settle_ms + curve.root_ms * distance.sqrt() + curve.linear_us / 1e3 * distance
}

/// The curve with the least sum of squared relative errors at points (cylinders, ms), among those
/// that are nowhere negative and nowhere fall up to the longest of `cylinders` and the points.
///
/// Relative, because a tenth of a millisecond in a short seek is worth more than in a long one.
/// The time of one cylinder and the slopes at both ends of the curve determine it, and it is
/// admissible just if none of the three is negative: non-negative least squares (Lawson and Hanson,
/// "Solving Least Squares Problems", 1974, chapter 23), here by trying each set of terms that may
/// differ from 0.
pub fn fit(points: &[(u32, f64)], cylinders: u32) -> SeekCurve {
    let last = points.last().map_or(0, |point| point.0);
    let flattening = 1.0 / f64::from(last.max(cylinders).max(4)).sqrt();
    // one cylinder's time, and what a slope of 1 at the near and at the far end adds to it
    let terms = |distance: u32| {
        let linear = f64::from(distance) - 1.0;
        let root = 2.0 * (f64::from(distance).sqrt() - 1.0);
        let scale = 1.0 / (1.0 - flattening);
        let near = (root - flattening * linear) * scale;
        [1.0, near, (linear - root) * scale]
    };
    let rows: Vec<[f64; 3]> = points
        .iter()
        .map(|&(distance, ms)| terms(distance).map(|term| term / ms))
        .collect();

    let mut best = ([0.0; 3], f64::INFINITY);
    for chosen in 1..8_u8 {
        let chosen: Vec<usize> = (0..3).filter(|term| chosen >> term & 1 == 1).collect();
        let columns = chosen
            .iter()
            .map(|&term| rows.iter().map(|row| row[term]).collect());
        let Some((weights, error)) = to_ones(columns.collect()) else {
            continue;
        };
        if error < best.1 && weights.iter().all(|&weight| weight >= 0.0) {
            let mut all = [0.0; 3];
            chosen
                .iter()
                .zip(weights)
                .for_each(|(&term, weight)| all[term] = weight);
            best = (all, error);
        }
    }
    let [one_ms, near, far] = best.0;
    let root_ms = 2.0 * (near - far) / (1.0 - flattening);
    let linear_ms = (far - flattening * near) / (1.0 - flattening);
    SeekCurve {
        settle_ms: one_ms - root_ms - linear_ms,
        root_ms,
        linear_us: linear_ms * 1e3,
    }
}

/// The weights with which columns come nearest to a column of ones, and the squared distance that
/// is left; none if the columns depend on each other. By the modified method of Gram and Schmidt.
fn to_ones(mut columns: Vec<Vec<f64>>) -> Option<(Vec<f64>, f64)> {
    let count = columns.len();
    let mut target = vec![1.0; columns[0].len()];
    let mut triangle = vec![vec![0.0; count]; count];
    let mut weights = vec![0.0; count];
    for step in 0..count {
        let (done, rest) = columns.split_at_mut(step + 1);
        let unit = &mut done[step];
        let length = dot(unit, unit).sqrt();
        let whole = triangle
            .iter()
            .map(|row| row[step] * row[step])
            .sum::<f64>();
        if length <= 1e-9 * (whole + length * length).sqrt() {
            return None;
        }
        unit.iter_mut().for_each(|value| *value /= length);
        triangle[step][step] = length;
        for (column, further) in rest.iter_mut().zip(step + 1..) {
            triangle[step][further] = take_away(unit, column);
        }
        weights[step] = take_away(unit, &mut target);
    }
    for step in (0..count).rev() {
        let known: f64 = (step + 1..count)
            .map(|further| triangle[step][further] * weights[further])
            .sum();
        weights[step] = (weights[step] - known) / triangle[step][step];
    }
    Some((weights, dot(&target, &target)))
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Take the part along a unit vector away, and tell how long it was.
fn take_away(unit: &[f64], from: &mut [f64]) -> f64 {
    let along = dot(unit, from);
    from.iter_mut()
        .zip(unit)
        .for_each(|(value, unit)| *value -= along * unit);
    along
}
