//! How a mount stands, for whoever asks at its socket: `.greenfs/control` on flash.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::Serialize;

use crate::branch::folder::Folder;
use crate::branch::own;
use crate::crypt;
use crate::mount::origins::Counts;
use crate::mount::shared::Shared;
use crate::mount::spins::Spins;
use crate::mount::standing::{Phase, Standing, Standings};
use crate::power::{self, Power};
use crate::protocol::{Kind, Role, State};
use crate::report::{lacks, size};
use crate::sys;
use crate::volume::Flash;

const SOCKET: &str = "control";

/// The path of the socket through an open folder: that of the folder may be too long for one.
fn socket(flash: &Path) -> io::Result<(File, PathBuf)> {
    let folder = File::open(flash.join(own("")))?;
    let path = format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd());
    Ok((folder, path.into()))
}

/// Ends what is for people; [`Stats`] follow.
const END: char = '\0';

/// How the mount of a flash folder stands; none if it has none.
pub fn ask(flash: &Path) -> Option<String> {
    Some(ask_all(flash)?.split(END).next()?.to_owned())
}

/// The same in numbers, as a line of JSON.
pub fn ask_stats(flash: &Path) -> Option<String> {
    Some(ask_all(flash)?.split_once(END)?.1.to_owned())
}

fn ask_all(flash: &Path) -> Option<String> {
    let (_folder, path) = socket(flash).ok()?;
    let mut text = String::new();
    UnixStream::connect(path)
        .ok()?
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

/// What the answer is made of.
pub struct Report {
    pub shared: Arc<Shared>,
    pub standings: Arc<Standings>,
    pub flash: PathBuf,
    pub at: PathBuf,
    pub since: SystemTime,
    pub counts: Arc<Counts>,
    pub flash_most_b: Option<u64>,
    pub power: Option<Arc<Power>>,
    pub spins: Arc<Spins>,
}

/// What flash has of the files, and what was read elsewhere since the volume was mounted.
#[derive(Clone, Copy, Debug, Serialize)]
struct Stats {
    /// Bytes of files.
    flash_b: u64,
    /// The bound of that; null without one.
    flash_most_b: Option<u64>,
    files: usize,
    /// Files of which flash has a part, and the bytes that it has not.
    parts: usize,
    absent_b: u64,
    given_up_b: u64,
    from_remote_b: u64,
    from_disk_b: u64,
}

impl Stats {
    fn said(&self) -> Option<String> {
        if self.flash_most_b.is_none() && self.parts == 0 {
            return None;
        }
        let bound = self
            .flash_most_b
            .map_or_else(String::new, |b| format!(" of {}", size(b)));
        Some(format!(
            "        {}{bound} on flash, {} of {} files in part; read {} from the remote, {} from the disk",
            size(self.flash_b),
            self.parts,
            self.files,
            size(self.from_remote_b),
            size(self.from_disk_b),
        ))
    }
}

impl Report {
    /// Begin to answer.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn answer_all(self) -> io::Result<()> {
        let (_folder, path) = socket(&self.flash)?;
        let _ = std::fs::remove_file(&path); // of a mount that was killed; flash is locked
        let listener = UnixListener::bind(&path)?;
        std::thread::Builder::new().spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                // Who does not listen gets no answer.
                let _ = stream.write_all(self.text().as_bytes());
            }
        })?;
        Ok(())
    }

    fn text(&self) -> String {
        // A disk may take its time to answer.
        let disk = self.disk();
        let flash = self.shared.flash();
        let state = flash.state();
        let count = state.catalogue.nodes().len().saturating_sub(1);
        let mut text = format!(
            "mount   {}: since {}\nflash   {}: {count} files and folders\n",
            self.at.display(),
            sys::local_time(self.since),
            self.flash.display()
        );
        if let Err(error) = flash.check_journal() {
            let _ = writeln!(text, "        {error}: unmount, and mount again");
        }
        if crypt::is_encrypted(&self.flash) {
            text += crypt::ENCRYPTED;
        }
        let stats = self.stats(&flash);
        if let Some(said) = stats.said() {
            let _ = writeln!(text, "{said}");
        }
        self.standings.look(|branches| {
            for (role, standing) in branches {
                let _ = writeln!(text, "{role:<7} {}", said(*role, standing, state));
                if *role == Role::Disk {
                    text += &disk;
                }
            }
        });
        if flash.left_out() > 0 {
            let count = flash.left_out();
            let _ = writeln!(
                text,
                "        {count} devices, sockets or pipes are on flash alone"
            );
        }
        text.push(END);
        // Numbers are always text.
        text += &serde_json::to_string(&stats).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How the disk sleeps: why it last did not, and what it says itself.
    fn disk(&self) -> String {
        let mut text = format!("        {}\n", self.spins.said());
        let power = self.power.as_ref();
        if let Some((power, disk)) = power.and_then(|power| Some((power, power.known()?))) {
            let state = power.state(&disk);
            let woken = match state == power::State::Active && self.spins.is_asleep() {
                true => ", though it was put to sleep: others use it",
                false => "",
            };
            let _ = writeln!(text, "        {disk}: {state}{woken}");
        }
        text
    }

    fn stats(&self, flash: &Flash<Folder>) -> Stats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let nodes = flash.state().catalogue.nodes().values();
        Stats {
            flash_b: flash.present_b(),
            flash_most_b: self.flash_most_b,
            files: nodes.filter(|node| node.kind == Kind::File).count(),
            parts: flash.parts().count(),
            absent_b: flash.parts().map(|(_, part)| part.absent_b()).sum(),
            given_up_b: count(&self.counts.given_up_b),
            from_remote_b: count(&self.counts.from_remote_b),
            from_disk_b: count(&self.counts.from_disk_b),
        }
    }
}

fn said(role: Role, standing: &Standing, state: &State) -> String {
    let phase = match &standing.phase {
        Phase::Away(why) => format!("away ({why})"),
        Phase::CatchingUp => "catching up".into(),
        Phase::Connected => "connected".into(),
        Phase::AllBut(path) => {
            format!(
                "connected, but {} is overwritten all the time",
                path.display()
            )
        }
        Phase::Asleep => "asleep".into(),
    };
    let lacks = match state.behind.get(&role) {
        Some(behind) => lacks(state, behind),
        None => "holds nothing yet".into(),
    };
    let since = match standing.whole_at {
        Some(at) => format!("; held all at {}", sys::local_time(at)),
        None => String::new(),
    };
    let kept = match standing.has_kept {
        true => format!(
            "; others changed it: look at {}",
            standing.place.join(own("kept")).display()
        ),
        false => String::new(),
    };
    let place = standing.place.display();
    format!("{place}: {phase}; {lacks}{since}{kept}")
}
