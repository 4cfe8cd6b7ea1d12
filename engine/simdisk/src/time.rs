//! Time, which has no clock of its own: who drives a device says what time it is.

/// Nanoseconds since a moment that who drives the device has chosen.
pub type Ns = u64;

/// The sooner of two times that may never come.
pub fn sooner(one: Option<Ns>, other: Option<Ns>) -> Option<Ns> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
