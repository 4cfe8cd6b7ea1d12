//! Files that are not whole on flash: given up there, and brought back.

use std::ops::Range;
use std::path::Path;

use greenfs::branch::store::Store;
use greenfs::protocol::Role;
use greenfs::volume::Access;

use super::{ROLES, World};
use crate::operation::{Operation, node, shape};

impl<S: Store> World<S> {
    /// Bring back what an operation writes to. Returns whether that is possible.
    pub(super) fn make_whole(&mut self, operation: &Operation) -> bool {
        let (Operation::Write(path, ..) | Operation::Truncate(path, 1..)) = operation else {
            return true;
        };
        let flash = &self.volume().flash;
        let part = node(flash, path)
            .ok()
            .filter(|id| flash.part(*id).is_some());
        let Some(id) = part else { return true };
        let brought = self.volume().bring(id).is_ok();
        if self.life.is_over() {
            self.die();
            return self.make_whole(operation);
        }
        let is_possible = !self.connected().is_empty();
        assert!(brought || !is_possible || self.is_cut(), "{operation:?}");
        if !brought {
            let refused = operation.on_flash(&mut self.volume().flash);
            refused.expect_err("a part of it would be lost");
        }
        brought
    }

    /// Whether a branch is connected by a cable that is pulled.
    fn is_cut(&self) -> bool {
        self.branches.values().any(|branch| branch.cable.is_over())
    }

    /// Give up a range of a file, as far as that may be.
    pub fn give_up(&mut self, path: &Path, range: Range<u64>, frees: bool) {
        // A mount has no others; of those, the disk may be asleep.
        let is_connected = self.connected().contains(&Role::Remote);
        let data = self.reference.read(path, 0, 1 << 16);
        let flash = &mut self.volume().flash;
        let (Ok(id), Ok(data), true) = (node(flash, path), data, is_connected) else {
            return;
        };
        let is_lacking = |role: &Role| {
            let behind = flash.state().behind.get(role);
            behind.is_none_or(|behind| behind.touched.contains_key(&id))
        };
        let lacks = ROLES.iter().any(is_lacking);
        let mut given_up = flash.give_up(id, range, &ROLES);
        if frees && given_up.is_ok() {
            let mut access = &mut *flash;
            given_up = (&mut access)
                .sync()
                .and_then(|()| flash.let_go())
                .and(given_up);
        }
        self.whole.insert(id, data);
        if self.life.is_over() {
            return self.die();
        }
        let given_up_b = given_up.expect("flash is there");
        assert!(given_up_b == 0 || !lacks, "{} is lost", path.display());
        assert_eq!(self.flash_shape(), shape(&self.reference, false));
    }

    /// Put a range of a file back to flash, and perhaps write down that it is there.
    pub fn bring(&mut self, path: &Path, range: Range<u64>, saves: bool) {
        let flash = &mut self.volume().flash;
        let Ok(id) = node(flash, path) else { return };
        let Some(part) = flash.part(id) else { return };
        let range = part.within(range);
        let data = self.whole[&id][range.start as usize..range.end as usize].to_vec();
        let flash = &mut self.volume().flash;
        let mut brought = flash.fill(id, range.start, &data);
        if saves && brought.is_ok() {
            let here = flash.brought();
            let mut access = &mut *flash;
            brought = (&mut access).sync().and_then(|()| flash.save(here));
        }
        if self.life.is_over() {
            return self.die();
        }
        brought.expect("flash is there");
        assert_eq!(self.flash_shape(), shape(&self.reference, false));
    }

    /// Bring everything back to flash.
    pub(super) fn bring_all(&mut self) {
        let parts: Vec<_> = self.volume().flash.parts().map(|(id, _)| id).collect();
        for id in parts {
            self.volume().bring(id).expect("all branches are there");
        }
    }
}
