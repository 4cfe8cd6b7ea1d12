//! Random variables (`randvar`) and custom ones (`cvar`).

use super::ast::{Attribute, Expression, Row, Span};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, suggestion};
use super::evaluate::{Evaluated, Variables};
use super::expressions::number;
use super::vocabulary::{self, CUSTOM_TYPES, Parameters, RandomType, choose};
use crate::random::{Custom, Distribution, Kind, Segment, Shape};

impl Variables {
    /// `randvar(...)`: gamma with a shape of 1.5 unless said otherwise.
    pub(super) fn random(&self, attributes: &[Attribute], span: Span) -> Evaluated<Distribution> {
        let mut found = Vec::new();
        let mut read =
            AttributeReader::new(attributes, &vocabulary::RANDVAR, span, self, &mut found);
        let segments = match read.find("randtable") {
            None => None,
            Some(table) => match table.value.as_ref().map(|value| &value.node) {
                Some(Expression::Table(rows)) => Some(self.table(rows)?),
                _ => {
                    read.error(
                        "randtable",
                        "'randtable' must be {{percent, min, max}, ...}",
                    );
                    None
                }
            },
        };
        let kind = read.choice("type", vocabulary::RANDOM_TYPES);
        // A table is not there for nothing.
        let kind = kind.unwrap_or(match segments {
            Some(_) if !read.has("type") => RandomType::Tabular,
            _ => RandomType::Gamma,
        });
        read.choice("randsrc", vocabulary::RANDOM_SOURCES);
        let gamma = read.number("gamma", 1500.0) / 1000.0;
        let minimum = read.number("min", 0.0);
        let maximum = read.optional_number("max");
        let given = read.optional_number("mean");
        let mean_above = match (kind, &segments, maximum) {
            (RandomType::Gamma, ..) => Some(gamma),
            (RandomType::Uniform, _, maximum) => maximum.map(|most| (most - minimum) / 2.0),
            (RandomType::Tabular, Some(rows), _) => Some(table_mean(rows)),
            (RandomType::Tabular, None, _) => Some(0.0),
        };
        let mean = given.or(mean_above.map(|above| minimum + above));
        match (kind, &segments) {
            (RandomType::Gamma, _) if gamma <= 0.0 => {
                read.error("gamma", "the gamma shape must be above 0");
            }
            (RandomType::Uniform, _) if mean.is_none() && !read.has("mean") => {
                read.error("mean", "a uniform variable needs a 'mean' or a 'max'");
            }
            (RandomType::Tabular, None) => {
                read.error("randtable", "a tabular variable needs a 'randtable'");
            }
            (RandomType::Tabular, Some(rows)) if table_mean(rows) == 0.0 => {
                read.error("randtable", "the mean of this table is 0");
            }
            (RandomType::Uniform | RandomType::Gamma, Some(_)) => {
                read.error("randtable", "a 'randtable' belongs to type=tabular");
            }
            _ => {}
        }
        let mean = mean.unwrap_or(minimum);
        if mean < minimum {
            read.error("mean", "the mean is below the minimum");
        }
        if maximum.is_some_and(|most| most < mean) {
            read.error("max", "the maximum is below the mean");
        }
        let distribution = Distribution {
            shape: match (kind, segments) {
                (RandomType::Uniform, _) => Shape::Uniform,
                (RandomType::Gamma, _) => Shape::Gamma(gamma),
                (RandomType::Tabular, segments) => Shape::Tabular(segments.unwrap_or_default()),
            },
            mean,
            minimum,
            maximum,
            round: read.number("round", 0.0),
            seed: Some(read.count("seed", 0, 0..=u64::MAX)).filter(|seed| *seed != 0),
        };
        found.into_iter().next().map_or(Ok(distribution), Err)
    }

    fn table(&self, rows: &[Row]) -> Evaluated<Vec<Segment>> {
        let mut segments = Vec::with_capacity(rows.len());
        for row in rows {
            let error = |message| Err(Diagnostic::error(row.span, message));
            let cells = row.node.iter().map(|cell| self.operand(cell));
            let cells = cells.collect::<Evaluated<Vec<f64>>>()?;
            let [percent, minimum, maximum] = cells[..] else {
                return error("a row of a randtable is {percent, min, max}");
            };
            if percent < 0.0 || minimum < 0.0 {
                return error("a randtable holds no negative numbers");
            }
            if maximum < minimum {
                return error("the maximum of this row is below its minimum");
            }
            segments.push(Segment {
                percent,
                minimum,
                maximum,
            });
        }
        let sum: f64 = segments.iter().map(|segment| segment.percent).sum();
        if (sum - 100.0).abs() > 1e-6 {
            let whole = Span {
                start: rows.first().map_or(0, |row| row.span.start),
                end: rows.last().map_or(0, |row| row.span.end),
            };
            let message = format!("the percentages sum to {sum} rather than to 100");
            return Err(Diagnostic::error(whole, message));
        }
        Ok(segments)
    }

    /// `cvar(...)`
    pub(super) fn custom(&self, attributes: &[Attribute], span: Span) -> Evaluated<Custom> {
        let mut found = Vec::new();
        let mut read = AttributeReader::new(attributes, &vocabulary::CVAR, span, self, &mut found);
        let name = read.required_text("type");
        let name = name.strip_prefix("cvar-").unwrap_or(&name);
        let kind = choose(name, CUSTOM_TYPES).map(|known| {
            let text = read.text("parameters").unwrap_or_default();
            parameters(&text, known).and_then(|values| custom_kind(name, &values))
        });
        let kind = match kind {
            Ok(Ok(kind)) => Some(kind),
            Ok(Err(message)) => {
                read.error("parameters", message);
                None
            }
            Err(message) => {
                read.error("type", message);
                None
            }
        };
        let (minimum, maximum) = (read.signed("min"), read.signed("max"));
        if matches!((minimum, maximum), (Some(least), Some(most)) if most < least) {
            read.error("max", "the maximum is below the minimum");
        }
        let round = read.number("round", 0.0);
        match (found.into_iter().next(), kind) {
            (None, Some(kind)) => Ok(Custom {
                kind,
                minimum,
                maximum,
                round,
            }),
            (Some(error), _) => Err(error),
            (None, None) => unreachable!("a missing kind is an error"),
        }
    }
}

/// Of a table of probabilities.
fn table_mean(segments: &[Segment]) -> f64 {
    segments
        .iter()
        .map(|segment| segment.percent / 100.0 * (segment.minimum + segment.maximum) / 2.0)
        .sum()
}

/// Read `name:value;name:value`.
fn parameters(text: &str, known: Parameters) -> Result<Vec<f64>, String> {
    let mut values: Vec<f64> = known.iter().map(|(_, default)| *default).collect();
    for part in text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (name, value) = part
            .split_once(':')
            .ok_or_else(|| format!("'{part}' must be name:value, with ';' between several"))?;
        let (name, value) = (name.trim(), value.trim());
        let Some(nth) = known.iter().position(|(parameter, _)| *parameter == name) else {
            let near = suggestion(name, known.iter().map(|(parameter, _)| *parameter));
            return Err(format!("there is no parameter '{name}'{near}"));
        };
        values[nth] = number(value).ok_or_else(|| format!("'{value}' is not a number"))?;
    }
    Ok(values)
}

/// The distribution of a name, with parameters in the order of the vocabulary.
fn custom_kind(name: &str, values: &[f64]) -> Result<Kind, String> {
    let (kind, sound, rule) = match (name, values) {
        ("uniform", &[lower, upper]) => (
            Kind::Uniform { lower, upper },
            lower <= upper,
            "upper must not be below lower",
        ),
        ("normal", &[mean, sigma]) => (
            Kind::Normal { mean, sigma },
            sigma >= 0.0,
            "sigma must not be negative",
        ),
        ("lognormal", &[shape, scale]) => (
            Kind::LogNormal { shape, scale },
            shape >= 0.0 && scale > 0.0,
            "scale must be above 0, and shape at least 0",
        ),
        ("exponential", &[mean]) => (
            Kind::Exponential { mean },
            mean > 0.0,
            "mean must be above 0",
        ),
        ("gamma", &[mean, gamma]) => (
            Kind::Gamma { mean, gamma },
            mean > 0.0 && gamma > 0.0,
            "mean and gamma must be above 0",
        ),
        ("erlang", &[shape, rate]) => (
            Kind::Erlang { shape, rate },
            shape >= 1.0 && shape.fract() == 0.0 && rate > 0.0,
            "shape must be a whole number from 1, and rate above 0",
        ),
        ("weibull", &[shape, scale]) => (
            Kind::Weibull { shape, scale },
            shape > 0.0 && scale > 0.0,
            "shape and scale must be above 0",
        ),
        ("triangular", &[lower, upper, mode]) => (
            Kind::Triangular { lower, upper, mode },
            lower <= mode && mode <= upper && lower < upper,
            "mode must be between lower and upper",
        ),
        _ => unreachable!("'{name}' stands in the vocabulary with its parameters"),
    };
    if sound {
        Ok(kind)
    } else {
        Err(format!("{name}: {rule}"))
    }
}
