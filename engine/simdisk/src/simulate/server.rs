//! A server that answers reads from memory and reads ahead, and its clients, at work.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::vec::IntoIter;

use readahead::decide::HEAD;
use readahead::{Count, Decide, Decision, Own, Request as Read};
use serde::Serialize;

use crate::device::{Action, Command};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::simulate::memory::{File, PAGE_B};
use crate::simulate::nfs::{Nfs, Sequence};
use crate::simulate::readers::Reading;
use crate::simulate::run::Source;
use crate::time::Ns;

/// The server with its clients.
pub struct Server {
    files: Vec<File>,
    /// The place of each file in that list, by its number.
    places: HashMap<u64, usize>,
    clients: Vec<Client>,
    decide: Box<dyn Decide>,
    is_own: bool,
    cluster_pages: usize,
    link_mb_s: u64,
    /// When the link has sent all replies that were given to it.
    link_free: Ns,
    /// What clients do next: begin, or take a reply.
    events: BinaryHeap<Reverse<(Ns, usize, Event)>>,
    /// What was asked of the device, by tag.
    asked: Vec<Asked>,
    answered: usize,
    /// Reads that wait for the device.
    waiting: Vec<Waiting>,
    at_work: usize,
    tally: Tally,
}

/// Someone who reads.
struct Client {
    requests: IntoIter<Read>,
    under_way: u32,
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin,
    Reply,
}

struct Asked {
    file: usize,
    pages: Range<usize>,
    /// Places in the list of those that wait.
    waiting: Vec<usize>,
}

struct Waiting {
    client: usize,
    count_b: u64,
    /// Commands that it waits for.
    commands: usize,
}

#[derive(Default)]
struct Tally {
    requests: u64,
    delivered_b: u64,
    ahead_b: u64,
    evicted: u64,
    sequential: u64,
    lines: Option<String>,
}

/// What a server did.
#[derive(Clone, Debug, Serialize)]
pub struct NfsReport {
    pub requests_count: u64,
    /// To clients, and the rate until the last of them was done, 10^6 B/s.
    pub delivered_b: u64,
    pub delivered_mb_s: f64,
    /// From the device before anyone asked for it.
    pub ahead_b: u64,
    /// Files that the table forgot.
    pub evicted_count: u64,
    /// Mean over all requests.
    pub sequential_count: f64,
    /// What was decided at each request, as CSV, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<String>,
    /// A function decided, in the place of the heuristic that was asked for.
    pub is_own: bool,
}

impl Client {
    fn new(nth: u32, sequence: Sequence) -> Self {
        let Sequence {
            requests,
            place,
            start_ns,
        } = sequence;
        Self {
            requests: requests.into_iter(),
            under_way: 0,
            reading: Reading {
                reader: nth,
                sector: place.sector,
                sectors: place.sectors,
                start_ns,
                done_ns: start_ns,
            },
        }
    }
}

impl Nfs {
    /// The server with its clients, ready to begin on a device of so many sectors. `own` decides in
    /// the place of the heuristic.
    ///
    /// # Errors
    /// If a number is out of its bounds, the trace is wrong, or the files do not fit.
    pub fn server(&self, device_sectors: u64, own: Option<Count>) -> Result<Server, Fault> {
        let (files, sequences) = self.load(device_sectors)?;
        let wrong = |what| Fault::new(what, "nfs.read_ahead", "give another number");
        let read_ahead = self.read_ahead.read_ahead().map_err(wrong)?;
        let window_b = self.read_ahead.window_b();
        let is_own = own.is_some();
        let decide: Box<dyn Decide> = match own {
            Some(count) => Box::new(Own { count, window_b }),
            None => Box::new(read_ahead),
        };
        let clients: Vec<_> = (0..)
            .zip(sequences)
            .map(|(nth, sequence)| Client::new(nth, sequence))
            .collect();
        let begins = clients.iter().enumerate().flat_map(|(nth, client)| {
            let begin = Reverse((client.reading.start_ns, nth, Event::Begin));
            (0..self.in_flight).map(move |_| begin)
        });
        Ok(Server {
            places: files.keys().copied().zip(0..).collect(),
            files: files.into_values().map(File::new).collect(),
            decide,
            is_own,
            cluster_pages: (u64::from(self.cluster_kib) * 1024 / PAGE_B) as usize,
            link_mb_s: u64::from(self.link_mb_s),
            link_free: 0,
            events: begins.collect(),
            asked: Vec::new(),
            answered: 0,
            waiting: Vec::new(),
            at_work: clients.len(),
            clients,
            tally: Tally::default(),
        })
    }
}

impl Server {
    /// Keep what is decided at each request.
    pub(super) fn keep_decisions(&mut self) {
        self.tally.lines = Some(format!("{HEAD}\n"));
    }

    /// How each client went.
    pub fn readings(&self) -> impl Iterator<Item = Reading> + '_ {
        self.clients.iter().map(|client| client.reading)
    }

    /// What the server did from a time on.
    pub fn report(self, start: Ns) -> NfsReport {
        let end = self
            .readings()
            .map(|one| one.done_ns)
            .max()
            .unwrap_or(start);
        let tally = self.tally;
        NfsReport {
            requests_count: tally.requests,
            delivered_b: tally.delivered_b,
            delivered_mb_s: tally.delivered_b as f64 * 1e3 / (end - start).max(1) as f64,
            ahead_b: tally.ahead_b,
            evicted_count: tally.evicted,
            sequential_count: tally.sequential as f64 / tally.requests.max(1) as f64,
            decisions: tally.lines,
            is_own: self.is_own,
        }
    }

    /// A client sends its next request, if it has one.
    fn send(&mut self, at: Ns, client: usize, requests: &mut Vec<Request>) {
        if let Some(read) = self.clients[client].requests.next() {
            self.clients[client].under_way += 1;
            self.receive(at, client, read, requests);
        } else if self.clients[client].under_way == 0 {
            self.clients[client].reading.done_ns = at;
            self.at_work -= 1;
        }
    }

    fn receive(&mut self, at: Ns, client: usize, read: Read, requests: &mut Vec<Request>) {
        let decision = self.decide.decide(read);
        self.tally.note(&decision);
        let file = self.places[&read.file];
        let wanted = self.files[file].pages(read.offset_b, read.end_b());
        self.fetch(at, client, file, wanted.clone(), requests);
        let tags = self.files[file].waits_for(wanted);
        self.read_ahead(at, client, file, &decision, requests);
        if tags.is_empty() {
            self.reply(at, client, read.count_b);
            return;
        }
        for &tag in &tags {
            self.asked[tag as usize].waiting.push(self.waiting.len());
        }
        self.waiting.push(Waiting {
            client,
            count_b: read.count_b,
            commands: tags.len(),
        });
    }

    /// What is still to be read ahead is asked for once it fills a request to the device, or
    /// nothing behind the read is in memory or on its way there.
    fn read_ahead(
        &mut self,
        at: Ns,
        client: usize,
        file: usize,
        decision: &Decision,
        requests: &mut Vec<Request>,
    ) {
        let begin_b = decision.request.end_b();
        let window = self.files[file].pages(begin_b, begin_b.saturating_add(decision.ahead_b));
        let absent = self.files[file].absent(window.clone());
        let is_due = absent.start == window.start || absent.len() >= self.cluster_pages;
        if is_due {
            self.tally.ahead_b += absent.len() as u64 * PAGE_B;
            self.fetch(at, client, file, absent, requests);
        }
    }

    /// Ask the device for what is neither in memory nor on its way there.
    fn fetch(
        &mut self,
        at: Ns,
        client: usize,
        file: usize,
        within: Range<usize>,
        requests: &mut Vec<Request>,
    ) {
        let mut absent = self.files[file].absent(within.clone());
        while !absent.is_empty() {
            let end = absent.end.min(absent.start + self.cluster_pages);
            let (pages, tag) = (absent.start..end, self.asked.len() as u64);
            let command = Command {
                tag,
                action: Action::Read,
                extent: self.files[file].ask(pages.clone(), tag),
                through: false,
            };
            requests.push(Request {
                command,
                stream: client as u32,
                issued: at,
            });
            self.asked.push(Asked {
                file,
                pages,
                waiting: Vec::new(),
            });
            absent = self.files[file].absent(end..within.end);
        }
    }

    fn reply(&mut self, at: Ns, client: usize, count_b: u64) {
        self.link_free = self.link_free.max(at) + count_b * 1000 / self.link_mb_s;
        self.tally.delivered_b += count_b;
        let reply = (self.link_free, client, Event::Reply);
        self.events.push(Reverse(reply));
    }
}

impl Tally {
    fn note(&mut self, decision: &Decision) {
        self.requests += 1;
        self.evicted += u64::from(decision.evicted.is_some());
        self.sequential += u64::from(decision.sequential_count);
        if let Some(lines) = &mut self.lines {
            *lines += &format!("{decision}\n");
        }
    }
}

impl Source for Server {
    fn next(&self) -> Option<Ns> {
        self.events.peek().map(|&Reverse((at, ..))| at)
    }

    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>) {
        let due = |next: &&Reverse<(Ns, usize, Event)>| next.0.0 <= at;
        while let Some(&Reverse((_, client, event))) = self.events.peek().filter(due) {
            self.events.pop();
            if event == Event::Reply {
                self.clients[client].under_way -= 1;
            }
            self.send(at, client, requests);
        }
    }

    fn answered(&mut self, served: &Served) {
        let asked = &mut self.asked[served.sent.request.command.tag as usize];
        self.files[asked.file].arrived(asked.pages.clone());
        self.answered += 1;
        for nth in std::mem::take(&mut asked.waiting) {
            let waiting = &mut self.waiting[nth];
            waiting.commands -= 1;
            if waiting.commands == 0 {
                let (client, count_b) = (waiting.client, waiting.count_b);
                self.reply(served.done, client, count_b);
            }
        }
    }

    fn is_finished(&self) -> bool {
        self.at_work == 0 && self.answered == self.asked.len()
    }
}
