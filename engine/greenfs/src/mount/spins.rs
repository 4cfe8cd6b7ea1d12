//! How often the disk was woken: on flash before it is, so that no crash gives another time.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::branch::own;
use crate::fault::Fault;
use crate::journal::frame;
use crate::spin::{Balance, Limits, Needs, Reason, SpinUp};
use crate::sys;

/// A disk that was woken is awake for so long: to read it is no further spin-up.
const AWAKE_S: u64 = 600;

/// Where spin-ups are written down on flash.
fn history(flash: &Path) -> PathBuf {
    flash.join(own("spin-ups"))
}

pub struct Spins {
    flash: PathBuf,
    balance: Mutex<Balance>,
}

impl Spins {
    /// Those that flash knows. A line that is not whole was never acted upon.
    pub fn open(flash: &Path, limits: Limits) -> io::Result<Self> {
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
        Ok(Self {
            flash: flash.to_owned(),
            balance: Mutex::new(Balance::new(limits, spins)),
        })
    }

    fn balance(&self) -> MutexGuard<'_, Balance> {
        self.balance.lock().expect("a panic ends this process")
    }

    /// Why the disk is to be woken now, if it is.
    pub fn reason(&self, needs: &Needs) -> Option<Reason> {
        self.balance().reason(now_s(), needs)
    }

    /// The disk is woken now: written down durably before it is touched.
    pub fn spend(&self, why: Reason) -> Result<(), Fault> {
        let mut balance = self.balance();
        let spin = SpinUp { at_s: now_s(), why };
        let written = self.write_down(&spin);
        written.map_err(|error| {
            let next = "see who may write there";
            let what = format!("the spin-up cannot be written down: {error}");
            Fault::new(what, &self.flash, next)
        })?;
        balance.spend(spin);
        Ok(())
    }

    /// The disk is read, for a program that waits: no budget refuses that, but it counts. Returns
    /// whether it was asleep, as far as anybody knows.
    pub fn spend_for_read(&self) -> Result<bool, Fault> {
        let last = self.balance().last();
        let is_awake = last.is_some_and(|spin| spin.at_s.saturating_add(AWAKE_S) > now_s());
        if !is_awake {
            self.spend(Reason::Read)?;
        }
        Ok(!is_awake)
    }

    fn write_down(&self, spin: &SpinUp) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(history(&self.flash))?;
        file.write_all(&frame::line(spin)?)?;
        file.sync_all()
    }

    /// How it stands, for a person.
    pub fn said(&self) -> String {
        let balance = self.balance();
        let last = match balance.last() {
            None => "never spun up".into(),
            Some(SpinUp { at_s, why }) => {
                let at = sys::local_time(UNIX_EPOCH + Duration::from_secs(at_s));
                format!("last spun up {at} because {why}")
            }
        };
        let (spent, per_day) = (balance.in_a_day(now_s()), balance.limits.per_day);
        format!("; {last}, {spent} of {per_day} in a day")
    }
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
