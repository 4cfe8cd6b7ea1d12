//! Concurrent readers at work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use readahead::random::SplitMix;

use crate::device::{Action, Command, SECTOR_B};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::simulate::layout;
use crate::simulate::readers::{Readers, Reading};
use crate::simulate::run::Source;
use crate::simulate::stream::Stream;
use crate::time::Ns;

/// All of them.
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

impl Readers {
    /// The readers, ready to begin on a device of so many sectors.
    ///
    /// # Errors
    /// If a number is out of its bounds, or the files do not fit.
    pub fn crowd(&self, device_sectors: u64) -> Result<Crowd, Fault> {
        self.check()?;
        let size = self.stream_sectors();
        let part = layout::part(device_sectors, self.partition)?;
        let mapped = self.mapped_sectors();
        let length = Stream::length(size, mapped);
        let file_size = length * u64::from(self.streams);
        let files = layout::files(part, self.placement, self.readers, file_size)?;
        let cluster = self.request_sectors();
        let mut streams = Vec::new();
        let mut readers = Vec::new();
        let mut random = SplitMix(self.seed);
        for (nth, file) in (0..).zip(files) {
            let start_ns = random.number() % (u64::from(self.start_within_ms) * 1_000_000 + 1);
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
                let sector = file.sector + part * length;
                Stream::new(sector, size, mapped, cluster, u64::from(self.window))
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
        if !stream.waits() {
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
        let due = |next: &&Reverse<(Ns, usize)>| next.0.0 <= at;
        while let Some(&Reverse((_, nth))) = self.awake.peek().filter(due) {
            self.awake.pop();
            self.wake(at, nth, requests);
        }
    }

    fn answered(&mut self, served: &Served) {
        let request = &served.sent.request;
        let number = self.issuers[request.command.tag as usize] as usize;
        let nth = request.stream as usize;
        let (reader, stream) = (&self.readers[nth], &mut self.streams[number]);
        let waited = reader.copying.is_none() && reader.stream() == number && stream.waits();
        let goes_on = stream.answered(request.command.tag);
        if waited && goes_on {
            self.awake.push(Reverse((served.done, nth)));
        }
    }

    fn is_finished(&self) -> bool {
        self.at_work == 0
    }
}
