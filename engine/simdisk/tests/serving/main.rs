//! Disks in real time, with the kernel on top: servers, loop devices and file systems. As root.

mod blocks;
mod clocks;
mod data;
mod faults;
mod host;
mod orders;
mod place;
mod power;
