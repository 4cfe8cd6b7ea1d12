//! The command line.

mod asked;
mod days;
mod flash;
mod mount;
mod past;
mod pool;
mod serve;
mod status;
mod sync;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use lexopt::Parser;

use crate::fault::Fault;
use asked::{Asked, usage};

const HELP: &str = "\
greenfs keeps copies of a folder on flash: on a remote folder, always, and on a local disk that sleeps.

  greenfs mount  --flash DIR [--remote DIR] [--disk DIR] MOUNTPOINT   let programs work in it
  greenfs umount MOUNTPOINT                                           and bring the others up
  greenfs status --flash DIR [--remote DIR] [--disk DIR]   what each holds and lacks; changes nothing
  greenfs stats  --flash DIR                               of a mount, in numbers: a line of JSON
  greenfs sync   --flash DIR [--remote DIR] [--disk DIR]   bring the folders that are named up
  greenfs fsck   --flash DIR [--remote DIR] [--disk DIR]   compare them with flash first, name by name
  greenfs history [PATH]                                    the versions that the remote keeps of it
  greenfs restore --at TIME PATH [--to PLACE]              copy one of them to where nothing is
  greenfs flash  key FILE / lock DIR                        make a key that encrypts flash; have the kernel forget it
  greenfs days   TABLE [--spin-ups N] [--new]              when the disk would be woken; nothing is touched
  greenfs serve  DIR --cert FILE --key FILE --clients FILE  be the remote of others, over the network
  greenfs certificates DIR [--host NAME] [--client NAME]   make the keys for that
  greenfs pool   check DIR / sweep DIR / key FILE          see that it is whole; remove what is not needed; make a key

While it is mounted, the remote gets every change within moments, and an fsync waits for that. The
disk is brought up when there is a reason: it is new, it lacks much, no remote has the changes, it is
night, or the volume is unmounted; then it is put to sleep again. Without a mount, work in the flash
folder itself and call sync.

The first use makes a folder .greenfs in each. A branch that is not named or not there is away: what
changes meanwhile, removals and new names included, reaches it when it is back. What others changed
on a branch is never deleted: it is moved to .greenfs/kept there, and named.

The remote keeps every version that it was brought, and deletes none: in a mounted volume, read-only, as
.greenfs/history/2026-11-25 or any other time. A PATH is one in a mounted volume; with --remote DIR, it is
one from the root of the volume whose remote that is.

  --anew         with mount, sync and fsck: take an empty folder, or one of others, for a branch that
                 was there before; without it that is refused, for it may only not be mounted
  --dry-run      with mount: say what would be done, and do nothing
  --flash-mib N  with mount: when the files on flash are more than N MiB, what was not used for the longest
                 time and is on the remote (and on the disk, if there is one) is given up there, and
                 comes back when it is read
  --flash-key FILE  with mount, sync, fsck and status: the key of a flash folder that its file system
                 encrypts, as `greenfs flash key FILE` made it; an empty folder is encrypted from then
                 on. The kernel has the key until the command, or the mount, has ended
  --whole        with sync and fsck: bring back to flash what is there in part
  --foreground   with mount: serve it in this process, until SIGTERM (for systemd)
  --patience S   with mount: a remote that does not answer for S seconds is not waited for (2)
  --spin-ups N   with mount and days: the disk is spun up at most N times in any 24 hours (4)
  --sleep-after S  with mount: the disk is put to sleep once nobody has used it for S seconds (60); 0: it
                 is left alone
  --sleep-command LINE  with mount: put it to sleep by this line for sh, where $1 is the disk: /dev/sdb
  --listen ADDRESS:PORT  with serve: where clients come (127.0.0.1:7420; port 0 is any that is free)
  --cert, --key, --clients  with serve: its certificate and key, and the authority of its clients
  --keep DIR     with serve: keep there what clients destroy
  --pool DIR     with serve: keep the data of files there, as chunks of which each is there once, whichever
                 folder's file has it; several servers may have one pool
  --pool-key FILE  with serve and pool: encrypt them with the key that `greenfs pool key FILE` made
  --yes          with pool sweep: remove without asking; without it that is refused where there is no
                 terminal to ask on
  --host NAME    with certificates: a name or address of the server; may be given several times
  --client NAME  with certificates: make the keys of this client (client)

A remote may be greenfs://HOST:PORT, where `greenfs serve` runs. The keys for it lie in the folder that
GREENFS_KEYS names (~/.config/greenfs): ca.pem, cert.pem and key.pem, as `certificates` makes them.

`days` lives through a table of events in virtual time, as a mount with its disk would: the columns are
run,at_s,what,file,size_b; `what` is change, away, back, unmount or end, `at_s` counts from a midnight.
It prints run,at_s,why,copied_b. With --new the disk holds nothing at first.

Example:
  greenfs mount --flash ~/.papers --remote /mnt/server/me --disk ~/backup ~/papers
  greenfs status --flash ~/.papers
  greenfs history ~/papers/paper.tex
  greenfs restore --at '2026-11-25 20:31' ~/papers/paper.tex --to ~/paper-before.tex
  greenfs umount ~/papers

Exit status: 0 done; 1 failed, or not all could be restored; 2 something of others was kept or left.
";

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = dispatch(&mut Parser::from_args(arguments)).and_then(|(text, code)| {
        let mut output = io::stdout().lock();
        let written = output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush());
        let failed = |error: io::Error| {
            let place = Path::new("standard output");
            Fault::new(error.to_string(), place, "look at who reads it")
        };
        written.map(|()| code).map_err(failed)
    });
    done.unwrap_or_else(|fault| {
        let _ = writeln!(io::stderr(), "greenfs: {fault}");
        ExitCode::FAILURE
    })
}

fn dispatch(parser: &mut Parser) -> Result<(String, ExitCode), Fault> {
    use lexopt::prelude::*;
    let word = match parser.next().map_err(usage)? {
        Some(Value(word)) => word,
        Some(Short('V') | Long("version")) => {
            let version = concat!("greenfs ", env!("CARGO_PKG_VERSION"), "\n");
            return Ok((version.into(), ExitCode::SUCCESS));
        }
        Some(Short('h') | Long("help")) | None => return Ok((HELP.into(), ExitCode::SUCCESS)),
        Some(other) => return Err(usage(other.unexpected())),
    };
    if word == "umount" {
        return match parser.next().map_err(usage)? {
            Some(Value(at)) => mount::end(Path::new(&at)),
            _ => Ok((HELP.into(), ExitCode::SUCCESS)),
        };
    }
    let done = match word.to_str() {
        Some("days") => Some(days::run(parser)?),
        Some("history") => Some(past::history(parser)?),
        Some("restore") => Some(past::restore(parser)?),
        Some("flash") => Some(flash::run(parser)?),
        Some("pool") => Some(pool::run(parser)?),
        Some("serve") => Some(serve::run(parser)?),
        Some("certificates") => Some(serve::certificates(parser)?),
        _ => None,
    };
    if let Some(done) = done {
        return Ok(done.unwrap_or_else(|| (HELP.into(), ExitCode::SUCCESS)));
    }
    let Some(asked) = Asked::parse(parser, word == "mount")? else {
        return Ok((HELP.into(), ExitCode::SUCCESS));
    };
    match word.to_str() {
        Some("mount") => mount::run(&asked),
        Some("stats") => status::stats(&asked),
        Some("status") => status::run(&asked),
        Some("sync") => sync::run(&asked, false),
        Some("fsck") => sync::run(&asked, true),
        _ => Err(usage(Value(word).unexpected())),
    }
}
