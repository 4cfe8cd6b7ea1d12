//! Looks after what comes with time: those that wait for a branch, files whose times come to tell further
//! changes, and files whose memory is let go of.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::mount::mapped;
use crate::mount::shared::Shared;
use crate::mount::standing::Standings;

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
            let _ = shared.flash().ripen();
            if is_more {
                standings.poke();
            }
        }
    });
}
