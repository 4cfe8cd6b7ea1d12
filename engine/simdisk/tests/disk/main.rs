//! The disk in software as a host sees it: commands in, events out, time and energy by its account.

mod caches;
mod data;
mod energy;
mod faults;
mod host;
mod media_rate;
mod order;
mod power_cut;
mod service_time;
mod spin;
