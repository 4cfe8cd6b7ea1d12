//! Puts the disk to sleep once nobody uses it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mount::log::Log;
use crate::mount::spins::Spins;
use crate::power::{Disk, Power};

pub struct Quiet {
    power: Arc<Power>,
    log: Arc<Log>,
    /// The disk is put to sleep when nothing was read or written for so long, by anybody.
    pub after: Duration,
    /// What the kernel had counted of the disk, and since when that is so.
    seen: Option<(String, Instant)>,
    /// Why it last was not put to sleep.
    failed: Option<String>,
}

impl Quiet {
    pub fn new(power: Arc<Power>, log: Arc<Log>, after: Duration) -> Self {
        Self {
            power,
            log,
            after,
            seen: None,
            failed: None,
        }
    }

    /// Whether the disk is to be put to sleep now. Where nobody counts how it is used, that is so.
    pub fn is_time(&mut self, spins: &Spins) -> bool {
        if !spins.is_sleep_due() && !spins.is_asleep() {
            return false;
        }
        let Some(counted) = self.counted() else {
            return spins.is_sleep_due();
        };
        let since = match self.seen.take() {
            Some((before, since)) if before == counted => since,
            before => {
                if before.is_some() && spins.is_asleep() {
                    spins.let_others_use();
                }
                Instant::now()
            }
        };
        self.seen = Some((counted, since));
        spins.is_sleep_due() && since.elapsed() >= self.after
    }

    fn counted(&self) -> Option<String> {
        let disk = self.power.known().or_else(|| self.power.find().ok())?;
        self.power.activity(&disk)
    }

    /// Put the disk to sleep. What fails is said once, and tried again after the next use.
    pub fn stop(&mut self, spins: &Spins) {
        let Some(stopped) = spins.put_to_sleep(|| self.try_to_stop(spins)) else {
            return;
        };
        let failed = stopped.err();
        if let Some(why) = failed.as_ref().filter(|_| failed != self.failed) {
            self.log.say(&format!("disk: not put to sleep: {why}"));
        }
        self.failed = failed;
    }

    fn try_to_stop(&mut self, spins: &Spins) -> Result<(), String> {
        let disk = self.power.find()?;
        self.compare(&disk, spins);
        self.power.settle()?;
        // Whatever is counted from here on is others' doing.
        self.seen = self.counted().map(|counted| (counted, Instant::now()));
        self.power.stop(&disk)?;
        self.log.say(&format!("disk: {disk} was put to sleep"));
        Ok(())
    }

    fn compare(&self, disk: &Disk, spins: &Spins) {
        let Some(starts) = self.power.starts(disk) else {
            return;
        };
        let said = match spins.compare(&starts) {
            Ok(0) => return,
            Ok(count) => format!("starts of {disk} by others since it last slept: {count}"),
            Err(error) => format!("how often it was started cannot be written down: {error}"),
        };
        self.log.say(&format!("disk: {said}"));
    }
}
