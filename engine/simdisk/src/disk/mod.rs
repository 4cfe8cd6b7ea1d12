//! A hard disk.

pub mod curve;
pub mod geometry;
pub mod mechanics;
pub mod seek;
pub mod stream;
