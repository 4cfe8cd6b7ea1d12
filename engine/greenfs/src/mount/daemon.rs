//! The life of a mount, from its first look at flash to the last synchronisation.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use fuser::{INodeNo, MountOption, Notifier, Session, SessionACL};
use mounting::{place as kernel, signals};

use crate::branch::folder::FRESH;
use crate::branch::identity;
use crate::crypt;
use crate::fault::Fault;
use crate::mount::bound::Bound;
use crate::mount::control::Report;
use crate::mount::handles::Handles;
use crate::mount::keeper::Keeper;
use crate::mount::log::Log;
use crate::mount::mapped;
use crate::mount::origins::{Counts, Disk, Origins};
use crate::mount::past::Past;
use crate::mount::patience::Steps;
use crate::mount::place;
use crate::mount::quiet::Quiet;
use crate::mount::reads::note_reads;
use crate::mount::remote::{Asked, Remote};
use crate::mount::router::Router;
use crate::mount::shared::Shared;
use crate::mount::sleeper::Sleeper;
use crate::mount::spins::Spins;
use crate::mount::standing::{Phase, Standings};
use crate::mount::tending;
use crate::mount::tree::{Known, Tree};
use crate::mount::turns::Turns;
use crate::mount::uses::Uses;
use crate::power::Power;
use crate::protocol::Role;
use crate::spin::Limits;
use crate::sys;
use crate::volume::Flash;

/// Threads that answer the kernel: one may wait for flash while others go on.
const THREADS: usize = 4;

/// How often it is looked whether the last synchronisation goes on.
const TICK: Duration = Duration::from_millis(50);

/// What to mount where.
pub struct Settings {
    pub flash: PathBuf,
    pub branches: Vec<(Role, PathBuf)>,
    pub at: PathBuf,
    /// A branch that was there before may be empty now.
    pub anew: bool,
    /// A branch that does not answer for so long is not waited for.
    pub patience: Duration,
    /// When the disk is spun up.
    pub limits: Limits,
    /// Puts the disk to sleep; none if it is left alone.
    pub power: Option<Arc<Power>>,
    /// Once nobody has used it for so long.
    pub sleep_after: Duration,
    /// Bytes of files on flash; more is given up, as far as the other branches have it.
    pub flash_most_b: Option<u64>,
    /// The file of the key that encrypts flash.
    pub flash_key: Option<PathBuf>,
}

impl Settings {
    fn place(&self, role: Role) -> Option<&Path> {
        let branch = self.branches.iter().find(|(its, _)| *its == role);
        branch.map(|(_, place)| place.as_path())
    }
}

/// Mount a volume, and serve it until it is unmounted or a signal asks for the end; then bring up
/// the branches that can be reached. `ready` is called once programs can use it.
///
/// # Errors
/// If flash or the folder that is mounted on cannot be used, or the kernel does not mount.
pub fn serve(settings: &Settings, ready: impl FnOnce()) -> Result<(), Fault> {
    signals::block_stops();
    // A thread that is missing would leave programs waiting for ever.
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        say(panic);
        std::process::abort();
    }));
    let failed = |error: io::Error| {
        let next = "see what the message says, then mount again";
        Fault::new(
            format!("the mount cannot be made: {error}"),
            &settings.at,
            next,
        )
    };
    let at = place::claim(&settings.at, &settings.flash)?;
    let key = settings.flash_key.as_deref();
    let store = crypt::claim(&settings.flash, key, true)?;
    sys::ignore_ends_of_leases();
    let flash = Flash::open(store, &settings.flash, &identity::new_volume()?)?;
    sys::no_mask();
    let log = Arc::new(Log::open(&settings.flash).map_err(failed)?);
    let standings = Arc::new(Standings::default());
    let spins = Arc::new(Spins::open(&settings.flash, settings.limits).map_err(failed)?);
    let volume = flash.id().to_owned();
    let remote = settings.place(Role::Remote).map(|place| Asked {
        remote: place.to_owned(),
        volume: volume.clone(),
        patience: settings.patience,
    });
    let asked = |asked: &Asked| Remote::new(asked.clone(), Arc::clone(&standings));
    let disk = settings.place(Role::Disk).map(|place| Disk {
        place: place.to_owned(),
        volume,
        spins: Arc::clone(&spins),
    });
    let counts = Arc::<Counts>::default();
    let origins = Arc::new(Origins {
        remote: remote.as_ref().map(asked),
        disk,
        standings: Arc::clone(&standings),
        log: Arc::clone(&log),
        counts: Arc::clone(&counts),
        patience: settings.patience,
        turns: Turns::default(),
    });
    let (shared, soon) = Shared::new(flash, Arc::clone(&origins)).map_err(failed)?;
    let shared = Arc::new(shared);
    let is_root = sys::is_root();
    let handles = Arc::<Handles>::default();
    let uses = Arc::<Uses>::default();
    let past = remote.as_ref().map(asked);
    let (known, to_forget) = mpsc::channel();
    let (read, to_note) = mpsc::channel();
    let (reads, noted) = (Arc::clone(&shared), known.clone());
    thread::spawn(move || note_reads(&reads, &to_note, &noted));
    let router = Router {
        past: past.map(|remote| Past::new(remote, Arc::clone(&handles))),
        tree: Arc::new(Tree {
            shared: Arc::clone(&shared),
            standings: Arc::clone(&standings),
            handles: Arc::clone(&handles),
            origins,
            uses: settings.flash_most_b.map(|_| Arc::clone(&uses)),
            is_root,
            has_passthrough: AtomicBool::new(is_root),
            known,
            read,
        }),
    };
    let bound = Bound {
        shared: Arc::clone(&shared),
        handles: Arc::clone(&handles),
        standings: Arc::clone(&standings),
        log: Arc::clone(&log),
        uses,
        counts: Arc::clone(&counts),
        most_b: settings.flash_most_b,
        roles: settings.branches.iter().map(|(role, _)| *role).collect(),
        has_memory: is_root,
    };
    let mut config = fuser::Config::default();
    config.mount_options = vec![
        MountOption::FSName(place::source(&settings.flash)),
        MountOption::Subtype("greenfs".into()),
        MountOption::DefaultPermissions,
    ];
    config.acl = match is_root {
        true => SessionACL::All,
        false => SessionACL::Owner,
    };
    config.n_threads = Some(THREADS);
    let session = Session::new(router, &at, &config).map_err(failed)?;
    let notifier = session.notifier();
    thread::spawn(move || forget_all(&notifier, &to_forget));
    let serving = thread::spawn(move || {
        // It ends when somebody has unmounted it.
        let result = session.run();
        signals::stop();
        result
    });
    let keepers = start_keepers(settings, &shared, &standings, &log, &spins);
    let bounding = thread::spawn(move || bound.run());
    tending::start(settings.patience, &shared, &standings, &handles, &log);
    let kept = Arc::clone(&shared);
    thread::spawn(move || kept.keep_durable(&soon));
    let report = Report {
        shared: Arc::clone(&shared),
        standings: Arc::clone(&standings),
        flash: settings.flash.clone(),
        at: at.clone(),
        since: SystemTime::now(),
        counts,
        flash_most_b: settings.flash_most_b,
        power: settings.power.clone(),
        spins,
    };
    report.answer_all().map_err(failed)?;
    log.say(&format!("mounted on {}", at.display()));
    ready();
    signals::wait_for_stop();
    leave(settings, &at, &log, &serving);
    if serving.is_finished() {
        // Else programs go on in what was taken away from its place.
        handles.forget_all();
    }
    let ended = mapped::end(&shared);
    standings.end();
    wait_for_keepers(&keepers, settings.patience);
    while !bounding.is_finished() {
        thread::sleep(TICK);
    }
    thread::sleep(FRESH);
    let mut flash = shared.flash();
    let done = [ended, flash.settle(), flash.ripen_all()];
    let done: io::Result<()> = done.into_iter().collect();
    done.map_err(|error| {
        let next = "mount again: what was done is found then";
        Fault::new(
            format!("flash was not left in order: {error}"),
            &settings.flash,
            next,
        )
    })?;
    log.say("unmounted");
    Ok(())
}

/// Have the kernel forget what it knows of files that it reads on flash, too: programs change those through
/// memory without a word, and would be shown what was.
fn forget_all(notifier: &Notifier, to_forget: &Receiver<(INodeNo, Known)>) {
    for (inode, known) in to_forget {
        let (offset, length) = match known {
            // Before the beginning there are no data.
            Known::Attributes => (-1, 0),
            Known::Data(range) => (range.start as i64, (range.end - range.start) as i64),
        };
        // It fails if nothing was kept.
        let _ = notifier.inval_inode(inode, offset, length);
    }
}

type Kept = (Steps, JoinHandle<()>);

fn start_keepers(
    settings: &Settings,
    shared: &Arc<Shared>,
    standings: &Arc<Standings>,
    log: &Arc<Log>,
    spins: &Arc<Spins>,
) -> Vec<Kept> {
    let start = |(role, place): &(Role, PathBuf)| {
        let steps = Steps::new();
        let phase = match role {
            Role::Remote => Phase::Away("not looked at yet".into()),
            Role::Disk => Phase::Asleep,
        };
        standings.add(*role, place.clone(), phase, steps.clone());
        let keeper = Keeper {
            shared: Arc::clone(shared),
            standings: Arc::clone(standings),
            log: Arc::clone(log),
            role: *role,
            place: place.clone(),
            steps: steps.clone(),
            anew: settings.anew,
            patience: settings.patience,
        };
        let thread = match role {
            Role::Remote => thread::spawn(move || keeper.run()),
            Role::Disk => {
                let quiet = settings.power.as_ref().map(|power| {
                    let (power, log) = (Arc::clone(power), Arc::clone(log));
                    Quiet::new(power, log, settings.sleep_after)
                });
                let spins = Arc::clone(spins);
                let sleeper = Sleeper {
                    keeper,
                    spins,
                    quiet,
                };
                thread::spawn(move || sleeper.run())
            }
        };
        (steps, thread)
    };
    settings.branches.iter().map(start).collect()
}

/// Take the mount away, if nobody has done so.
fn leave(settings: &Settings, at: &Path, log: &Log, serving: &JoinHandle<io::Result<()>>) {
    let source = place::source(&settings.flash);
    let is_ours = kernel::mounted_on(at).is_ok_and(|found| found == Some(source));
    if is_ours && kernel::unmount(at, false).is_err() {
        log.say("unmounted although programs still use it");
        let _ = kernel::detach(at);
    }
    let mut waited = Duration::ZERO;
    while !serving.is_finished() && waited < settings.patience {
        thread::sleep(TICK);
        waited += TICK;
    }
}

/// Wait until the branches that answer are brought up.
fn wait_for_keepers(keepers: &[Kept], patience: Duration) {
    for (steps, keeper) in keepers {
        while !keeper.is_finished() && steps.waits() < patience {
            thread::sleep(TICK);
        }
    }
}
