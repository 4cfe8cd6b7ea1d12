//! The remote as it is asked for what was: by one thread, one question after the other. When it hangs,
//! only those wait who asked until that was known.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::branch::identity::{self, Identity, Span};
use crate::mount::errors::error;
use crate::mount::patience::{Steps, Timed};
use crate::mount::standing::Standings;
use crate::net::Site;
use crate::protocol::Role;

type Job = Box<dyn FnOnce() + Send>;

/// Whose remote is looked at.
#[derive(Clone)]
pub struct Asked {
    pub remote: PathBuf,
    pub volume: String,
    /// A remote that does not answer for so long is not asked.
    pub patience: Duration,
}

pub struct Remote {
    asking: Arc<Asking>,
    standings: Arc<Standings>,
    jobs: Mutex<Sender<Job>>,
}

/// What the thread does that asks.
pub struct Asking {
    asked: Asked,
    pub steps: Steps,
}

/// The remote cannot be asked.
pub fn away() -> io::Error {
    error(libc::EHOSTDOWN)
}

impl Remote {
    pub fn new(asked: Asked, standings: Arc<Standings>) -> Self {
        let (jobs, asks) = channel::<Job>();
        std::thread::spawn(move || asks.into_iter().for_each(|job| job()));
        Self {
            asking: Arc::new(Asking {
                asked,
                steps: Steps::new(),
            }),
            standings,
            jobs: Mutex::new(jobs),
        }
    }

    pub fn place(&self) -> &Path {
        &self.asking.asked.remote
    }

    /// What asks it, for a job.
    pub fn asking(&self) -> Arc<Asking> {
        Arc::clone(&self.asking)
    }

    /// Do what asks the remote, after what was queued before.
    pub fn queue(&self, job: Job) {
        let jobs = self.jobs.lock().expect("a panic ends this process");
        // The thread ends with this process.
        let _ = jobs.send(job);
    }

    /// Whether the remote has not answered for too long, here or to its keeper.
    pub fn hangs(&self) -> bool {
        let keeper_waits = self.standings.look(|branches| {
            let remote = branches.get(&Role::Remote);
            remote.map_or(Duration::ZERO, |remote| remote.steps.waits())
        });
        self.asking.steps.waits().max(keeper_waits) >= self.asking.asked.patience
    }
}

impl Asking {
    /// The remote, and the times of which it knows.
    ///
    /// # Errors
    /// If it does not answer, or another folder is in its place, as when it is not mounted.
    pub fn branch(&self) -> io::Result<(Timed<Site>, Option<Span>)> {
        let Asked {
            remote,
            volume,
            patience,
        } = &self.asked;
        let opened = self.steps.time(|| Site::open(remote, *patience));
        let branch = Timed {
            inner: opened.map_err(|_| away())?,
            steps: self.steps.clone(),
        };
        let identity = identity::read(&branch, remote);
        let identity = identity.map_err(|fault| io::Error::other(fault.what))?;
        let is_ours =
            |identity: &Identity| identity.volume == *volume && identity.role == Some(Role::Remote);
        let identity = identity.filter(is_ours).ok_or_else(away)?;
        Ok((branch, identity.history))
    }
}
