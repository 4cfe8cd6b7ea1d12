//! The parameters of an SSD.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::{Check, Place};
use super::common::{Interface, Kind};
use crate::device::SECTOR_B;

/// An SSD, as its file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdProfile {
    pub kind: Kind,
    pub model: String,
    pub year: u16,
    /// Where the numbers of each table come from; of an assumed one, why it is what it is.
    pub sources: BTreeMap<String, String>,
    pub flash: FlashProfile,
    pub collect: CollectProfile,
    pub cache: SsdCacheProfile,
    pub interface: Interface,
    pub queue: SsdQueueProfile,
    pub power: FlashPowerProfile,
}

/// The flash chips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashProfile {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub page_kib: u64,
    pub pages_per_block: u32,
    /// What the user sees, in GiB.
    pub capacity_gib: f64,
    /// Further flash, as a share of the capacity.
    pub spare_percent: f64,
    pub read_us: f64,
    pub program_us: f64,
    pub erase_ms: f64,
    /// Of each channel, 10^6 B/s.
    pub channel_mb_s: f64,
}

/// How space is won back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectProfile {
    /// A die with fewer erased blocks than this collects before it takes data.
    pub free_blocks_low: u32,
    pub policy: CollectPolicy,
}

/// Which block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectPolicy {
    /// The one with the fewest valid pages.
    Greedy,
}

/// The write cache; volatile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdCacheProfile {
    /// 0 for none: a write is complete once the flash holds it.
    pub write_kib: u64,
}

/// Commands that it takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdQueueProfile {
    pub depth: usize,
}

/// What it draws; that of an operation is for each die that is at it, beside `idle_w`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashPowerProfile {
    pub idle_w: f64,
    pub read_w: f64,
    pub program_w: f64,
    pub erase_w: f64,
}

/// Physical pages of a die have numbers of 32 bits.
const MOST_PAGES_PER_DIE: u64 = 1 << 31;

/// Tables that a source must be given for.
const TABLES: [&str; 6] = ["flash", "collect", "cache", "interface", "queue", "power"];

impl SsdProfile {
    /// The user's sectors: the pages that fit in the capacity, whole.
    pub fn sectors(&self) -> u64 {
        self.flash.user_pages() * self.flash.sectors_per_page()
    }

    /// The first thing that is wrong, if any.
    pub(super) fn check(&self) -> Result<(), Check> {
        super::check::sources(&self.sources, &TABLES)?;
        self.flash.check()?;
        self.check_space()?;
        self.interface.check()?;
        Place("queue").number("depth", self.queue.depth as f64, 1.0, 1024.0)?;
        let cache_kib = self.cache.write_kib as f64;
        let user_kib = self.flash.capacity_gib * 1_048_576.0;
        Place("cache").number("write_kib", cache_kib, 0.0, user_kib.min(4e6))?;
        self.power.check()
    }

    /// The least sectors, in whole blocks on every die, that leave spare ones enough to collect.
    pub(super) fn least_sectors(&self) -> Option<u64> {
        let flash = &self.flash;
        let block = u64::from(flash.pages_per_block) * flash.sectors_per_page();
        let all = u64::from(flash.dies()) * block;
        let mut smaller = self.clone();
        let mut sectors = (1..=self.sectors() / all).map(|blocks| blocks * all);
        sectors.find(|&sectors| {
            smaller.flash.set_sectors(sectors);
            smaller.check_space().is_ok()
        })
    }

    /// Without enough spare blocks on a die, collecting could not end.
    fn check_space(&self) -> Result<(), Check> {
        let low = self.collect.free_blocks_low;
        Place("collect").number("free_blocks_low", f64::from(low), 2.0, 4096.0)?;
        let blocks = self.flash.blocks_per_die();
        let spare = blocks.saturating_sub(self.flash.user_blocks_per_die());
        if spare <= low {
            return Err(Place("flash").fault(
                "spare_percent",
                format!("leaves {spare} spare blocks a die, and free_blocks_low is {low}"),
                "give more spare space, or a lower free_blocks_low",
            ));
        }
        let pages = u64::from(blocks) * u64::from(self.flash.pages_per_block);
        if pages > MOST_PAGES_PER_DIE {
            return Err(Place("flash").fault(
                "capacity_gib",
                format!("gives a die {pages} pages, and {MOST_PAGES_PER_DIE} can be addressed"),
                "give less of it, more dies or larger pages",
            ));
        }
        Ok(())
    }
}

impl FlashProfile {
    /// Have so many sectors, and as large a share of spare ones.
    pub(super) fn set_sectors(&mut self, sectors: u64) {
        self.capacity_gib = (sectors * SECTOR_B) as f64 / f64::from(1 << 30);
    }

    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    pub fn sectors_per_page(&self) -> u64 {
        self.page_kib * 2
    }

    /// Pages that the user sees.
    pub fn user_pages(&self) -> u64 {
        (self.capacity_gib * 1_048_576.0) as u64 / self.page_kib
    }

    /// Blocks that a die needs for its share of the user's pages, the last one perhaps not full.
    pub fn user_blocks_per_die(&self) -> u32 {
        let pages = self.user_pages().div_ceil(u64::from(self.dies()));
        pages.div_ceil(u64::from(self.pages_per_block)) as u32
    }

    /// Blocks of a die, spare ones included.
    pub fn blocks_per_die(&self) -> u32 {
        let pages_per_die = self.user_pages() as f64 / f64::from(self.dies());
        let blocks = pages_per_die / f64::from(self.pages_per_block);
        (blocks * (1.0 + self.spare_percent / 100.0)).round() as u32
    }

    fn check(&self) -> Result<(), Check> {
        let place = Place("flash");
        place.number("channels", f64::from(self.channels), 1.0, 64.0)?;
        place.number(
            "dies_per_channel",
            f64::from(self.dies_per_channel),
            1.0,
            64.0,
        )?;
        place.number("page_kib", self.page_kib as f64, 1.0, 64.0)?;
        place.number(
            "pages_per_block",
            f64::from(self.pages_per_block),
            2.0,
            4096.0,
        )?;
        place.number("capacity_gib", self.capacity_gib, 1e-4, 2048.0)?;
        place.number("spare_percent", self.spare_percent, 0.0, 1000.0)?;
        place.number("read_us", self.read_us, 0.001, 1e5)?;
        place.number("program_us", self.program_us, 0.001, 1e5)?;
        place.number("erase_ms", self.erase_ms, 0.001, 1e4)?;
        place.number("channel_mb_s", self.channel_mb_s, 0.1, 1e5)
    }
}

impl FlashPowerProfile {
    fn check(&self) -> Result<(), Check> {
        let states = [
            ("idle_w", self.idle_w),
            ("read_w", self.read_w),
            ("program_w", self.program_w),
            ("erase_w", self.erase_w),
        ];
        states
            .iter()
            .try_for_each(|&(name, power_w)| Place("power").number(name, power_w, 0.0, 1000.0))
    }
}
