//! Looks after what comes with time: those that wait for a branch, files that were written to and are closed,
//! files whose times come to tell further changes, files whose memory is let go of, and the journal, which
//! grows long.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::mount::handles::Handles;
use crate::mount::log::Log;
use crate::mount::mapped;
use crate::mount::shared::Shared;
use crate::mount::standing::Standings;
use crate::protocol::NodeId;
use crate::volume::{Access, NOTED_AT_ONCE};

/// Without such a file, nothing comes of itself for so long.
const IDLE: Duration = Duration::from_secs(3600);

/// Look after all of it until the end.
pub fn start(
    patience: Duration,
    shared: &Arc<Shared>,
    standings: &Arc<Standings>,
    handles: &Arc<Handles>,
    log: &Arc<Log>,
) {
    let waited = Arc::clone(standings);
    thread::spawn(move || waited.look_after(patience));
    let (shared, standings) = (Arc::clone(shared), Arc::clone(standings));
    let (handles, log) = (Arc::clone(handles), Arc::clone(log));
    thread::spawn(move || {
        let mut seen = 0;
        let mut why_long = None;
        while !standings.is_ending() {
            let has_closed = !shared.flash().closed().is_empty();
            (seen, _) = standings.wait(seen, if has_closed { mapped::LOOK } else { IDLE });
            standings.rest(Duration::from_secs(1));
            // What fails here fails again where it is needed.
            let is_more = mapped::let_go(&shared).unwrap_or(false);
            note_closed(&shared, &handles);
            ripen(&shared);
            begin_journal_anew(&shared);
            why_long = told(shared.flash().why_long(), why_long.as_deref(), &log);
            if is_more {
                standings.poke();
            }
        }
    });
}

/// Write down what the files are that were written to and that no program can write to any more.
fn note_closed(shared: &Shared, handles: &Handles) {
    let written = shared.flash().written();
    let is_closed = |id: &NodeId| !handles.can_be_written(*id);
    let closed: Vec<NodeId> = written.into_iter().filter(is_closed).collect();
    in_turns(&closed, |ids| shared.flash().note_closed(ids));
}

/// Write down the times that tell further changes now.
fn ripen(shared: &Shared) {
    let ripe = shared.flash().ripe();
    in_turns(&ripe, |ids| drop(shared.flash().ripen(ids)));
}

/// Write down some files after the others, while programs have flash in turn.
fn in_turns(ids: &[NodeId], note: impl Fn(&[NodeId])) {
    for some in ids.chunks(NOTED_AT_ONCE) {
        note(some);
        if some.len() == NOTED_AT_ONCE {
            thread::sleep(mapped::TURN);
        }
    }
}

/// Put a checkpoint in the place of a long journal. Most of what it takes to make flash durable for that is
/// done while others go on.
fn begin_journal_anew(mut shared: &Shared) {
    let is_long = shared.flash().has_long_journal();
    if is_long && shared.sync().is_ok() {
        shared.flash().shorten_journal();
    }
}

/// Tell why the journal grows, if it was not told before. Returns what is known now.
fn told(why: Option<String>, before: Option<&str>, log: &Log) -> Option<String> {
    if let Some(why) = why.as_deref().filter(|why| before != Some(why)) {
        log.say(&format!(
            "flash: no checkpoint can take the place of a long journal: {why}; \
             make room there if it is full"
        ));
    }
    why
}
