//! Seeded streams and the distributions of random variables.

mod custom;
mod distribution;
mod stream;
mod variate;
mod zipf;

pub use custom::{Custom, Kind};
pub use distribution::{Amount, Distribution, Segment, Shape};
pub use stream::{Stream, scale, split_mix};
pub use zipf::Zipf;
