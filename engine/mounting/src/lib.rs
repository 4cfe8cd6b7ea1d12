//! What a program that serves a FUSE mount asks of the kernel: the folder that it mounts on, that no
//! other program serves it, and the signals that end it.

pub mod place;
pub mod signals;
