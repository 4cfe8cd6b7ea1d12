//! Where data come from that flash has not: from the remote while it is connected, else from the disk.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::branch::folder::Folder;
use crate::branch::identity;
use crate::cache::part::PIECE_B;
use crate::fault::Fault;
use crate::mount::log::Log;
use crate::mount::remote::Remote;
use crate::mount::spins::Spins;
use crate::mount::standing::{Phase, Standings};
use crate::mount::turns::Turns;
use crate::protocol::{NodeId, Role};
use crate::volume::{Access, Held, absent, bring, read_held};

/// How often it is looked whether a remote that was asked still answers, and whether a file that a
/// synchronisation moves is in its place.
const TICK: Duration = Duration::from_millis(50);

/// The disk, which may have to be woken.
pub struct Disk {
    pub place: PathBuf,
    pub volume: String,
    pub spins: Arc<Spins>,
}

/// Bytes since the volume was mounted.
#[derive(Default)]
pub struct Counts {
    pub from_remote_b: AtomicU64,
    pub from_disk_b: AtomicU64,
    pub given_up_b: AtomicU64,
}

pub struct Origins {
    pub remote: Option<Remote>,
    pub disk: Option<Disk>,
    pub standings: Arc<Standings>,
    pub log: Arc<Log>,
    pub counts: Arc<Counts>,
    /// A file that the remote moves just now is waited for so long.
    pub patience: Duration,
    pub turns: Turns,
}

impl Origins {
    /// Bring a range of a file to flash, but not from the branch in this role.
    ///
    /// # Errors
    /// If no branch gives it.
    pub fn bring(
        &self,
        mut flash: impl Access<Folder>,
        id: NodeId,
        range: &Range<u64>,
        but: Option<Role>,
    ) -> io::Result<()> {
        loop {
            let missing = flash.with(|flash| {
                let part = flash.part(id)?;
                let gaps = part.here.gaps(part.pieces(range.clone()));
                Some(gaps.first()?.start / PIECE_B)
            });
            let Some(piece) = missing else { return Ok(()) };
            let _turn = self.turns.take((id, piece));
            let range = piece * PIECE_B..(piece + 1) * PIECE_B;
            self.bring_piece(&mut flash, id, &range, but)?;
        }
    }

    fn bring_piece(
        &self,
        flash: &mut impl Access<Folder>,
        id: NodeId,
        range: &Range<u64>,
        but: Option<Role>,
    ) -> io::Result<()> {
        let begun = Instant::now();
        let mut failed = absent();
        while but != Some(Role::Remote) && self.is_connected() {
            let read = |held, gap| self.read_remote(held, gap);
            match bring(flash, id, range.clone(), Role::Remote, read) {
                Ok(()) => return Ok(()),
                Err(error) => failed = error,
            }
            if begun.elapsed() >= self.patience {
                break;
            }
            thread::sleep(TICK);
        }
        match &self.disk {
            Some(disk) if but != Some(Role::Disk) => {
                let read = |held, gap: Range<u64>| self.read_disk(disk, &held, &gap);
                bring(flash, id, range.clone(), Role::Disk, read)
            }
            _ => Err(failed),
        }
    }

    fn is_connected(&self) -> bool {
        let is_there = self.standings.look(|branches| {
            let remote = branches.get(&Role::Remote);
            remote.is_some_and(|its| its.phase.is_connected() || its.phase == Phase::CatchingUp)
        });
        let hangs = self.remote.as_ref().is_none_or(Remote::hangs);
        is_there && !hangs
    }

    /// Ask the remote, and wait for as long as it answers others.
    fn read_remote(&self, held: Held, gap: Range<u64>) -> io::Result<Vec<u8>> {
        let Some(remote) = &self.remote else {
            return Err(absent());
        };
        let (answer, answered) = channel();
        remote.queue(Box::new({
            let remote = remote.asking();
            move || {
                let read = remote
                    .branch()
                    .and_then(|(b, _)| read_held(&b, &held, &gap));
                // Who asked may not wait any more.
                let _ = answer.send(read);
            }
        }));
        loop {
            match answered.recv_timeout(TICK) {
                Ok(data) => {
                    let data = data?;
                    self.counts
                        .from_remote_b
                        .fetch_add(data.len() as u64, Ordering::Relaxed);
                    return Ok(data);
                }
                Err(RecvTimeoutError::Timeout) if !remote.hangs() => (),
                Err(_) => return Err(absent()),
            }
        }
    }

    fn read_disk(&self, disk: &Disk, held: &Held, gap: &Range<u64>) -> io::Result<Vec<u8>> {
        let other = |fault: Fault| io::Error::other(fault.what);
        let (is_woken, _awake) = disk.spins.spend_for_read().map_err(other)?;
        if is_woken {
            self.log
                .say("disk: spun up: a program read what it alone could give");
        }
        let folder = Folder::open(&disk.place)?;
        let identity = identity::read(&folder, &disk.place).map_err(other)?;
        let is_ours = identity.is_some_and(|identity| {
            identity.volume == disk.volume && identity.role == Some(Role::Disk)
        });
        if !is_ours {
            return Err(absent());
        }
        let data = read_held(&folder, held, gap)?;
        self.counts
            .from_disk_b
            .fetch_add(data.len() as u64, Ordering::Relaxed);
        Ok(data)
    }
}
