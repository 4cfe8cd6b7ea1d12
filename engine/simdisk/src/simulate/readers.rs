//! Concurrent readers, as in nfstricks03 (sections 4.3, 5 and 7).

use serde::{Deserialize, Serialize};

use crate::device::SECTOR_B;
use crate::profile::Fault;
use crate::simulate::layout::Placement;
use crate::time::Ns;

/// What the readers do. All begin at once, each reads one file of `total_mib / readers` to its end
/// and stops.
///
/// Models a local file system with cold caches. Left out: reading inodes, how the read-ahead grows at
/// the start of a file, processors that readers have to share, full memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Readers {
    pub readers: u32,
    /// Of all files together: 256 (section 4.3).
    pub total_mib: u32,
    /// Parts of its file that a reader reads in turn, `read_kib` at a time: 1 is sequential, more
    /// is the stride benchmark of section 7.
    pub streams: u32,
    /// What a reader asks for at once: 8, a block of FFS before FreeBSD 4.5 and of NFS over UDP.
    pub read_kib: u32,
    /// The largest request that the file system makes of neighbouring blocks: 64, which FreeBSD 4
    /// assumes of a device (`DFLTPHYS`); its ATA driver allows 128.
    pub cluster_kib: u32,
    /// Requests that are issued beyond the one that is read from: at most 2, twice the largest
    /// request in `cluster_read` of FreeBSD 4 (sys/kern/vfs_cluster.c). At 0 there is no
    /// read-ahead, and a request is what is asked for.
    pub window: u32,
    /// Data that one block of the block map stands for. The block lies before these data, and must be
    /// read before they can be asked for: meanwhile the reader asks for nothing else. The first data
    /// of a file need none. 4096 is ext2 with blocks of 4 KiB (1,024 addresses of 4 B in an indirect
    /// block), 16384 FFS with blocks of 8 KiB; 0 is a map that is in memory with the inode, as the
    /// extents of ext4 and XFS are for a file in one piece.
    pub map_kib: u32,
    /// One of four equal parts of the device, 1 the outermost; none is the whole device.
    pub partition: Option<u32>,
    pub placement: Placement,
    /// How fast a reader takes what is in memory: assumed 200 MB/s (10^6 B/s), a copy of two
    /// passes over the memory of the time.
    pub copy_mb_s: u32,
    /// Each reader begins at a moment of its own within this time, drawn with `seed`.
    pub start_within_ms: u32,
    pub seed: u64,
}

impl Default for Readers {
    fn default() -> Self {
        Self {
            readers: 1,
            total_mib: 256,
            streams: 1,
            read_kib: 8,
            cluster_kib: 64,
            window: 2,
            map_kib: 0,
            partition: None,
            placement: Placement::default(),
            copy_mb_s: 200,
            start_within_ms: 0,
            seed: 0,
        }
    }
}

/// One reader, as it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    pub reader: u32,
    /// Its file, with the blocks of its map.
    pub sector: u64,
    pub sectors: u64,
    pub start_ns: Ns,
    pub done_ns: Ns,
}

pub(super) const SECTORS_PER_KIB: u64 = 1024 / SECTOR_B;

impl Readers {
    pub(super) fn check(&self) -> Result<(), Fault> {
        let bounds = [
            ("readers", self.readers, 1, 65_536),
            ("total_mib", self.total_mib, 1, 1 << 24),
            ("streams", self.streams, 1, 65_536),
            ("read_kib", self.read_kib, 1, 1 << 20),
            ("cluster_kib", self.cluster_kib, 1, 1 << 20),
            ("window", self.window, 0, 65_536),
            ("map_kib", self.map_kib, 0, 1 << 20),
            ("copy_mb_s", self.copy_mb_s, 1, 1_000_000),
            ("start_within_ms", self.start_within_ms, 0, 3_600_000),
        ];
        for (name, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(Fault::new(
                    format!("{name} is {value}"),
                    format!("readers.{name}"),
                    format!("give a whole number from {least} to {most}"),
                ));
            }
        }
        if self.window > 0 && self.cluster_kib % self.read_kib != 0 {
            return Err(Fault::new(
                format!(
                    "cluster_kib {} is no multiple of read_kib {}",
                    self.cluster_kib, self.read_kib
                ),
                "readers.cluster_kib",
                "give a multiple, as a cluster is made of whole blocks",
            ));
        }
        if self.map_kib % self.request_kib() != 0 {
            return Err(Fault::new(
                format!(
                    "map_kib {} is no multiple of {}, the KiB of a request",
                    self.map_kib,
                    self.request_kib()
                ),
                "readers.map_kib",
                "give a multiple, as no request goes over the end of what is mapped",
            ));
        }
        if self.stream_sectors() == 0 {
            return Err(Fault::new(
                "the files are smaller than one read of each stream",
                "readers.total_mib",
                "give more MiB, or fewer readers or streams",
            ));
        }
        Ok(())
    }

    /// Of data, the largest.
    fn request_kib(&self) -> u32 {
        match self.window {
            0 => self.read_kib,
            _ => self.cluster_kib,
        }
    }

    pub(super) fn request_sectors(&self) -> u64 {
        u64::from(self.request_kib()) * SECTORS_PER_KIB
    }

    /// Of data that a block of the map stands for.
    pub(super) fn mapped_sectors(&self) -> Option<u64> {
        (self.map_kib > 0).then_some(u64::from(self.map_kib) * SECTORS_PER_KIB)
    }

    pub(super) fn read_sectors(&self) -> u64 {
        u64::from(self.read_kib) * SECTORS_PER_KIB
    }

    /// Of each stream, in whole reads.
    pub(super) fn stream_sectors(&self) -> u64 {
        let file = u64::from(self.total_mib) * 1024 * SECTORS_PER_KIB / u64::from(self.readers);
        file / u64::from(self.streams) / self.read_sectors() * self.read_sectors()
    }
}
