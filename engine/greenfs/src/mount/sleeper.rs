//! Lets the local disk sleep, and brings it up when there is a reason.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::branch::own;
use crate::fault::Fault;
use crate::journal::frame;
use crate::mount::keeper::Keeper;
use crate::mount::standing::Phase;
use crate::protocol::Role;
use crate::report;
use crate::spin::{Balance, Limits, Needs, SpinUp};
use crate::sys;
use crate::volume::Access;

/// How often it is looked whether there is a reason.
const LOOK: Duration = Duration::from_secs(60);

/// A disk that failed is not tried again before; each try is a spin-up.
const AFTER_FAILURE: Duration = Duration::from_secs(600);

/// Where spin-ups are written down on flash.
fn history(flash: &Path) -> PathBuf {
    flash.join(own("spin-ups"))
}

/// The spin-ups that flash knows. A line that is not whole was never acted upon.
pub fn balance(flash: &Path, limits: Limits) -> io::Result<Balance> {
    let mut spins = Vec::new();
    match File::open(history(flash)) {
        Ok(file) => {
            for line in BufReader::new(file).lines() {
                spins.extend(frame::value::<SpinUp>(line?.as_bytes()));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (),
        Err(error) => return Err(error),
    }
    Ok(Balance::new(limits, spins))
}

/// The disk of a mount.
pub struct Sleeper {
    pub keeper: Keeper,
    pub flash: PathBuf,
    pub balance: Balance,
}

impl Sleeper {
    /// Bring the disk up when there is a reason, until the end.
    pub fn run(mut self) {
        self.show();
        let mut unprotected = None;
        loop {
            let is_ending = self.keeper.standings.is_ending();
            let needs = self.needs(is_ending, &mut unprotected);
            let now_s = now_s();
            if let Some(why) = self.balance.reason(now_s, &needs) {
                let failed = self.bring_up(SpinUp { at_s: now_s, why }).err();
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
                return;
            }
            self.keeper.standings.rest(LOOK);
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

    fn bring_up(&mut self, spin: SpinUp) -> Result<(), Fault> {
        let written = self.write_down(&spin);
        written.map_err(|error| {
            let next = "see who may write there";
            Fault::new(
                format!("the spin-up cannot be written down: {error}"),
                &self.flash,
                next,
            )
        })?;
        self.balance.spend(spin);
        self.show();
        self.keeper.log.say(&format!("disk: spun up: {}", spin.why));
        let mut disk = self.keeper.connect()?;
        let record = self.keeper.bring_up(&mut disk);
        let record = record.map_err(|trouble| self.keeper.fault(trouble))?;
        self.keeper.has_all(&disk, record, Phase::Asleep);
        Ok(())
    }

    /// Durably, before the disk is touched: no crash gives another one.
    fn write_down(&self, spin: &SpinUp) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(history(&self.flash))?;
        file.write_all(&frame::line(spin)?)?;
        file.sync_all()
    }

    fn show(&self) {
        let per_day = self.balance.limits.per_day;
        let spent = self.balance.in_a_day(now_s());
        let last = match self.balance.last() {
            None => "never spun up".into(),
            Some(SpinUp { at_s, why }) => {
                let at = sys::local_time(UNIX_EPOCH + Duration::from_secs(at_s));
                format!("last spun up {at} because {why}")
            }
        };
        self.keeper.standings.change(Role::Disk, |standing| {
            standing.note = format!("; {last}, {spent} of {per_day} in a day");
        });
    }
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
