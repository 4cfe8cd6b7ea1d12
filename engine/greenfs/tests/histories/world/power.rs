//! Power that goes, and what must be there afterwards.

use std::path::Path;

use greenfs::branch::store::{Store, remove_tree};
use greenfs::protocol::Role;

use super::World;
use crate::memory::Memory;
use crate::operation::shape;
use crate::parts::unveiled;

/// How much is lost where; `None` keeps its power.
pub type Luck = Option<u64>;

impl World<Memory> {
    /// The process is killed after so many changes of a synchronisation, or out of the blue, and
    /// power goes.
    pub fn crash(&mut self, after: Option<u64>, flash: Luck, remote: Luck, disk: Luck) {
        let roles = self.connected();
        if let Some(after) = after {
            self.life.set(Some(after + 1));
            let result = self.volume().fsync();
            if result.is_ok() && !self.life.is_over() {
                self.promised = self.flash_shape();
            }
        }
        self.volume = None;
        for (luck, store) in [
            (flash, self.flash()),
            (remote, self.branch(Role::Remote)),
            (disk, self.branch(Role::Disk)),
        ] {
            if let Some(luck) = luck {
                store.borrow_mut().cut_power(luck);
            }
        }
        for (path, seen) in &self.promised {
            let flash = unveiled(&*self.flash.borrow(), &self.promised);
            let there = flash.get(path).cloned();
            let there = there.map(|there| (there.kind, there.mode, there.data));
            let promised = (seen.kind.clone(), seen.mode, seen.data.clone());
            assert_eq!(there, Some(promised), "{} was promised", path.display());
        }
        self.revive(&roles);
        self.reference = self.flash.borrow().clone();
        remove_tree(&mut self.reference, Path::new(".greenfs")).expect("it is in memory");
        let flash = &self.volume.as_ref().expect("it is open").flash;
        for (id, _) in flash.parts() {
            let attributes = flash.node(id).expect("it is there").attributes;
            let path = flash.path(id).expect("it is there");
            let (tree, data) = (&mut self.reference, &self.whole[&id]);
            let written = tree.write(&path, 0, data);
            let dressed = written.and_then(|()| tree.dress(&path, &attributes));
            dressed.expect("it is in memory");
        }
    }

    /// The clocks jump, as after a battery went flat or when they are set.
    pub fn set_clocks(&mut self, by_ns: i64) {
        for store in [
            self.flash(),
            self.branch(Role::Remote),
            self.branch(Role::Disk),
        ] {
            store.borrow_mut().clock_ns += by_ns;
        }
        self.reference.clock_ns += by_ns;
    }

    /// Whatever was acknowledged must be on a connected branch even if flash burns now.
    pub fn check_protection(&mut self) {
        self.fsync();
        self.bring_all();
        for role in self.connected() {
            let durable = self.branch(role).borrow().durable();
            assert_eq!(
                shape(&durable, true),
                shape(&*self.flash.borrow(), true),
                "{role}"
            );
        }
    }
}
