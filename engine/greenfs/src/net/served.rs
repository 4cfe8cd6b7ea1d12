//! What is served, and how many may come.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::ServerConfig;

use crate::net::keeping::Keeping;
use crate::pool::Pool;

pub struct Served {
    pub folder: PathBuf,
    /// Where the data of its files are; none if in the files.
    pub pool: Option<Pool>,
    pub tls: Arc<ServerConfig>,
    pub keeping: Option<Keeping>,
    pub clients: Slots,
    pub strangers: Slots,
}

/// Of which there are so many at most.
#[derive(Clone)]
pub struct Slots(Arc<AtomicUsize>);

/// One of them, free again when it is dropped.
pub struct Slot(Slots);

impl Slots {
    pub fn new(most: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(most)))
    }

    /// None if all are taken.
    pub fn take(&self) -> Option<Slot> {
        let one_less = |free: usize| free.checked_sub(1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        taken.is_ok().then(|| Slot(self.clone()))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}
