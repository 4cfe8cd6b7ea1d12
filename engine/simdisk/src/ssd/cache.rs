//! The write cache: pages that wait to be programmed, the sectors of them that are dirty.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::device::Extent;

/// Sectors of a page, from the lowest bit.
pub type Sectors = u128;

/// The sectors of an extent that lie on one page; both counted from the page's first.
pub fn sectors_on_page(extent: Extent, page: u64, sectors_per_page: u64) -> Sectors {
    let first = page * sectors_per_page;
    let from = extent.sector.max(first) - first;
    let to = extent.end().min(first + sectors_per_page) - first;
    let below = |count: u64| match count {
        128.. => Sectors::MAX,
        count => (1 << count) - 1,
    };
    below(to) & !below(from)
}

/// The neighbouring sectors among them, as extents.
pub fn extents(sectors: Sectors, page: u64, sectors_per_page: u64) -> Vec<Extent> {
    let mut found: Vec<Extent> = Vec::new();
    for sector in (0..sectors_per_page).filter(|&bit| sectors >> bit & 1 == 1) {
        let sector = page * sectors_per_page + sector;
        match found.last_mut().filter(|last| last.end() == sector) {
            Some(last) => last.sectors += 1,
            None => found.push(Extent { sector, sectors: 1 }),
        }
    }
    found
}

/// A page in the cache.
#[derive(Clone, Debug, Default)]
pub struct CachedPage {
    pub dirty: Sectors,
    pub programming: bool,
    /// Discarded while it is programmed: it is not stored in the end.
    pub dropped: bool,
    /// Writes that are complete only once it is stored.
    pub waiters: Vec<u64>,
    order: u64,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Cache {
    capacity: usize,
    pages: BTreeMap<u64, CachedPage>,
    /// The orders of all pages, by which a flush knows what came before it.
    orders: BTreeSet<u64>,
    next_order: u64,
}

impl Cache {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            pages: BTreeMap::new(),
            orders: BTreeSet::new(),
            next_order: 0,
        }
    }

    pub fn has_room(&self) -> bool {
        self.pages.len() < self.capacity
    }

    pub fn get(&self, page: u64) -> Option<&CachedPage> {
        self.pages.get(&page)
    }

    /// Whether the cache alone can answer a read of these sectors.
    pub fn covers(&self, page: u64, sectors: Sectors) -> bool {
        self.get(page)
            .is_some_and(|cached| sectors & !cached.dirty == 0 && !cached.dropped)
    }

    /// The pages among these that are in the cache.
    pub fn among(&self, pages: Range<u64>) -> impl Iterator<Item = (u64, &CachedPage)> {
        self.pages
            .range(pages)
            .map(|(&page, cached)| (page, cached))
    }

    /// Take sectors of a page, which is not being programmed. True if the page is new.
    pub fn take(&mut self, page: u64, sectors: Sectors, waiter: Option<u64>) -> bool {
        let is_new = !self.pages.contains_key(&page);
        let cached = self.pages.entry(page).or_default();
        if is_new {
            cached.order = self.next_order;
            self.orders.insert(self.next_order);
            self.next_order += 1;
        }
        cached.dirty |= sectors;
        cached.waiters.extend(waiter);
        is_new
    }

    /// A page that waits is being programmed from now on.
    pub fn begin(&mut self, page: u64) -> Option<&CachedPage> {
        let cached = self.pages.get_mut(&page)?;
        if cached.programming {
            return None;
        }
        cached.programming = true;
        Some(cached)
    }

    /// A page has been programmed: it needs no room any more.
    pub fn end(&mut self, page: u64) -> CachedPage {
        let cached = self.pages.remove(&page).expect("it was being programmed");
        self.orders.remove(&cached.order);
        cached
    }

    /// Forget sectors of a page, and the page if there are no others.
    pub fn discard(&mut self, page: u64, sectors: Sectors) {
        let Some(cached) = self.pages.get_mut(&page) else {
            return;
        };
        cached.dirty &= !sectors;
        if cached.dirty != 0 {
            return;
        }
        if cached.programming {
            cached.dropped = true;
        } else {
            self.end(page);
        }
    }

    /// What a flush that comes now waits for: until [`Cache::is_flushed`] with this.
    pub fn horizon(&self) -> u64 {
        self.next_order
    }

    pub fn is_flushed(&self, horizon: u64) -> bool {
        self.orders.first().is_none_or(|&order| order >= horizon)
    }

    pub fn clear(&mut self) {
        self.pages.clear();
        self.orders.clear();
    }
}
