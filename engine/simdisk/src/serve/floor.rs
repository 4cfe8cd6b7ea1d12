//! The floor: how fast a disk without a model is here, behind a loop device where that is possible.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::profile::Fault;
use crate::serve::{sys, threads};
use crate::time::Ns;

const SMALL_B: usize = 4096;
const SMALL_READS: usize = 200;
const LARGE_B: usize = 1 << 20;
const LARGE_READS: usize = 16;

/// The best of these counts: the others say what else this machine did.
const ROUNDS: usize = 3;

/// So long a machine that seems to be too slow may go on to show that it was only busy.
const PATIENCE: Duration = Duration::from_secs(3);

/// What answering costs here, the model left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// Median of reads of 4 KiB, one at a time, in the best of some rounds.
    pub read_4k_ns: Ns,
    /// Reads of 1 MiB, one after the other, in the best round.
    pub sequential_b_s: u64,
    /// Measured behind a loop device; without the right to make one, on the file.
    pub behind_loop: bool,
}

/// The fastest that a device can be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// The shortest answer to a read of 4 KiB.
    pub read_4k_ns: Ns,
    pub sequential_b_s: u64,
}

impl Floor {
    fn bears(&self, pace: Pace) -> bool {
        self.read_4k_ns <= pace.read_4k_ns && pace.sequential_b_s <= self.sequential_b_s
    }

    /// # Errors
    /// If a device would have to be faster than this machine is.
    pub fn bear(&self, pace: Pace, model: &str) -> Result<(), Fault> {
        if self.bears(pace) {
            return Ok(());
        }
        let way = if self.behind_loop {
            "a loop device over FUSE"
        } else {
            "FUSE"
        };
        let what = if pace.read_4k_ns < self.read_4k_ns {
            format!(
                "it answers a read of 4 KiB in {:.1} us, but the floor of this machine is {:.1} us \
                 ({way}, without a model)",
                pace.read_4k_ns as f64 / 1e3,
                self.read_4k_ns as f64 / 1e3
            )
        } else {
            format!(
                "it reads {:.0} MB/s, but the floor of this machine is {:.0} MB/s ({way}, without \
                 a model)",
                pace.sequential_b_s as f64 / 1e6,
                self.sequential_b_s as f64 / 1e6
            )
        };
        Err(Fault::new(
            what,
            model,
            "take a slower disk, or a machine with a faster core that does nothing else",
        ))
    }
}

/// A reader that is there before the mount is.
///
/// Its descriptors are its own, so that it does not hold the connection to the kernel open: if this
/// process is killed while it reads, the read fails rather than waits for ever for this process.
pub struct Reader {
    go: Sender<(PathBuf, Pace)>,
    measured: JoinHandle<io::Result<Floor>>,
}

impl Reader {
    /// # Errors
    /// If there is no further thread.
    pub fn start() -> io::Result<Self> {
        let (go, disk) = mpsc::channel::<(PathBuf, Pace)>();
        let (ready, is_ready) = mpsc::channel();
        let measured = threads::named("floor").spawn(move || {
            let own = sys::own_descriptors();
            let _ = ready.send(());
            own?;
            let (path, pace) = disk.recv().map_err(io::Error::other)?;
            measure(&path, pace)
        })?;
        is_ready.recv().map_err(io::Error::other)?;
        Ok(Self { go, measured })
    }

    /// Measure on the file of a disk that is served with the instant clock; longer where the floor
    /// does not bear the pace at once.
    pub fn measure(self, disk: PathBuf, pace: Pace) -> Result<Floor, Fault> {
        let origin = disk.display().to_string();
        let _ = self.go.send((disk, pace));
        let measured = self.measured.join();
        measured
            .unwrap_or_else(|_| Err(io::Error::other("the reader has failed")))
            .map_err(|error| {
                Fault::new(
                    format!("the floor cannot be measured: {error}"),
                    origin,
                    "see that FUSE works here, and that the store can be read",
                )
            })
    }
}

fn measure(path: &Path, pace: Pace) -> io::Result<Floor> {
    let file = sys::open_direct(path)?;
    let (device, behind_loop) = match sys::attach_loop(&file) {
        Ok(device) => (device, true),
        Err(_) => (file, false),
    };
    let mut memory = vec![0; LARGE_B + SMALL_B];
    let from = memory.as_ptr().align_offset(SMALL_B);
    let aligned = &mut memory[from..from + LARGE_B];
    let size_b = longest(path)?;
    let mut timed = |length: usize| -> io::Result<Ns> {
        let length = length.min(size_b);
        let before = sys::now_ns();
        device.read_exact_at(&mut aligned[..length], 0)?;
        Ok(sys::now_ns() - before)
    };
    timed(LARGE_B)?;
    let mut round = || -> io::Result<Floor> {
        let small = (0..SMALL_READS).map(|_| timed(SMALL_B));
        let mut small = small.collect::<io::Result<Vec<_>>>()?;
        small.sort_unstable();
        let large = (0..LARGE_READS).map(|_| timed(LARGE_B));
        let large_ns = large.sum::<io::Result<Ns>>()?.max(1);
        let read_b = (LARGE_READS * size_b) as u128;
        Ok(Floor {
            read_4k_ns: small[SMALL_READS / 2],
            sequential_b_s: (read_b * 1_000_000_000 / u128::from(large_ns)) as u64,
            behind_loop,
        })
    };
    best(&mut round, pace)
}

/// The best of some rounds, and of more while it does not bear the pace and there is patience.
fn best(round: &mut impl FnMut() -> io::Result<Floor>, pace: Pace) -> io::Result<Floor> {
    let until = Instant::now() + PATIENCE;
    let mut best = round()?;
    for done in 1.. {
        let is_enough = best.bears(pace) || Instant::now() >= until;
        if done >= ROUNDS && is_enough {
            break;
        }
        let next = round()?;
        best.read_4k_ns = best.read_4k_ns.min(next.read_4k_ns);
        best.sequential_b_s = best.sequential_b_s.max(next.sequential_b_s);
    }
    Ok(best)
}

/// The longest read; a disk may be smaller. Bytes.
fn longest(path: &Path) -> io::Result<usize> {
    Ok(path.metadata()?.len().min(LARGE_B as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that is too fast would be simulated by one that is as slow as the machine.
    #[test]
    fn what_is_faster_than_the_machine_is_refused() {
        let floor = Floor {
            read_4k_ns: 15_000,
            sequential_b_s: 900_000_000,
            behind_loop: true,
        };
        let pace = |read_4k_ns, sequential_b_s| Pace {
            read_4k_ns,
            sequential_b_s,
        };
        assert!(floor.bear(pace(15_000, 900_000_000), "slow").is_ok());
        let short = floor.bear(pace(10_000, 1), "short").unwrap_err();
        assert!(
            short.what.contains("floor of this machine is 15.0 us"),
            "{short}"
        );
        let wide = floor
            .bear(pace(100_000, 3_000_000_000), "wide")
            .unwrap_err();
        assert!(wide.what.contains("900 MB/s"), "{wide}");
    }

    /// A trial on a machine that was busy for a moment would be refused as on one that is too slow.
    #[test]
    fn a_busy_machine_gets_time_to_show_that_it_is_fast() {
        let pace = Pace {
            read_4k_ns: 50_000,
            sequential_b_s: 1_000,
        };
        let mut rounds = 0;
        let mut calm_from_the_tenth = || {
            rounds += 1;
            Ok(Floor {
                read_4k_ns: if rounds < 10 { 57_000 } else { 15_000 },
                sequential_b_s: 2_000,
                behind_loop: true,
            })
        };
        let floor = best(&mut calm_from_the_tenth, pace).unwrap();
        assert_eq!(floor.read_4k_ns, 15_000);
        assert_eq!(rounds, 10);
    }
}
