//! An NFS server in virtual time, as in nfstricks03 (sections 6 and 7), with its clients.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use readahead::random::SplitMix;
use readahead::{Reads, Request, Settings};
use serde::{Deserialize, Serialize};

use crate::device::Extent;
use crate::profile::Fault;
use crate::simulate::columns;
use crate::simulate::layout::{self, Placement};
use crate::simulate::memory::File;
use crate::time::Ns;

/// A server that reads ahead as a heuristic says and in no other way, and clients that read.
///
/// Each file of `reads` has a client of its own. Requests arrive as soon as they are sent; replies go
/// over one link, one after the other. Left out: processors, daemons of which all are busy, loss,
/// metadata, full memory. A client does not wait for what it does not ask for: its own read-ahead is
/// in `in_flight`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nfs {
    pub reads: Reads,
    /// A recorded trace in their place: requests of one client, in the order in which they arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    pub read_ahead: Settings,
    /// Requests that a client has sent and got no reply to.
    pub in_flight: u32,
    /// Of the link, 10^6 B/s: 49, the raw TCP of the test bed (section 4.1).
    pub link_mb_s: u32,
    /// The largest request to the device, as of [`crate::simulate::Readers`].
    pub cluster_kib: u32,
    /// One of four equal parts of the device, 1 the outermost; none is the whole device.
    pub partition: Option<u32>,
    /// Of the files of `reads`; those of a trace lie one behind the other.
    pub placement: Placement,
    /// Each client begins at a moment of its own within this time, drawn with the seed of `reads`.
    pub start_within_ms: u32,
}

impl Default for Nfs {
    fn default() -> Self {
        Self {
            reads: Reads::default(),
            file: None,
            read_ahead: Settings::default(),
            in_flight: 1,
            link_mb_s: 49,
            cluster_kib: 64,
            partition: None,
            placement: Placement::default(),
            start_within_ms: 0,
        }
    }
}

/// What one client reads, in this order, and where that lies.
pub(super) struct Sequence {
    pub requests: Vec<Request>,
    pub place: Extent,
    pub start_ns: Ns,
}

/// What is read: the place of each file, by its number, and what each client reads.
pub(super) type Load = (BTreeMap<u64, Extent>, Vec<Sequence>);

const NEEDED: [&str; 3] = ["file", "offset_b", "count_b"];

/// No server answers more at once.
const MOST_COUNT_B: u64 = 1 << 20;

impl Nfs {
    /// What is read on a device of so many sectors.
    ///
    /// # Errors
    /// If a number is out of its bounds, the trace is wrong, or the files do not fit.
    pub(super) fn load(&self, device_sectors: u64) -> Result<Load, Fault> {
        self.check()?;
        let part = layout::part(device_sectors, self.partition)?;
        match &self.file {
            Some(file) => recorded(file, part),
            None => self.generated(part),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        for (name, value, least, most) in [
            ("in_flight", self.in_flight, 1, 1024),
            ("link_mb_s", self.link_mb_s, 1, 1_000_000),
            ("cluster_kib", self.cluster_kib, 4, 1 << 20),
            ("start_within_ms", self.start_within_ms, 0, 3_600_000),
        ] {
            if !(least..=most).contains(&value) {
                return Err(Fault::new(
                    format!("{name} is {value}"),
                    format!("nfs.{name}"),
                    format!("give a whole number from {least} to {most}"),
                ));
            }
        }
        Ok(())
    }

    fn generated(&self, part: Extent) -> Result<Load, Fault> {
        let wrong = |what| Fault::new(what, "nfs.reads", "give another number");
        let sequences = self.reads.by_file().map_err(wrong)?;
        let size = sequences.first().map_or(0, |requests| size_b(requests));
        let places = layout::files(part, self.placement, self.reads.files, File::sectors(size))?;
        let mut random = SplitMix(self.reads.seed);
        let within_ns = u64::from(self.start_within_ms) * 1_000_000;
        let mut files = BTreeMap::new();
        let mut load = Vec::new();
        for (requests, place) in sequences.into_iter().zip(places) {
            files.insert(requests[0].file, place);
            load.push(Sequence {
                requests,
                place,
                start_ns: random.number() % (within_ns + 1),
            });
        }
        Ok((files, load))
    }
}

fn recorded(file: &Path, part: Extent) -> Result<Load, Fault> {
    let (text, origin) = columns::read(file)?;
    let requests = parse(&text, &origin)?;
    let mut by_file: BTreeMap<u64, Vec<Request>> = BTreeMap::new();
    for &request in &requests {
        by_file.entry(request.file).or_default().push(request);
    }
    let sizes = by_file.values().map(|of| File::sectors(size_b(of)));
    let places = layout::in_turn(part, sizes)?;
    let place = Extent {
        sector: part.sector,
        sectors: places.iter().map(|place| place.sectors).sum(),
    };
    let sequence = Sequence {
        requests,
        place,
        start_ns: 0,
    };
    Ok((by_file.into_keys().zip(places).collect(), vec![sequence]))
}

/// Of a file with these requests, if it ends where the last of them does.
fn size_b(requests: &[Request]) -> u64 {
    let ends = requests.iter().map(|request| request.end_b());
    ends.max().unwrap_or(0)
}

/// The requests of a recorded trace, in their order.
///
/// # Errors
/// If a column is missing, a line does not hold what it should, or there is no request.
pub fn parse(text: &str, origin: &str) -> Result<Vec<Request>, Fault> {
    let mut requests = Vec::new();
    for row in columns::rows(text, origin, NEEDED)? {
        let request = || {
            let request = Request {
                file: row.number_in(0)?,
                offset_b: row.number_in(1)?,
                count_b: row.number_in(2)?,
            };
            let is_read = (1..=MOST_COUNT_B).contains(&request.count_b);
            (is_read && request.offset_b < i64::MAX as u64).then_some(request)
        };
        requests.push(request().ok_or_else(|| {
            Fault::new(
                format!("this is no read: {}", row.line),
                format!("{origin}:{}", row.number),
                format!("write whole numbers, and from 1 to {MOST_COUNT_B} bytes to be read"),
            )
        })?);
    }
    if requests.is_empty() {
        return Err(Fault::new(
            "the trace has no request",
            origin,
            format!(
                "write {} in the first line, and a read in each other",
                NEEDED.join(",")
            ),
        ));
    }
    Ok(requests)
}
