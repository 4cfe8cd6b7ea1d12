//! How long before a moment a thread must stop sleeping, so as not to sleep over it.

use crate::time::Ns;

/// That time, learnt from sleeps. Nanoseconds.
pub struct Margin(Ns);

impl Default for Margin {
    fn default() -> Self {
        Self(100_000)
    }
}

impl Margin {
    const LEAST: Ns = 20_000;
    const MOST: Ns = 500_000;

    /// How long to sleep of what is left until a moment, if at all.
    pub fn sleep_ns(&self, left: Ns) -> Option<Ns> {
        left.checked_sub(self.0).filter(|&ns| ns > 0)
    }

    /// Follow how late a sleep ended: at once upwards, slowly downwards.
    pub fn learn(&mut self, late_ns: Ns) {
        let wanted = late_ns + late_ns / 4;
        self.0 = wanted
            .max(self.0 - self.0 / 64)
            .clamp(Self::LEAST, Self::MOST);
    }
}
