//! Looks after what comes with time: those that wait for a branch, files whose times come to tell further
//! changes, files whose memory is let go of, and the journal, which grows long.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::mount::mapped;
use crate::mount::shared::Shared;
use crate::mount::standing::Standings;
use crate::volume::{Access, RIPEN_AT_ONCE};

/// Without such a file, nothing comes of itself for so long.
const IDLE: Duration = Duration::from_secs(3600);

/// Look after all of it until the end.
pub fn start(patience: Duration, shared: &Arc<Shared>, standings: &Arc<Standings>) {
    let waited = Arc::clone(standings);
    thread::spawn(move || waited.look_after(patience));
    let (shared, standings) = (Arc::clone(shared), Arc::clone(standings));
    thread::spawn(move || {
        let mut seen = 0;
        while !standings.is_ending() {
            let has_closed = !shared.flash().closed().is_empty();
            (seen, _) = standings.wait(seen, if has_closed { mapped::LOOK } else { IDLE });
            standings.rest(Duration::from_secs(1));
            // What fails here fails again where it is needed.
            let is_more = mapped::let_go(&shared).unwrap_or(false);
            ripen(&shared);
            begin_journal_anew(&shared);
            if is_more {
                standings.poke();
            }
        }
    });
}

/// Write down the times that tell further changes now, while others have flash in turn.
fn ripen(shared: &Shared) {
    let ids = shared.flash().ripe();
    for some in ids.chunks(RIPEN_AT_ONCE) {
        let _ = shared.flash().ripen(some);
        if some.len() == RIPEN_AT_ONCE {
            thread::sleep(mapped::TURN);
        }
    }
}

/// Put a checkpoint in the place of a long journal. Most of what it takes to make flash durable for that is
/// done while others go on.
fn begin_journal_anew(mut shared: &Shared) {
    let is_long = shared.flash().has_long_journal();
    if is_long && shared.sync().is_ok() {
        let _ = shared.flash().compact();
    }
}
