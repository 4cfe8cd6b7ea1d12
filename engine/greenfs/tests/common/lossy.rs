//! A wire that loses packets: a device of the kernel whose other end is here.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

/// Where the addresses stand in a packet of IPv4, the sender's first.
const ADDRESSES: usize = 12;
const HEADER_B: usize = 20;

/// What is sent to `there` arrives at `here` as from `there`, and the other way round, if it is not lost.
pub struct Wire {
    pub here: String,
    pub there: String,
    loss_percent: Arc<AtomicU32>,
    lost: Arc<AtomicU64>,
}

impl Wire {
    /// None, with the reason printed, where there can be none.
    pub fn new() -> Option<Self> {
        let Some((device, name)) = device() else {
            eprintln!("skipped: needs root and /dev/net/tun (modprobe tun)");
            return None;
        };
        let [.., high, low] = std::process::id().to_be_bytes();
        let [here, there] = [1, 2].map(|end| format!("10.{}.{low}.{end}", high | 128));
        let network = format!("{here}/24");
        for words in [
            ["address", "add", &network, "dev", &name],
            ["link", "set", "dev", &name, "up"],
        ] {
            if !Command::new("ip")
                .args(words)
                .status()
                .is_ok_and(|ended| ended.success())
            {
                eprintln!("skipped: needs ip (apt install iproute2)");
                return None;
            }
        }
        let wire = Self {
            here,
            there,
            loss_percent: Arc::default(),
            lost: Arc::default(),
        };
        let (loss_percent, lost) = (Arc::clone(&wire.loss_percent), Arc::clone(&wire.lost));
        thread::spawn(move || pass(device, &loss_percent, &lost));
        Some(wire)
    }

    /// Lose so many of a hundred packets from now on, in each direction.
    pub fn lose(&self, percent: u32) {
        self.loss_percent.store(percent, Ordering::Relaxed);
    }

    /// How many were lost so far.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// A device that lasts as long as it is open, and its name.
fn device() -> Option<(File, String)> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .ok()?;
    // SAFETY: zeros are a valid structure.
    let mut asked: libc::ifreq = unsafe { std::mem::zeroed() };
    for (letter, to) in b"lossy%d".iter().zip(&mut asked.ifr_name) {
        *to = *letter as libc::c_char;
    }
    asked.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    // SAFETY: the descriptor is open, and the structure is valid for the call.
    if unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut asked) } != 0 {
        return None;
    }
    let name = asked.ifr_name.iter().take_while(|letter| **letter != 0);
    Some((device, name.map(|letter| *letter as u8 as char).collect()))
}

fn pass(mut device: File, loss_percent: &AtomicU32, lost: &AtomicU64) {
    let mut packet = vec![0; 1 << 16];
    let mut chance = 1_u32;
    while let Ok(size_b) = device.read(&mut packet) {
        if size_b < HEADER_B || packet[0] >> 4 != 4 {
            continue;
        }
        // Numbers of Numerical Recipes: the same packets are lost each time.
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if (chance >> 16) % 100 < loss_percent.load(Ordering::Relaxed) {
            lost.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        // No sum of a packet changes by that.
        let (from, to) = packet[ADDRESSES..HEADER_B].split_at_mut(4);
        from.swap_with_slice(to);
        // What the kernel does not take now is lost, as on any wire.
        let _ = device.write(&packet[..size_b]);
    }
}
