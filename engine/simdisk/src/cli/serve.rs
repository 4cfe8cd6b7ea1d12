//! `serve`: a disk in real time.

use std::path::PathBuf;

use lexopt::{Parser, prelude::*};

use super::command::{Command, print, usage};
use crate::profile::{Fault, Overrides, Profile};
use crate::serve::state::Clock;
use crate::serve::{Model, Settings, devices};

pub const COMMAND: Command = Command {
    name: "serve",
    about: "let the kernel use a disk, in real time",
    help: HELP,
    run,
};

const HELP: &str = "\
fsgreen-simdisk serve DISK --at DIR --store FILE --control SOCKET [options]

Serve a disk as the file DIR/disk, to be put behind a loop device with direct I/O; DIR/control leads
to the socket. It answers as late as the disk would, until SIGTERM, SIGINT, SIGHUP or the order to
stop; then what it has cached is stored and the mount goes. To be killed is to lose power: what was
not flushed is lost, and the dead mount goes when a server starts there again, or by `umount -l DIR`.
Needs root and FUSE.

DISK is a name that `fsgreen-simdisk disks` lists or the path of such a file. A disk that is faster
than this machine can be is refused; the floor is measured at the start. Once the disk can be used,
a line of JSON that describes it goes to the standard output.

  --at DIR              an empty folder to mount on
  --store FILE          what the media hold: a sparse file, made if there is none
  --control SOCKET      where orders are taken
  --scheduler NAME      before the disk, as if the kernel had it: fifo (default), elevator, ...
  --depth N             commands that the disk takes at once
  --policy NAME         the order in which the disk serves them: fifo, sptf or elevator
  --write MODE          back or through: when a write is complete
  --read-ahead-kib N    most that the disk reads ahead
  --sectors N           fewer sectors, the inner ones left out
  --clock CLOCK         real (default), or instant: no model, for preparing
  --die-with-parent     end as by SIGTERM when the caller ends

An order is a line of JSON to the socket, answered by one. {\"do\": WHAT, ...} with
  describe  energy  counters  reset  stop   nothing further
  timing                                    \"reset\": true begins anew
  trace                                     \"since_ns\": what was drawn from then on
  clock scheduler depth policy              \"to\": as the options above
  log                                       \"to\": FILE, a table of all requests; without, its end
  fault                                     \"kind\": unreadable (\"sector\", \"sectors\"),
                                            hang (\"seconds\"), vanish or none
  power                                     \"to\": cut or restore
  spin                                      \"to\": standby; without, what the platters do
  state                                     \"to\": initial or steady; only an SSD has states

Example:
  fsgreen-simdisk serve wd200bb --at /mnt/simdisk --store /var/tmp/disk --control /run/simdisk &
  losetup --find --show --direct-io=on /mnt/simdisk/disk
";

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some((disk, overrides, settings)) = arguments(parser)? else {
        return Ok(None);
    };
    let profile = Profile::load(&disk)?.with(&overrides, &disk)?;
    let model = Model {
        name: profile.model().to_owned(),
        sectors: profile.sectors(),
        pace: devices::pace(&profile),
        device: Box::new(move |at| devices::device(&profile, at)),
        profile: disk,
    };
    crate::serve::serve(&settings, model, print).map(Some)
}

fn arguments(parser: &mut Parser) -> Result<Option<(String, Overrides, Settings)>, Fault> {
    parsed(parser).map_err(|error| usage(COMMAND.name, error))
}

fn parsed(parser: &mut Parser) -> Result<Option<(String, Overrides, Settings)>, lexopt::Error> {
    let (mut disk, mut at, mut store, mut control) = (None, None, None, None);
    let mut overrides = Overrides::default();
    let (mut scheduler, mut clock, mut die_with_parent) = ("fifo".to_owned(), Clock::Real, false);
    let path = |parser: &mut Parser| parser.value().map(PathBuf::from);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("at") => at = Some(path(parser)?),
            Long("store") => store = Some(path(parser)?),
            Long("control") => control = Some(path(parser)?),
            Long("scheduler") => scheduler = parser.value()?.string()?,
            Long("clock") => clock = word(parser)?,
            Long("die-with-parent") => die_with_parent = true,
            Long("depth") => overrides.depth = Some(parser.value()?.parse()?),
            Long("policy") => overrides.policy = Some(word(parser)?),
            Long("write") => overrides.write = Some(word(parser)?),
            Long("read-ahead-kib") => overrides.read_ahead_kib = Some(parser.value()?.parse()?),
            Long("sectors") => overrides.sectors = Some(parser.value()?.parse()?),
            Value(name) if disk.is_none() => disk = Some(name.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let settings = Settings {
        at: at.ok_or("which folder? --at DIR")?,
        store: store.ok_or("which file? --store FILE")?,
        control: control.ok_or("which socket? --control SOCKET")?,
        scheduler,
        clock,
        die_with_parent,
    };
    Ok(Some((disk.ok_or("which DISK?")?, overrides, settings)))
}

/// One of the words that a type has in JSON.
fn word<T: serde::de::DeserializeOwned>(parser: &mut Parser) -> Result<T, lexopt::Error> {
    let word = parser.value()?.string()?;
    serde_json::from_value(word.into()).map_err(|error| error.to_string().into())
}
