//! What the media do next, when they are free.

use crate::device::Action;
use crate::disk::Disk;
use crate::disk::media::Media;
use crate::disk::policy::Target;
use crate::disk::power::State;
use crate::disk::queue::Stage;
use crate::disk::spin::Transition;
use crate::time::Ns;

impl Disk {
    /// Begin what the media should do next, if they are free.
    pub(super) fn go_on(&mut self, at: Ns) {
        loop {
            let asleep = match self.media {
                Media::Idle { .. } | Media::ReadingAhead(_) => None,
                Media::Unloaded { .. } => Some(Transition::Load),
                Media::Standby => Some(Transition::SpinUp),
                Media::Busy(_) | Media::Turning { .. } | Media::Off => return,
            };
            let Some(target) = self.choose(at) else {
                return self.sleep(at);
            };
            if let Some(transition) = asleep {
                return self.turn(at, transition);
            }
            let nth = match target {
                Target::Destage(sector) => {
                    return self.begin_write(at, None, self.destaged(sector));
                }
                Target::Command(nth) => nth,
            };
            let command = self.queue.get(nth).command;
            if command.action == Action::Write {
                let left = self.cache.left_of(command.extent);
                return self.begin_write(at, Some(command.tag), left);
            }
            // it may have been read for another in the meantime
            if !self.answer_from_memory(at, nth) {
                self.queue.set(nth, Stage::Served);
                return self.begin_read(at, nth, command);
            }
        }
    }

    /// Unload or stop, if that is due.
    fn sleep(&mut self, at: Ns) {
        let timer = match self.media {
            Media::Idle { timer } | Media::Unloaded { timer } => timer,
            _ => None,
        };
        if self.standby_wanted {
            self.standby_wanted = false;
            if self.media != Media::Standby {
                self.turn(at, Transition::SpinDown);
            }
        } else if let Some((_, transition)) = timer.filter(|&(due, _)| due <= at) {
            self.turn(at, transition);
        }
    }

    /// Let the timers run anew, as every command does, also one that memory answers.
    pub(super) fn stay_awake(&mut self, at: Ns) {
        match &mut self.media {
            Media::Idle { timer } => *timer = self.spin.loaded(at),
            Media::Unloaded { timer } => *timer = self.spin.unloaded(at, at),
            _ => return,
        }
        self.idle_since = at;
    }

    /// Begin a transition.
    pub(super) fn turn(&mut self, at: Ns, transition: Transition) {
        match transition {
            Transition::SpinUp => self.counters.starts += 1,
            Transition::Load => self.counters.loads += 1,
            Transition::Unload | Transition::SpinDown => {}
        }
        self.settle_reading_ahead(at);
        let until = at + self.spin.span_ns(transition);
        self.account.then(at, Some(transition.state()));
        self.media = Media::Turning { transition, until };
    }

    /// What was begun has come to its end.
    pub(super) fn turned(&mut self, at: Ns, transition: Transition) {
        match transition {
            Transition::Load | Transition::SpinUp => {
                self.stand_at_begin();
                self.rest(at);
            }
            Transition::Unload => {
                self.account.then(at, Some(State::Unloaded));
                self.media = Media::Unloaded {
                    timer: self.spin.unloaded(self.idle_since, at),
                };
            }
            Transition::SpinDown => {
                self.account.then(at, Some(State::Standby));
                self.media = Media::Standby;
            }
        }
    }

    /// Have nothing to do.
    pub(super) fn rest(&mut self, at: Ns) {
        self.account.then(at, Some(State::Idle));
        self.idle_since = at;
        self.media = Media::Idle {
            timer: self.spin.loaded(at),
        };
    }
}
