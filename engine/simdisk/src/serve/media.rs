//! The data of a device: what its media hold, and over it what its volatile memory holds.

use std::io;
use std::sync::Arc;

use crate::device::Extent;
use crate::serve::overlay::{Overlay, Piece};
use crate::serve::store::Store;

/// Moves data as the events of a device say. It is lost with this process what a power cut would
/// lose: what is cached and not stored.
#[derive(Debug)]
pub struct Media {
    store: Arc<Store>,
    overlay: Overlay,
}

impl Media {
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            overlay: Overlay::default(),
        }
    }

    /// What the volatile memory holds of these sectors. Laid over what the store holds *after*
    /// this call, it gives the sectors as they are now or were written since.
    pub fn volatile(&self, extent: Extent) -> Vec<Piece> {
        self.overlay.pieces(extent)
    }

    pub fn read(&self, extent: Extent, data: &mut [u8]) -> io::Result<()> {
        self.store.read(extent.sector, data)?;
        for piece in self.overlay.pieces(extent) {
            piece.lay_over(extent, data);
        }
        Ok(())
    }

    /// Past the volatile memory, which holds nothing of these sectors.
    pub fn write(&self, extent: Extent, data: &[u8]) -> io::Result<()> {
        self.store.write(extent.sector, data)
    }

    pub fn cache(&mut self, extent: Extent, data: &Arc<[u8]>) {
        self.overlay.insert(extent, data);
    }

    /// Move to the media what the volatile memory holds of these sectors.
    ///
    /// # Errors
    /// If the store takes it not; the volatile memory keeps it then.
    pub fn store(&mut self, extent: Extent) -> io::Result<()> {
        for piece in self.overlay.pieces(extent) {
            self.store.write(piece.sector, piece.data())?;
        }
        self.overlay.remove(extent);
        Ok(())
    }

    /// Move everything to the media.
    pub fn store_all(&mut self) -> io::Result<()> {
        for piece in self.overlay.all() {
            self.store.write(piece.sector, piece.data())?;
        }
        self.overlay.clear();
        Ok(())
    }

    pub fn drop_extent(&mut self, extent: Extent) -> io::Result<()> {
        self.overlay.remove(extent);
        self.store.drop_extent(extent)
    }

    /// Forget what is volatile.
    pub fn cut_power(&mut self) {
        self.overlay.clear();
    }
}
