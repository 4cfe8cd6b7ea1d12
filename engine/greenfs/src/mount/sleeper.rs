//! Lets the local disk sleep, and brings it up when there is a reason.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::fault::Fault;
use crate::mount::keeper::Keeper;
use crate::mount::quiet::Quiet;
use crate::mount::spins::Spins;
use crate::mount::standing::Phase;
use crate::protocol::Role;
use crate::report;
use crate::spin::{Needs, Reason};
use crate::sys;
use crate::volume::Access;

/// How often it is looked whether there is a reason.
const LOOK: Duration = Duration::from_secs(60);

/// A disk that failed is not tried again before; each try is a spin-up.
const AFTER_FAILURE: Duration = Duration::from_secs(600);

/// The disk of a mount.
pub struct Sleeper {
    pub keeper: Keeper,
    pub spins: Arc<Spins>,
    /// Puts it to sleep; none if it is left alone.
    pub quiet: Option<Quiet>,
}

impl Sleeper {
    /// Bring the disk up when there is a reason, and let it sleep again, until the end.
    pub fn run(mut self) {
        let mut unprotected = None;
        loop {
            let is_ending = self.keeper.standings.is_ending();
            let needs = self.needs(is_ending, &mut unprotected);
            if let Some(why) = self.spins.reason(&needs) {
                let failed = self.bring_up(why).err();
                if let Some(fault) = failed {
                    self.keeper.enter(Phase::Away(fault.what));
                    self.keeper.standings.rest(AFTER_FAILURE);
                }
            } else if is_ending && needs.lacks {
                self.keeper
                    .log
                    .say("disk: lacks changes; it was spun up too often today");
            }
            if is_ending {
                return self.stop();
            }
            self.rest();
        }
    }

    /// Wait until it is time to look again, or the end. Let the disk sleep meanwhile.
    fn rest(&mut self) {
        let begun = Instant::now();
        while !self.keeper.standings.is_ending() {
            let left = LOOK.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            let pause = self
                .quiet
                .as_ref()
                .map_or(left, |quiet| quiet.after.min(left));
            self.keeper.standings.rest(pause);
            if self
                .quiet
                .as_mut()
                .is_some_and(|quiet| quiet.is_time(&self.spins))
            {
                self.stop();
            }
        }
    }

    /// Put the disk to sleep, if it was used.
    fn stop(&mut self) {
        if let Some(quiet) = self.quiet.as_mut().filter(|_| self.spins.is_sleep_due()) {
            // The end of a mount does not wait for a disk that hangs.
            self.keeper.steps.time(|| quiet.stop(&self.spins));
        }
    }

    fn needs(&self, is_ending: bool, unprotected: &mut Option<Instant>) -> Needs {
        let standings = &self.keeper.standings;
        let (is_new, lacks, lacks_b, is_dirty) = (&*self.keeper.shared).with(|flash| {
            let state = flash.state();
            let behind = state.behind.get(&Role::Disk);
            let lacks = behind.is_some_and(|behind| !behind.touched.is_empty());
            let lacks_b = behind
                .filter(|_| lacks)
                .map_or(0, |b| report::to_copy_b(state, b));
            (
                behind.is_none(),
                lacks,
                lacks_b,
                !flash.has_all(Role::Remote),
            )
        });
        let is_away = standings.look(|branches| {
            let remote = branches.get(&Role::Remote);
            remote.is_none_or(|remote| remote.phase != Phase::Connected)
        });
        match lacks && is_dirty && is_away {
            true => drop(unprotected.get_or_insert_with(Instant::now)),
            false => *unprotected = None,
        }
        Needs {
            is_new,
            lacks,
            lacks_b,
            unprotected_s: unprotected.map_or(0, |since| since.elapsed().as_secs()),
            hour: sys::hour(SystemTime::now()),
            is_ending,
        }
    }

    fn bring_up(&self, why: Reason) -> Result<(), Fault> {
        self.spins.spend(why)?;
        self.keeper.log.say(&format!("disk: spun up: {why}"));
        let mut disk = self.keeper.connect()?;
        let reached = self.keeper.bring_up(&mut disk);
        let reached = reached.map_err(|trouble| self.keeper.fault(trouble))?;
        self.keeper.note_reached(&disk, &reached, Phase::Asleep);
        Ok(())
    }
}
