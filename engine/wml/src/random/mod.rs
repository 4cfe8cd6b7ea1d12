//! Seeded streams and the distributions of random variables.

mod amount;
mod custom;
mod distribution;
mod stream;
mod variate;
mod zipf;

pub use amount::Amount;
pub use custom::{Custom, Kind};
pub use distribution::{Distribution, Segment, Shape};
pub use stream::{Stream, scale, split_mix};
pub use zipf::Zipf;
