//! Drives small enough for a test, and a host that keeps one at work.

use simdisk::device::{Action, Command, Device, Event, Extent, SECTOR_B};
use simdisk::profile::{Overrides, Profile, SsdProfile};
use simdisk::ssd::Ssd;
use simdisk::time::Ns;

pub fn profile() -> SsdProfile {
    ssd(Profile::load("x25-m-g2").unwrap())
}

/// The shipped drive with so many blocks of data on a die.
pub fn small(blocks: u64, spare_percent: f64) -> SsdProfile {
    shrunk(profile(), 20 * blocks * 128 * 8, spare_percent)
}

pub fn shrunk(mut profile: SsdProfile, sectors: u64, spare_percent: f64) -> SsdProfile {
    let overrides = Overrides {
        sectors: Some(sectors),
        ..Overrides::default()
    };
    profile.flash.spare_percent = spare_percent;
    ssd(Profile::Ssd(profile).with(&overrides, "small").unwrap())
}

pub fn ssd(profile: Profile) -> SsdProfile {
    match profile {
        Profile::Ssd(ssd) => ssd,
        Profile::Disk(_) => panic!("a disk"),
    }
}

pub fn near(value: f64, aim: f64, share: f64) -> bool {
    (value / aim - 1.0).abs() <= share
}

/// A host that keeps some commands under way; the next one comes as one completes.
pub struct Host {
    pub ssd: Ssd,
    pub at: Ns,
    tag: u64,
}

impl Host {
    pub fn new(ssd: Ssd) -> Self {
        Self { ssd, at: 0, tag: 0 }
    }

    pub fn send(&mut self, action: Action, extent: Extent) {
        let command = Command {
            tag: self.tag,
            action,
            extent,
            through: false,
        };
        self.tag += 1;
        self.ssd.submit(self.at, command);
    }

    /// Go on until something completes.
    fn wait(&mut self) {
        let mut events = Vec::new();
        while !events
            .iter()
            .any(|(_, event)| matches!(event, Event::Completed { .. }))
        {
            self.at = self.ssd.next().expect("something is under way");
            self.ssd.advance(self.at, &mut events);
        }
    }

    pub fn flush(&mut self) {
        self.send(
            Action::Flush,
            Extent {
                sector: 0,
                sectors: 0,
            },
        );
        while self.ssd.waiting() > 0 {
            self.wait();
        }
    }

    /// Carry out commands at this depth and what they leave in the cache. 10^6 B/s.
    pub fn throughput_mb_s(
        &mut self,
        action: Action,
        depth: usize,
        extents: impl Iterator<Item = Extent>,
    ) -> f64 {
        let began = self.at;
        let mut bytes = 0;
        for extent in extents {
            while self.ssd.waiting() >= depth {
                self.wait();
            }
            self.send(action, extent);
            bytes += extent.sectors * SECTOR_B;
        }
        self.flush();
        bytes as f64 * 1e3 / (self.at - began) as f64
    }

    pub fn counted(&self, name: &str) -> f64 {
        self.ssd.counters()[name] as f64
    }
}

/// Random pages of 4 KiB below a sector.
pub fn random_pages(seed: u64, count: usize, sectors: u64) -> impl Iterator<Item = Extent> {
    let mut state = 0x853c_49e6_748f_ea9b_u64 ^ seed;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Extent {
            sector: (state >> 16) % (sectors / 8) * 8,
            sectors: 8,
        }
    })
    .take(count)
}

/// Extents of 128 KiB, one after the other.
pub fn in_order(count: u64) -> impl Iterator<Item = Extent> {
    (0..count).map(|index| Extent {
        sector: index * 256,
        sectors: 256,
    })
}
