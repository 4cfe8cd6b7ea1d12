//! How commands are carried out: pages over the link, through the cache, from and to the dies.

use crate::device::{Action, Command, Event, Extent, SECTOR_B};
use crate::ssd::cache::extents;
use crate::ssd::device::{Happening, Landing, Ssd};
use crate::ssd::die::{Surroundings, Work};
use crate::time::Ns;

impl Ssd {
    pub(super) fn start(&mut self, at: Ns, id: u64, events: &mut Vec<(Ns, Event)>) {
        let Command { action, extent, .. } = self.jobs[&id].command;
        match action {
            Action::Read => self.read(at, id, extent),
            Action::Write => {
                self.counts.host_written_b += extent.sectors * SECTOR_B;
                self.incoming.push_back(id);
                self.receive(at, events);
            }
            Action::Flush => {
                self.counts.flushes_count += 1;
                self.flushes.push_back((id, self.cache.horizon()));
                self.end_flushes(at, events);
            }
            Action::Discard => self.discard(at, id, extent, events),
        }
    }

    fn read(&mut self, at: Ns, id: u64, extent: Extent) {
        self.counts.host_read_b += extent.sectors * SECTOR_B;
        for page in self.pages_of(extent) {
            let sectors = self.on_page(extent, page);
            let bytes = u64::from(sectors.count_ones()) * SECTOR_B;
            let (die, local) = self.home(page);
            if self.cache.covers(page, sectors) || !self.dies[die].pages.is_mapped(local) {
                self.deliver(at, id, bytes);
            } else {
                self.dies[die].reads.push_back((id, bytes));
                self.employ(at, die);
            }
        }
    }

    fn deliver(&mut self, at: Ns, id: u64, bytes: u64) {
        let gone = self.link.occupy(at, self.times.link_ns(bytes));
        self.note(gone, Happening::Delivered(id));
    }

    /// Take what has come of the first write, and let the next page come.
    pub(super) fn receive(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(&id) = self.incoming.front() {
            let Command {
                tag,
                extent,
                through,
                ..
            } = self.jobs[&id].command;
            let through = through || self.through;
            let page = self.jobs[&id].next_page;
            let sectors = self.on_page(extent, page);
            match self.landing {
                Landing::OnTheLink => return,
                Landing::AtTheHost if !self.cache.has_room() => return,
                Landing::AtTheHost if self.would_tear(extent, page) => return,
                Landing::AtTheHost => {
                    let bytes = u64::from(sectors.count_ones()) * SECTOR_B;
                    let landed = self.link.occupy(at, self.times.link_ns(bytes));
                    self.landing = Landing::OnTheLink;
                    self.note(landed, Happening::Landed);
                }
                Landing::Here => {
                    if self
                        .cache
                        .get(page)
                        .is_some_and(|cached| cached.programming)
                    {
                        return;
                    }
                    self.landing = Landing::AtTheHost;
                    let pages = self.pages_of(extent);
                    if page == pages.start {
                        events.push((at, Event::Cached { tag }));
                    }
                    self.jobs.get_mut(&id).expect("it is a job").next_page += 1;
                    if page + 1 == pages.end {
                        self.incoming.pop_front();
                    }
                    let is_new = self.cache.take(page, sectors, through.then_some(id));
                    if !through {
                        self.one_less(at, id, events);
                    }
                    if is_new {
                        let die = self.home(page).0;
                        self.dies[die].writes.push_back(page);
                        self.employ(at, die);
                    }
                }
            }
        }
    }

    /// Whether this is the first of several pages, and the cache holds an earlier version of some:
    /// were it stored while the others come, the host could not tell which version was.
    fn would_tear(&self, extent: Extent, page: u64) -> bool {
        let pages = self.pages_of(extent);
        page == pages.start
            && page + 1 < pages.end
            && self
                .cache
                .among(pages)
                .any(|(page, cached)| cached.dirty & self.on_page(extent, page) != 0)
    }

    /// Everything reads as zeros from now on, which is also how a loop device zeroes. Only whole
    /// pages are given back; those at the ends stay mapped.
    fn discard(&mut self, at: Ns, id: u64, extent: Extent, events: &mut Vec<(Ns, Event)>) {
        for page in self.pages_of(extent) {
            self.cache.discard(page, self.on_page(extent, page));
        }
        let pages = self.whole_pages_of(extent);
        for page in pages.clone() {
            let (die, local) = self.home(page);
            self.dies[die].pages.unmap(local);
        }
        let given_back = pages.end.saturating_sub(pages.start) * self.sectors_per_page;
        self.counts.host_discarded_b += given_back * SECTOR_B;
        events.push((at, Event::Dropped { extent }));
        self.complete(at, id, events);
        self.end_flushes(at, events);
        self.receive(at, events);
    }

    /// Give a die that has nothing to do something to do.
    fn employ(&mut self, at: Ns, die: usize) {
        if self.dies[die].work.is_some() {
            return;
        }
        let count = self.dies.len() as u64;
        let Some(work) = self.dies[die].choose(&mut self.cache, count, self.sectors_per_page)
        else {
            return;
        };
        self.dies[die].work = Some(work);
        let channels = self.channels.len();
        let mut surroundings = Surroundings {
            channel: &mut self.channels[die % channels],
            times: &self.times,
            ledger: &mut self.ledger,
            counts: &mut self.counts,
            page_b: self.sectors_per_page * SECTOR_B,
        };
        let free = surroundings.run(work, at);
        self.note(free, Happening::Free(die));
    }

    pub(super) fn finish(&mut self, at: Ns, die: usize, events: &mut Vec<(Ns, Event)>) {
        match self.dies[die].work.take().expect("it was at something") {
            Work::Read { job, bytes } => self.deliver(at, job, bytes),
            Work::Chore(chore) => self.dies[die].pages.done(chore),
            Work::Program { page, .. } => self.stored(at, page, events),
        }
        self.employ(at, die);
    }

    fn stored(&mut self, at: Ns, page: u64, events: &mut Vec<(Ns, Event)>) {
        let cached = self.cache.end(page);
        let (die, local) = self.home(page);
        if cached.dropped {
            self.dies[die].pages.spoil();
        } else {
            self.dies[die].pages.program(local);
            for extent in extents(cached.dirty, page, self.sectors_per_page) {
                events.push((at, Event::Stored { extent }));
            }
        }
        for id in cached.waiters {
            self.one_less(at, id, events);
        }
        self.end_flushes(at, events);
        self.receive(at, events);
    }
}
