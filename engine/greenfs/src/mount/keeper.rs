//! Keeps one branch up in the background: finds it, brings it up as things are done, lets go of it
//! when it fails, and finds it again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::branch::{identity, kept};
use crate::fault::Fault;
use crate::mount::log::Log;
use crate::mount::mapped;
use crate::mount::patience::{Steps, Timed};
use crate::mount::resting::Resting;
use crate::mount::shared::Shared;
use crate::mount::standing::{Phase, Standings};
use crate::net::Site;
use crate::protocol::{NodeId, Role};
use crate::volume::{
    Access, Branch, Pushed, Trouble, catch_up, expect_known, greet, push, push_rested,
};

/// A branch that is away is looked for after this time, then after twice as much, and so on.
const LOOK_FIRST: Duration = Duration::from_millis(500);
const LOOK_LAST: Duration = Duration::from_secs(30);

/// Changes are gathered for this time, if nobody waits.
const GATHER: Duration = Duration::from_millis(200);

/// After a push, the next one is put off for so many times as long as it took, but not longer than the second time, or
/// than it took: all of flash is made durable for a push, and programs that use flash wait for that at times.
const REST: u32 = 4;
const REST_MOST: Duration = Duration::from_secs(10);

/// A branch that gets nothing is looked at that often, to see that it is there.
const PROBE: Duration = Duration::from_secs(10);

pub struct Keeper {
    pub shared: Arc<Shared>,
    pub standings: Arc<Standings>,
    pub log: Arc<Log>,
    pub role: Role,
    pub place: PathBuf,
    pub steps: Steps,
    /// A branch that was there before may be empty now.
    pub anew: bool,
    /// A server that is silent for so long is away.
    pub patience: Duration,
}

/// What is overwritten all the time must rest as long as the last try took.
fn rest_after(begun: Instant) -> Resting {
    Resting::anew(LOOK_LAST.min(GATHER + begun.elapsed()))
}

/// A branch has what was done up to this record, and until this time.
pub struct Reached {
    record: u64,
    at: SystemTime,
}

/// The branch, once it can be reached.
pub type Connected = Branch<Timed<Site>>;

impl Keeper {
    /// Keep the branch up until the end; then it is tried once more, whatever was.
    pub fn run(&self) {
        let mut pause = LOOK_FIRST;
        loop {
            let is_last = self.standings.is_ending();
            let begun = Instant::now();
            let lost = match self.connect() {
                Ok(mut branch) => {
                    pause = LOOK_FIRST;
                    self.keep_up(&mut branch, rest_after(begun))
                }
                Err(fault) => Some(fault),
            };
            let Some(fault) = lost else { return };
            self.enter(Phase::Away(fault.what));
            if is_last {
                return;
            }
            self.standings.rest(pause);
            pause = LOOK_LAST.min(pause * 2);
        }
    }

    pub fn connect(&self) -> Result<Connected, Fault> {
        let store = self
            .steps
            .time(|| Site::claim(&self.place, self.patience))?;
        let store = Timed {
            inner: store,
            steps: self.steps.clone(),
        };
        let mut branch = Branch::new(self.role, self.place.clone(), store);
        let mut flash = &*self.shared;
        if !self.anew {
            expect_known(&mut flash, &branch)?;
        }
        let fault = |trouble: Trouble| self.fault(trouble);
        let found = greet(&mut flash, &mut branch).map_err(fault)?;
        self.enter(Phase::CatchingUp);
        match catch_up(&mut flash, &mut branch, found) {
            Ok(pushed) => {
                for path in &pushed.left {
                    let (role, path) = (self.role, path.display());
                    self.log.say(&format!(
                        "{role}: left what others made of {path}: it may not be moved"
                    ));
                }
                Ok(branch)
            }
            Err(Trouble::Busy(_) | Trouble::AllBut(_)) => Ok(branch),
            Err(trouble) => Err(fault(trouble)),
        }
    }

    /// Bring the branch up as things are done. Returns why it was lost; none at the end.
    fn keep_up(&self, branch: &mut Connected, mut resting: Resting) -> Option<Fault> {
        let mut seen = 0;
        loop {
            let is_last = self.standings.is_ending();
            let begun = Instant::now();
            if let Err(trouble) = self.take_turn(branch, &mut resting, is_last) {
                return Some(self.fault(trouble));
            }
            let took = begun.elapsed();
            let rest = (took * REST).min(REST_MOST.max(took.min(LOOK_LAST)));
            let rest_ends = Instant::now() + rest;
            if is_last {
                return None;
            }
            let most = match branch.left.is_empty() {
                true => PROBE,
                false => PROBE.min(resting.needed),
            };
            let (now, is_poked) = self.standings.wait(seen, most);
            seen = now;
            if is_poked {
                let rest = rest_ends.saturating_duration_since(Instant::now());
                self.standings.gather(GATHER + rest);
            } else if let Err(fault) = self.probe(branch) {
                return Some(fault);
            }
        }
    }

    /// Bring the branch up: without the files that are overwritten all the time, as others are waited for,
    /// and then with those that have rested.
    fn take_turn(
        &self,
        branch: &mut Connected,
        resting: &mut Resting,
        is_last: bool,
    ) -> Result<(), Trouble> {
        let mut again = branch.left.clone();
        if !again.is_empty() && !is_last {
            let rested = resting.rested(&mut self.shared.flash(), &branch.left);
            again = rested.map_err(Trouble::Flash)?;
            self.bring(branch, BTreeSet::new())?;
            if again.is_empty() {
                return Ok(());
            }
        }
        let begun = Instant::now();
        self.bring(branch, again)?;
        *resting = rest_after(begun);
        Ok(())
    }

    /// Bring the branch up, with those of the files that were left out that are to be tried again, and say
    /// how it stands then.
    fn bring(&self, branch: &mut Connected, again: BTreeSet<NodeId>) -> Result<(), Trouble> {
        let begun = Instant::now();
        let (reached, has_all) = self.stand()?;
        let mut flash = &*self.shared;
        let brought = match has_all {
            true => {
                branch.left.clear();
                Ok(Pushed::default())
            }
            false => push_rested(&mut flash, branch, again),
        };
        match brought {
            Ok(_) => self.note_reached(branch, &reached, Phase::Connected),
            Err(Trouble::AllBut(path)) => {
                self.note_reached(branch, &reached, Phase::AllBut(path));
            }
            Err(Trouble::Busy(path)) => {
                if self.enter(Phase::CatchingUp) != Some(Phase::CatchingUp) {
                    let path = path.display();
                    self.log.say(&format!(
                        "{}: {path} is overwritten all the time",
                        self.role
                    ));
                }
                self.standings.rest(GATHER + begun.elapsed());
            }
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }

    /// What the branch will have at least when it is brought up now, and whether it has all of that.
    fn stand(&self) -> Result<(Reached, bool), Trouble> {
        let at = SystemTime::now();
        mapped::let_go(&self.shared).map_err(Trouble::Flash)?;
        let mut flash = &*self.shared;
        let stands = flash.with(|flash| {
            flash.settle()?;
            Ok((flash.state().seq, flash.has_all(self.role)))
        });
        let (record, has_all) = stands.map_err(Trouble::Flash)?;
        Ok((Reached { record, at }, has_all))
    }

    /// Returns what the branch has at least.
    pub fn bring_up(&self, branch: &mut Connected) -> Result<Reached, Trouble> {
        let (reached, has_all) = self.stand()?;
        if !has_all {
            let mut flash = &*self.shared;
            push(&mut flash, branch)?;
        }
        Ok(reached)
    }

    pub fn note_reached(&self, branch: &Connected, reached: &Reached, phase: Phase) {
        let kept = kept::kept(&branch.store).is_ok_and(|kept| !kept.is_empty());
        let news = match &phase {
            Phase::AllBut(path) => {
                let path = path.display();
                format!("holds all but {path}, which is overwritten all the time")
            }
            _ => "holds all".into(),
        };
        let is_all = !matches!(phase, Phase::AllBut(_));
        let is_known = |before: &Phase| *before == phase || is_all && *before == Phase::Asleep;
        let before = self.standings.change(self.role, |standing| {
            standing.phase = phase.clone();
            standing.holds = reached.record;
            if is_all {
                standing.whole_at = Some(reached.at);
            }
            standing.has_kept = kept;
        });
        if before.is_some_and(|before| !is_known(&before)) {
            self.log.say(&format!("{}: {news}", self.role));
        }
    }

    /// See that the branch is there.
    fn probe(&self, branch: &Connected) -> Result<(), Fault> {
        match identity::read(&branch.store, &self.place)? {
            Some(_) => Ok(()),
            None => {
                let next = "see that it is mounted";
                Err(Fault::new("it is not there any more", &self.place, next))
            }
        }
    }

    /// Returns the phase before.
    pub fn enter(&self, phase: Phase) -> Option<Phase> {
        let said = match &phase {
            Phase::Away(why) => format!("{}: away: {why}", self.role),
            _ => String::new(),
        };
        let before = self
            .standings
            .change(self.role, |standing| standing.phase = phase);
        let was_away = matches!(before, Some(Phase::Away(_)));
        if !said.is_empty() && !was_away {
            self.log.say(&said);
        }
        before
    }

    pub fn fault(&self, trouble: Trouble) -> Fault {
        trouble.fault(self.role, &PathBuf::from("flash"), &self.place)
    }
}
