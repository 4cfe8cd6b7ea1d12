//! Concurrent readers, as in nfstricks03 (sections 4.3, 5 and 7).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::device::{Action, Command, Extent, Ns, SECTOR_B};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::simulate::layout::{self, Placement};
use crate::simulate::run::Source;
use crate::simulate::stream::Stream;

/// What the readers do. All begin at once, each reads one file of `total_mib / readers` to its end
/// and stops.
///
/// Models a local FFS with cold caches. Left out: reading inodes and indirect blocks, how the
/// read-ahead grows at the start of a file, processors that readers have to share, full memory.
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
    /// Its file.
    pub sector: u64,
    pub sectors: u64,
    pub start_ns: Ns,
    pub done_ns: Ns,
}

/// The readers at work.
pub struct Crowd {
    readers: Vec<Reader>,
    streams: Vec<Stream>,
    /// Of each request by its tag, the stream.
    issuers: Vec<u32>,
    /// When which reader goes on.
    awake: BinaryHeap<Reverse<(Ns, usize)>>,
    at_work: usize,
    read_sectors: u64,
    copy_mb_s: u64,
}

/// One of them. Its streams are neighbours in the list of all.
struct Reader {
    reading: Reading,
    first_stream: usize,
    streams: usize,
    /// The stream that it reads from.
    turn: usize,
    /// Sectors that it is copying.
    copying: Option<u64>,
    /// Its streams that are not read.
    unread: usize,
}

const SECTORS_PER_KIB: u64 = 1024 / SECTOR_B;

impl Readers {
    fn check(&self) -> Result<(), Fault> {
        let bounds = [
            ("readers", self.readers, 1, 65_536),
            ("total_mib", self.total_mib, 1, 1 << 24),
            ("streams", self.streams, 1, 65_536),
            ("read_kib", self.read_kib, 1, 1 << 20),
            ("cluster_kib", self.cluster_kib, 1, 1 << 20),
            ("window", self.window, 0, 65_536),
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
        if self.stream_sectors() == 0 {
            return Err(Fault::new(
                "the files are smaller than one read of each stream",
                "readers.total_mib",
                "give more MiB, or fewer readers or streams",
            ));
        }
        Ok(())
    }

    fn read_sectors(&self) -> u64 {
        u64::from(self.read_kib) * SECTORS_PER_KIB
    }

    /// Of each stream, in whole reads.
    fn stream_sectors(&self) -> u64 {
        let file = u64::from(self.total_mib) * 1024 * SECTORS_PER_KIB / u64::from(self.readers);
        file / u64::from(self.streams) / self.read_sectors() * self.read_sectors()
    }

    /// The readers, ready to begin on a device of so many sectors.
    ///
    /// # Errors
    /// If a number is out of its bounds, or the files do not fit.
    pub fn crowd(&self, device_sectors: u64) -> Result<Crowd, Fault> {
        self.check()?;
        let size = self.stream_sectors();
        let part = layout::part(device_sectors, self.partition)?;
        let file_size = size * u64::from(self.streams);
        let files = layout::files(part, self.placement, self.readers, file_size)?;
        let cluster = match self.window {
            0 => self.read_sectors(),
            _ => u64::from(self.cluster_kib) * SECTORS_PER_KIB,
        };
        let mut streams = Vec::new();
        let mut readers = Vec::new();
        let mut seed = self.seed;
        for (nth, file) in (0..).zip(files) {
            let start_ns = random(&mut seed) % (u64::from(self.start_within_ms) * 1_000_000 + 1);
            readers.push(Reader {
                reading: Reading {
                    reader: nth,
                    sector: file.sector,
                    sectors: file.sectors,
                    start_ns,
                    done_ns: start_ns,
                },
                first_stream: streams.len(),
                streams: self.streams as usize,
                turn: 0,
                copying: None,
                unread: self.streams as usize,
            });
            streams.extend((0..u64::from(self.streams)).map(|part| {
                let sector = file.sector + part * size;
                let extent = Extent {
                    sector,
                    sectors: size,
                };
                Stream::new(extent, cluster, u64::from(self.window))
            }));
        }
        let starts = readers.iter().map(|reader| reader.reading.start_ns);
        Ok(Crowd {
            awake: starts.zip(0..).map(Reverse).collect(),
            at_work: readers.len(),
            readers,
            streams,
            issuers: Vec::new(),
            read_sectors: self.read_sectors(),
            copy_mb_s: u64::from(self.copy_mb_s),
        })
    }
}

/// SplitMix64 (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Reader {
    fn stream(&self) -> usize {
        self.first_stream + self.turn
    }
}

impl Crowd {
    /// How each reader went.
    pub fn readings(&self) -> impl Iterator<Item = Reading> + '_ {
        self.readers.iter().map(|reader| reader.reading)
    }

    /// Let a reader go on that has been copying or waiting until now.
    fn wake(&mut self, at: Ns, nth: usize, requests: &mut Vec<Request>) {
        let reader = &mut self.readers[nth];
        if let Some(sectors) = reader.copying.take() {
            let stream = &mut self.streams[reader.stream()];
            stream.advance(sectors);
            reader.unread -= usize::from(stream.is_read());
            reader.turn = (reader.turn + 1) % reader.streams;
            if reader.unread == 0 {
                reader.reading.done_ns = at;
                self.at_work -= 1;
                return;
            }
        }
        let number = reader.stream();
        let stream = &mut self.streams[number];
        while let Some(extent) = stream.issue(self.issuers.len() as u64) {
            let command = Command {
                tag: self.issuers.len() as u64,
                action: Action::Read,
                extent,
                through: false,
            };
            requests.push(Request {
                command,
                stream: nth as u32,
                issued: at,
            });
            self.issuers.push(number as u32);
        }
        if stream.is_here() {
            let sectors = stream.readable(self.read_sectors);
            reader.copying = Some(sectors);
            let copy_ns = sectors * SECTOR_B * 1000 / self.copy_mb_s;
            self.awake.push(Reverse((at + copy_ns, nth)));
        }
    }
}

impl Source for Crowd {
    fn next(&self) -> Option<Ns> {
        self.awake.peek().map(|&Reverse((at, _))| at)
    }

    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>) {
        while let Some(&Reverse((when, nth))) = self.awake.peek()
            && when <= at
        {
            self.awake.pop();
            self.wake(at, nth, requests);
        }
    }

    fn answered(&mut self, served: &Served) {
        let request = &served.sent.request;
        let number = self.issuers[request.command.tag as usize] as usize;
        let nth = request.stream as usize;
        let (reader, stream) = (&self.readers[nth], &mut self.streams[number]);
        let waited = reader.copying.is_none() && reader.stream() == number && !stream.is_here();
        stream.answered(request.command.tag);
        if waited && stream.is_here() {
            self.awake.push(Reverse((served.done, nth)));
        }
    }

    fn is_finished(&self) -> bool {
        self.at_work == 0
    }
}
