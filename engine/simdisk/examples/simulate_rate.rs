//! How fast the discrete-event loop is: random reads of 4 KB, kept at a depth, beside a plain loop
//! that adds up the times of the same accesses without queue, caches, account or events.
//!
//! For `bench/simulate_rate.py`. Prints a line of JSON.
//!
//!     cargo run --release --example simulate_rate -- loop|events SCHEDULER DEPTH REQUESTS

use std::hint::black_box;
use std::time::Instant;

use simdisk::device::{Action, Device, Extent};
use simdisk::disk::Disk;
use simdisk::disk::heads::Heads;
use simdisk::disk::mechanics::Mechanics;
use simdisk::host::{RequestQueue, scheduler_by_name};
use simdisk::profile::disk::DiskProfile;
use simdisk::profile::{Overrides, Profile};
use simdisk::simulate::{Backlog, run};
use simdisk::time::Ns;

const DISK: &str = "ddys-t36950n";
const READ_SECTORS: u64 = 8;

/// Places that look random (a linear congruence with the constants of Knuth's MMIX).
struct Places {
    state: u64,
    sectors: u64,
}

impl Iterator for Places {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let blocks = self.sectors / READ_SECTORS;
        Some(Extent {
            sector: (self.state >> 33) % blocks * READ_SECTORS,
            sectors: READ_SECTORS,
        })
    }
}

fn plain_loop(profile: &DiskProfile, places: Places, count: u64) -> Ns {
    let mechanics = Mechanics::new(&profile.geometry, &profile.seek);
    let mut heads = Heads::default();
    let mut now = 0;
    for extent in places.take(count as usize) {
        let access = mechanics.access(heads, now, extent, Action::Read);
        (heads, now) = (access.heads, access.end);
    }
    now
}

fn events(profile: &DiskProfile, scheduler: &str, places: Places, count: u64) -> Ns {
    let disk = Disk::new(profile, 0);
    let depth = disk.depth() as u64;
    let scheduler = scheduler_by_name(scheduler).expect("the name of a scheduler");
    let mut queue = RequestQueue::new(Box::new(disk), scheduler);
    // As many wait at the scheduler as at the disk.
    let mut source = Backlog::new(places, count, Action::Read, 2 * depth, 8);
    run(&mut queue, &mut source, 0, |served| {
        black_box(served);
    })
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [way, scheduler, depth, count] = arguments.as_slice() else {
        panic!("which way, scheduler, depth and count?");
    };
    let overrides = Overrides {
        depth: Some(depth.parse().expect("a depth")),
        ..Overrides::default()
    };
    let count: u64 = count.parse().expect("a count");
    let profile = Profile::load(DISK).and_then(|profile| profile.with(&overrides, DISK));
    let profile = profile.expect("a built-in disk");
    let places = Places {
        state: 1,
        sectors: profile.sectors(),
    };
    let Profile::Disk(profile) = &profile else {
        panic!("{DISK} is a disk");
    };
    let begin = Instant::now();
    let simulated_ns = if way == "loop" {
        plain_loop(profile, places, count)
    } else {
        events(profile, scheduler, places, count)
    };
    let host_s = begin.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({ "requests": count, "host_s": host_s, "simulated_s": simulated_ns as f64 / 1e9 })
    );
}
