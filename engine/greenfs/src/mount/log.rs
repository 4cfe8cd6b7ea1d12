//! What happened to a mount, on flash: that a branch came or went, and what keeps it from doing its work.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use crate::branch::own;
use crate::sys;

/// A log that is longer is begun anew; the one before is kept as `log.old`. Bytes.
const MOST_B: u64 = 256 << 10;

pub struct Log(Mutex<File>);

impl Log {
    /// Go on with the log of a flash folder.
    pub fn open(flash: &Path) -> io::Result<Self> {
        let path: PathBuf = flash.join(own("log"));
        if path.metadata().is_ok_and(|log| log.len() > MOST_B) {
            std::fs::rename(&path, path.with_extension("old"))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self(Mutex::new(file)))
    }

    /// A log that cannot be written keeps nobody from working.
    pub fn say(&self, what: &str) {
        let mut file = self.0.lock().expect("a panic ends this process");
        let what = what.replace('\n', " ");
        let _ = writeln!(file, "{} {what}", sys::local_time(SystemTime::now()));
    }
}
