//! How a mount stands, for whoever asks at its socket: `.greenfs/control` on flash.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::branch::own;
use crate::mount::shared::Shared;
use crate::mount::standing::{Phase, Standing, Standings};
use crate::protocol::{Role, State};
use crate::report::lacks;
use crate::sys;

const SOCKET: &str = "control";

/// The path of the socket through an open folder: that of the folder may be too long for one.
fn socket(flash: &Path) -> io::Result<(File, PathBuf)> {
    let folder = File::open(flash.join(own("")))?;
    let path = format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd());
    Ok((folder, path.into()))
}

/// How the mount of a flash folder stands; none if it has none.
pub fn ask(flash: &Path) -> Option<String> {
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
        let flash = self.shared.flash();
        let state = flash.state();
        let count = state.catalogue.nodes().len().saturating_sub(1);
        let mut text = format!(
            "mount   {}: since {}\nflash   {}: {count} files and folders\n",
            self.at.display(),
            sys::local_time(self.since),
            self.flash.display()
        );
        self.standings.look(|branches| {
            for (role, standing) in branches {
                let _ = writeln!(text, "{role:<7} {}", said(*role, standing, state));
            }
        });
        if flash.left_out() > 0 {
            let count = flash.left_out();
            let _ = writeln!(
                text,
                "        {count} devices, sockets or pipes are on flash alone"
            );
        }
        text
    }
}

fn said(role: Role, standing: &Standing, state: &State) -> String {
    let phase = match &standing.phase {
        Phase::Away(why) => format!("away ({why})"),
        Phase::CatchingUp => "catching up".into(),
        Phase::Connected => "connected".into(),
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
    let (place, note) = (standing.place.display(), &standing.note);
    format!("{place}: {phase}; {lacks}{since}{note}{kept}")
}
