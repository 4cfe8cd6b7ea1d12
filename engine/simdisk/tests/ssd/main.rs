//! What an SSD does: how fast it is, what it has to move over time, and what it draws.

mod amplification;
mod host;
mod speed;
