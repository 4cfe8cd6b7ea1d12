//! `mount` and `umount`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mounting::place::{self as kernel, resolved, unmount};

use super::asked::Asked;
use super::flash::closing;
use super::status;
use crate::branch::folder::Folder;
use crate::crypt;
use crate::fault::Fault;
use crate::mount::{Settings, ask, place, serve};

/// How often a person hears that the last synchronisation goes on.
const SAY_AGAIN: Duration = Duration::from_secs(5);

pub fn run(asked: &Asked) -> Result<(String, ExitCode), Fault> {
    let at = asked.mountpoint()?;
    check_apart(asked, at)?;
    if asked.dry_run {
        let (text, code) = status::run(asked)?;
        let place = place::claim(at, &asked.flash)?;
        return Ok((format!("would mount on {}\n{text}", place.display()), code));
    }
    if !asked.foreground {
        return start(asked, at);
    }
    let settings = Settings {
        flash: asked.flash.clone(),
        branches: asked.branches.clone(),
        at: at.to_owned(),
        anew: asked.anew,
        patience: asked.patience,
        limits: asked.limits,
        power: asked.power().map(Arc::new),
        sleep_after: asked.sleep_after,
        flash_most_b: asked.flash_mib.map(|mib| u64::from(mib) << 20),
        flash_key: asked.flash_key.clone(),
    };
    let held = asked.flash_key.as_ref();
    let held = held.map(|_| hold(at, &asked.flash)).transpose()?;
    let said = format!("mounted {} on {}\n", asked.flash.display(), at.display());
    let ready = || {
        let mut output = io::stdout().lock();
        // Who started it may be gone.
        let _ = output
            .write_all(said.as_bytes())
            .and_then(|()| output.flush());
    };
    match (serve(&settings, ready), held) {
        (Ok(()), Some(held)) => Err(lock(&asked.flash, held)),
        (served, _) => closing(asked, |_| served).map(|()| (String::new(), ExitCode::SUCCESS)),
    }
}

/// Lock the folder that is mounted on: `umount` waits until this process lets go of it.
fn hold(at: &Path, flash: &Path) -> Result<File, Fault> {
    let place = place::claim(at, flash)?;
    let folder = File::open(place).and_then(|folder| kernel::lock(&folder).map(|()| folder));
    folder.map_err(|error| {
        let what = format!("this folder cannot be locked: {error}");
        let next = "wait until what was mounted there has ended, or name another folder";
        Fault::new(what, at, next)
    })
}

/// Have the kernel forget the key of flash. As long as this program runs, it has flash open: so
/// another one does it, in its process. Returns only if that cannot be.
fn lock(flash: &Path, held: File) -> Fault {
    let mut greenfs = Command::new("/proc/self/exe");
    greenfs.args(["flash", "lock", "--"]).arg(flash);
    // Who started this may be gone.
    let error = greenfs.stdin(held).stdout(Stdio::null()).exec();
    let what = format!("the kernel keeps the key of flash: {error}");
    let next = format!("greenfs flash lock {}", flash.display());
    Fault::new(what, flash, next)
}

/// Start a process of its own that serves the mount, and wait until it does.
fn start(asked: &Asked, at: &Path) -> Result<(String, ExitCode), Fault> {
    let failed = |error: io::Error| {
        let next = "see which limit this process runs under";
        Fault::new(format!("no process can be started: {error}"), at, next)
    };
    let mut greenfs = Command::new(std::env::current_exe().map_err(failed)?);
    greenfs
        .args(["mount", "--foreground", "--flash"])
        .arg(&asked.flash);
    for (role, place) in &asked.branches {
        greenfs.arg(format!("--{role}")).arg(place);
    }
    if asked.anew {
        greenfs.arg("--anew");
    }
    greenfs
        .arg("--patience")
        .arg(asked.patience.as_secs_f64().to_string());
    greenfs
        .arg("--spin-ups")
        .arg(asked.limits.per_day.to_string());
    greenfs
        .arg("--sleep-after")
        .arg(asked.sleep_after.as_secs_f64().to_string());
    if let Some(line) = &asked.sleep_command {
        greenfs.arg("--sleep-command").arg(line);
    }
    if let Some(file) = &asked.flash_key {
        greenfs.arg("--flash-key").arg(file);
    }
    if let Some(mib) = asked.flash_mib {
        greenfs.arg("--flash-mib").arg(mib.to_string());
    }
    greenfs.arg("--").arg(at);
    // A key that ends this process is not meant for the mount.
    greenfs.process_group(0).stdin(Stdio::null());
    greenfs.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = greenfs.spawn().map_err(failed)?;
    let mut said = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output)
            .read_line(&mut said)
            .map_err(failed)?;
    }
    if !said.is_empty() {
        return Ok((said, ExitCode::SUCCESS));
    }
    let mut why = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut why).map_err(failed)?;
    }
    let _ = io::stderr().write_all(why.as_bytes());
    Ok((String::new(), ExitCode::FAILURE))
}

/// The mount must not hide a branch, nor stand in one.
fn check_apart(asked: &Asked, at: &Path) -> Result<(), Fault> {
    let unusable = |error: io::Error| {
        let next = "make it with `mkdir -p`, or name another folder";
        Fault::new(
            format!("this folder cannot be mounted on: {error}"),
            at,
            next,
        )
    };
    let place = resolved(at).map_err(unusable)?;
    let branches = asked.branches.iter().map(|(_, branch)| branch);
    for branch in std::iter::once(&asked.flash).chain(branches) {
        if place.starts_with(branch) || branch.starts_with(&place) {
            return Err(Fault::new(
                format!(
                    "this folder is {} or in it, or that one in this",
                    branch.display()
                ),
                at,
                "mount on a folder of its own",
            ));
        }
    }
    Ok(())
}

/// Unmount, and wait until the branches that can be reached were brought up.
pub fn end(at: &Path) -> Result<(String, ExitCode), Fault> {
    let failed = |error: io::Error| {
        let next = format!(
            "end the programs that use it (`fuser -vm {}`)",
            at.display()
        );
        Fault::new(
            format!("this folder cannot be unmounted: {error}"),
            at,
            next,
        )
    };
    let found = place::mounted_flash(at).map_err(failed)?;
    let (place, flash) = found.ok_or_else(|| {
        let next = "see what is mounted with `grep ^greenfs: /proc/mounts`";
        Fault::new("no volume is mounted there", at, next)
    })?;
    let was_dead = kernel::is_dead(&place);
    unmount(&place, false).map_err(failed)?;
    let mut said = Instant::now();
    while is_held(&place) || Folder::claim(&flash).is_err() {
        thread::sleep(Duration::from_millis(50));
        if said.elapsed() > SAY_AGAIN {
            said = Instant::now();
            if let Some(stands) = ask(&flash) {
                let _ = write!(io::stderr(), "the last synchronisation goes on:\n{stands}");
            }
        }
    }
    crypt::expect_closed(&flash)?;
    let mut text = format!("unmounted {}\n", place.display());
    if was_dead && crypt::is_encrypted(&flash) {
        let flash = flash.display();
        text += &format!(
            "its greenfs had been killed: if it had a --flash-key, `greenfs flash lock {flash}` \
             takes that out of the kernel\n"
        );
    }
    Ok((text, ExitCode::SUCCESS))
}

/// Whether the process that served a mount on this folder has not come to its end.
fn is_held(place: &Path) -> bool {
    let locked = File::open(place).and_then(|folder| kernel::lock(&folder));
    locked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}
