//! Why a device may not be overwritten.

pub struct Refusal {
    pub why: String,
    pub next: String,
}
