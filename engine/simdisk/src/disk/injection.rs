//! Putting faults in and taking them away, and losing power.

use crate::device::{Device, Event, Outcome};
use crate::disk::Disk;
use crate::disk::faults::Fault;
use crate::disk::media::Media;
use crate::time::Ns;

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
