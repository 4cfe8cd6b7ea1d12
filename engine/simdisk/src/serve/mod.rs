//! A disk in real time: a file behind which the kernel finds a device, as slow as its model.
//!
//! The kernel waits for this process, also when it needs memory. So that it never waits for ever,
//! all memory is locked, the heap is there from the start, the data that wait are bounded, and what
//! memory is still asked for is won without writing to a file system ([`privileges`]). The store
//! should lie on a file system that does not itself lie on this disk.

pub mod control;
pub mod costs;
pub mod devices;
pub mod drive;
pub mod floor;
mod fuse;
pub mod handler;
pub mod lateness;
pub mod log;
pub mod margin;
pub mod media;
pub mod order;
pub mod overlay;
pub mod place;
pub mod privileges;
mod quiet;
pub mod request;
pub mod served;
pub mod state;
pub mod store;
mod sys;
mod threads;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fuser::{MountOption, Session};
use mounting::signals;
use serde_json::{Map, Value, json};

use crate::device::Device;
use crate::host::{RequestQueue, scheduler_by_name};
use crate::profile::Fault;
use crate::time::Ns;
use control::Socket;
use drive::Drive;
use floor::Pace;
use fuse::DiskFile;
use handler::{Handler, Identity};
use lateness::Lateness;
use media::Media;
use place::Place;
use privileges::Privileges;
use served::{Noting, Served};
use state::{Clock, State};
use store::Store;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder in which the device's file appears.
    pub at: PathBuf,
    pub store: PathBuf,
    pub control: PathBuf,
    pub scheduler: String,
    pub clock: Clock,
    pub die_with_parent: bool,
}

/// Makes a device, at a time.
pub type Maker = Box<dyn FnOnce(Ns) -> Box<dyn Served>>;

/// What to serve.
pub struct Model {
    /// The name of the profile, or its path.
    pub profile: String,
    pub name: String,
    pub sectors: u64,
    pub pace: Pace,
    pub device: Maker,
}

/// Serve a disk until a signal or an order asks for the end. Once it can be used, one line of JSON
/// goes to `ready`. At the end everything volatile is stored; only a kill is a power cut.
///
/// # Errors
/// If the place, the store or the socket is in use, or the model is faster than this machine.
pub fn serve(
    settings: &Settings,
    model: Model,
    ready: impl FnOnce(&str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    signals::block_stops();
    if settings.die_with_parent {
        sys::end_with_parent().map_err(|error| failed("tie this process to its caller", &error))?;
    }
    // A thread that is missing would leave requests unanswered for ever.
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        say(panic);
        std::process::abort();
    }));
    let scheduler = scheduler_by_name(&settings.scheduler)?;
    let place = Place::claim(&settings.at)?;
    let store = Arc::new(Store::open(&settings.store, model.sectors)?);
    let socket = Socket::bind(&settings.control)?;
    let privileges = Privileges::acquire();
    let reader = floor::Reader::start().map_err(|error| failed("start a thread", &error))?;

    let at = sys::now_ns();
    let device = Box::new(Noting::new((model.device)(at)));
    let sectors = device.sectors();
    let media = Media::new(Arc::clone(&store));
    let state = State::new(
        RequestQueue::new(device, scheduler),
        media,
        Clock::Instant,
        at,
    );
    let drive = Arc::new(Drive::new(state, store));
    start_answering(&drive).map_err(|error| failed("start a thread", &error))?;
    mount(&place, &drive, sectors, &settings.control)?;
    let _mounted = Mounted(&place);

    let floor = reader.measure(place.disk(), model.pace)?;
    floor.bear(model.pace, &model.name)?;
    drive.report().lateness = Lateness::above(floor.read_4k_ns);
    let handler = Arc::new(Handler {
        drive: Arc::clone(&drive),
        identity: Identity {
            profile: model.profile,
            model: model.name,
            privileges,
            floor,
        },
        scheduler: Mutex::new(settings.scheduler.clone()),
    });
    if settings.clock == Clock::Real {
        let mut state = drive.state();
        state.reset(sys::now_ns());
        state.clock = Clock::Real;
    }
    socket
        .serve(Arc::clone(&handler))
        .map_err(|error| failed("answer orders", &error))?;
    ready(&ready_line(settings, &place, handler.describe()))?;
    signals::wait_for_stop();
    match drive.shut() {
        None => Ok(()),
        Some(broken) => Err(Fault::new(
            broken,
            settings.store.display().to_string(),
            "make space, and check the file system on this disk: writes were lost",
        )),
    }
}

fn failed(what: &str, error: &io::Error) -> Fault {
    Fault::new(
        format!("cannot {what}: {error}"),
        "this machine",
        "see which limit this process runs under",
    )
}

fn ready_line(settings: &Settings, place: &Place, described: Map<String, Value>) -> String {
    let mut line = described;
    line.insert("ready".into(), json!(true));
    line.insert("pid".into(), json!(std::process::id()));
    line.insert("disk".into(), json!(place.disk()));
    line.insert("control".into(), json!(settings.control));
    format!("{}\n", Value::Object(line))
}

/// Takes the mount away however the server ends, unless it is killed.
struct Mounted<'a>(&'a Place);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

fn start_answering(drive: &Arc<Drive>) -> io::Result<()> {
    let drive = Arc::clone(drive);
    let answering = move || {
        // Without this right it is said in the description, and answers are less exact.
        let _ = sys::set_realtime(Some(privileges::ANSWERING));
        drive.answer_all();
    };
    threads::named("answer").spawn(answering).map(drop)
}

/// Mount, and receive requests in a thread of their own.
fn mount(place: &Place, drive: &Arc<Drive>, sectors: u64, control: &Path) -> Result<(), Fault> {
    let refused = |error: io::Error| {
        Fault::new(
            format!("the kernel does not mount the disk: {error}"),
            place.path().display().to_string(),
            "run as root, and see that /dev/fuse is there (`modprobe fuse`)",
        )
    };
    let file = DiskFile {
        drive: Arc::clone(drive),
        sectors,
        control: std::path::absolute(control).map_err(refused)?,
    };
    let mut config = fuser::Config::default();
    config.mount_options = vec![
        MountOption::FSName(place::MOUNT_NAME.into()),
        MountOption::NoAtime,
    ];
    let session = Session::new(file, place.path(), &config).map_err(refused)?;
    let receiving = move || {
        let _ = sys::set_realtime(Some(privileges::RECEIVING));
        // It ends when somebody else has unmounted the disk, which nobody can use then.
        if let Err(error) = session.run() {
            let _ = writeln!(
                io::stderr(),
                "fsgreen-simdisk: the kernel asks no more: {error}"
            );
        }
        signals::stop();
    };
    let started = threads::named("receive").spawn(receiving);
    started.map(drop).map_err(refused)
}
