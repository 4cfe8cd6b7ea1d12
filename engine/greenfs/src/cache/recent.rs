//! What was used last.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Things in the order in which they were last used.
#[derive(Clone, Debug)]
pub struct Recent<T> {
    next: u64,
    when: HashMap<T, u64>,
    order: BTreeMap<u64, T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            next: 0,
            when: HashMap::new(),
            order: BTreeMap::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> Recent<T> {
    /// Something is used now.
    pub fn use_now(&mut self, thing: T) {
        self.forget(thing);
        self.when.insert(thing, self.next);
        self.order.insert(self.next, thing);
        self.next += 1;
    }

    pub fn forget(&mut self, thing: T) {
        if let Some(when) = self.when.remove(&thing) {
            self.order.remove(&when);
        }
    }

    pub fn has(&self, thing: T) -> bool {
        self.when.contains_key(&thing)
    }

    /// All, the longest unused first.
    pub fn oldest(&self) -> impl DoubleEndedIterator<Item = T> {
        self.order.values().copied()
    }
}
