//! What can be made to go wrong.

use crate::device::{Device, Event, Extent, Ns, Outcome};
use crate::disk::Disk;
use crate::disk::media::Media;
use crate::disk::runs::Runs;

/// A fault to be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Reads of these sectors from the media fail, until they are written (latent sector errors).
    Unreadable(Extent),
    /// Until this time the disk begins nothing, ends nothing and answers nothing.
    Hang { until: Ns },
    /// It loses power and is gone: whatever is asked of it, it does not answer.
    Vanish,
}

/// The faults that there are.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub unreadable: Runs,
    pub hung_until: Ns,
    pub gone: bool,
}

impl Disk {
    /// Put a fault in, at a time to which `advance` has gone; append what it makes happen.
    pub fn fault(&mut self, at: Ns, fault: Fault, events: &mut Vec<(Ns, Event)>) {
        match fault {
            Fault::Unreadable(extent) => {
                self.stop_reading_ahead(at);
                self.faults.unreadable.insert(extent, 0);
            }
            Fault::Hang { until } => self.faults.hung_until = until,
            Fault::Vanish => {
                self.power_off(at, events);
                self.faults.hung_until = 0;
                self.faults.gone = true;
                while let Some(first) = self.queue.first() {
                    self.complete(at, first, Outcome::Gone, events);
                }
            }
        }
    }

    /// Take all faults away. A disk that is gone comes back, and starts up.
    pub fn mend(&mut self, at: Ns) {
        if std::mem::take(&mut self.faults).gone {
            self.restore_power(at);
        }
    }

    /// Lose all that is volatile. What of a write has passed under the head stays.
    pub(super) fn power_off(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        self.end_write_early(at, events);
        self.account.instead(at, None);
        self.counters.power_losses += u64::from(self.media != Media::Off);
        self.media = Media::Off;
        self.standby_wanted = false;
        self.interface.restart(at);
        self.segments.clear();
        self.cache.clear();
    }
}
