//! The parent: starts the processes and the clock, ends the run, and always reaps.

use super::arena::Arena;
use super::children::{Children, thread_failure};
use super::ending::{Ending, Halt, stopped_by};
use super::timing::Timing;
use super::turns::{Turn, Turns};
use crate::clock::{self, FOREVER_NS, SECOND_NS, now_ns};
use crate::failure::Failure;
use crate::signals::{self, Event};

/// How long operations that are under way at the end may take: until then the results are whole.
const GRACE_NS: u64 = 120 * SECOND_NS;
/// The same after an end that makes the results partial.
const CUT_GRACE_NS: u64 = 5 * SECOND_NS;
const POLL_NS: u64 = SECOND_NS / 500;
/// How long signals wait between two turns.
const TURN_POLL_MS: i32 = 20;

/// Someone who looks at the records now and then while a run goes on.
pub trait Watch {
    /// When to look next, on the monotonic clock.
    fn next_ns(&self) -> u64;
    fn look(&mut self, now_ns: u64);
}

/// Run to the end of the measured interval, or to a signal.
pub fn supervise(
    arena: &Arena,
    timing: &Timing,
    watch: &mut dyn Watch,
) -> Result<(Ending, Vec<Turn>), Halt> {
    raise_descriptor_limit();
    let mut turns = timing.turns.then(Turns::new).transpose()?;
    let mut children = Children::default();
    let started = children
        .fork_all(arena)
        .map_err(Halt::from)
        .and_then(|()| await_ready(arena, &mut children));
    if let Err(halt) = started {
        arena.stop();
        children.kill_and_reap();
        return Err(halt);
    }
    let duration_ns = timing.duration_ns.unwrap_or(FOREVER_NS);
    if turns.is_some() {
        arena.control().pause();
    }
    arena.control().start(timing.warmup_ns, duration_ns);
    let mut ending = await_end(arena, &mut children, watch, turns.as_mut());
    match ending {
        Ending::Complete => {}
        Ending::Finished => {
            let last = arena.records.last_ns();
            let end_ns = last.map_or(arena.control().last_ns(), |ns| ns + 1);
            arena.control().cut_to(end_ns);
        }
        Ending::Cut(_) | Ending::Asked => arena.control().cut_to(now_ns()),
    }
    clock::go_on(); // what is left has deadlines
    arena.stop();
    let is_cut = matches!(ending, Ending::Cut(_));
    let grace_ns = if is_cut { CUT_GRACE_NS } else { GRACE_NS };
    let left = await_children(&mut children, grace_ns);
    let lost = left.or(children.failure.take());
    children.kill_and_reap();
    if let (false, Some(reason)) = (is_cut, lost) {
        ending = Ending::Cut(reason);
    }
    Ok((ending, turns.map_or_else(Vec::new, |turns| turns.done)))
}

/// Wait until every thread stands at the start.
fn await_ready(arena: &Arena, children: &mut Children) -> Result<(), Halt> {
    while (arena.control().ready() as usize) < arena.places.extent.threads {
        if let Event::Stop(name) = signals::next(now_ns() + POLL_NS) {
            return Err(Halt::by_signal(name));
        }
        let ended = children.reap();
        if let Some(failure) = thread_failure(arena) {
            return Err(failure.into());
        }
        if ended > 0 {
            let reason = children.failure.take();
            let reason = reason.as_deref().unwrap_or("a process ended early");
            let message = format!("the workload did not start: {reason}");
            let next = "see whether memory was short (dmesg), or use fewer instances";
            return Err(Failure::new(message, next).into());
        }
    }
    Ok(())
}

fn await_end(
    arena: &Arena,
    children: &mut Children,
    watch: &mut dyn Watch,
    mut turns: Option<&mut Turns>,
) -> Ending {
    loop {
        if let Some(turns) = &mut turns {
            match turns.step(arena, TURN_POLL_MS) {
                Ok(false) => {}
                Ok(true) => return Ending::Asked,
                Err(wrong) => return Ending::Cut(wrong),
            }
        }
        let end_ns = arena.control().end_ns();
        let event = match &turns {
            None => signals::next(watch.next_ns().min(end_ns)),
            Some(turns) => match turns.end_ns() {
                Some(turn_ns) => signals::next(watch.next_ns().min(end_ns).min(turn_ns)),
                None => signals::within(0), // the turns have waited, and the clock stands
            },
        };
        if let Event::Stop(name) = event {
            return Ending::Cut(stopped_by(name));
        }
        children.reap();
        if let Some(reason) = &children.failure {
            return Ending::Cut(reason.clone());
        }
        let now = now_ns();
        // Read again: the first thread that is done moves the end.
        if now >= arena.control().end_ns() {
            return Ending::Complete;
        }
        if children.all_ended() {
            return Ending::Finished;
        }
        if now >= watch.next_ns() {
            watch.look(now);
        }
    }
}

/// Wait for all processes after the stop; a reason if some had to be left.
fn await_children(children: &mut Children, grace_ns: u64) -> Option<String> {
    let deadline = now_ns() + grace_ns;
    children.reap();
    while !children.all_ended() {
        match signals::next(deadline) {
            Event::Stop(name) => return Some(stopped_by(name)),
            Event::Deadline if now_ns() >= deadline => {
                let seconds = grace_ns / SECOND_NS;
                return Some(format!("an operation did not end within {seconds} s"));
            }
            Event::Child | Event::Deadline => {}
        }
        children.reap();
    }
    None
}

/// As many descriptors as this user may have; the hard limit stays.
fn raise_descriptor_limit() {
    // SAFETY: zeros are a valid rlimit, and the pointers are valid for the calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
