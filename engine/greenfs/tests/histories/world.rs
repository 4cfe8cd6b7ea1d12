//! A volume with its branches, what it should hold, and what has been promised.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use greenfs::branch::identity;
use greenfs::branch::past::Past;
use greenfs::branch::store::Store;
use greenfs::protocol::{NodeId, Role};
use greenfs::volume::{self, Pushed, Volume};

use crate::memory::Memory;
use crate::mortal::{Life, Mortal};
use crate::operation::{Operation, Seen, Shape, shape, shape_then};
use crate::parts::unveiled;

mod bound;
mod left;
mod power;
mod sharing;

pub use power::Luck;

pub const ROLES: [Role; 2] = [Role::Remote, Role::Disk];

struct Branch<S> {
    store: Rc<RefCell<S>>,
    cable: Life,
}

pub struct World<S: Store> {
    flash: Rc<RefCell<S>>,
    branches: BTreeMap<Role, Branch<S>>,
    life: Life,
    volume: Option<Volume<Mortal<S>>>,
    /// What programs have done, done to a plain tree.
    pub reference: Memory,
    /// What was there when flash was last made durable and has not been changed since.
    promised: Shape,
    /// Whether others change the branches, too: then things are kept.
    pub has_others: bool,
    /// Files that may not be whole on flash, as they are.
    whole: BTreeMap<NodeId, Vec<u8>>,
    /// Files that programs have open so that they can change them, once for each time.
    open: Vec<NodeId>,
    /// What the remote held at times, in microseconds since 1970.
    held: BTreeMap<i64, Shape>,
}

impl<S: Store> World<S> {
    /// The branches get theirs first, then flash.
    pub fn new(mut store: impl FnMut() -> S) -> Self {
        let branch = |role| {
            let store = Rc::new(RefCell::new(store()));
            let cable = Life::default();
            (role, Branch { store, cable })
        };
        let branches = ROLES.map(branch).into();
        let mut world = Self {
            flash: Rc::new(RefCell::new(store())),
            branches,
            life: Life::default(),
            volume: None,
            reference: Memory::new(),
            promised: Shape::new(),
            has_others: false,
            whole: BTreeMap::new(),
            open: Vec::new(),
            held: BTreeMap::new(),
        };
        world.revive(&ROLES);
        world
    }

    pub fn volume(&mut self) -> &mut Volume<Mortal<S>> {
        self.volume.as_mut().expect("it is open")
    }

    pub fn flash(&self) -> Rc<RefCell<S>> {
        Rc::clone(&self.flash)
    }

    pub fn branch(&self, role: Role) -> Rc<RefCell<S>> {
        Rc::clone(&self.branches[&role].store)
    }

    fn connected(&mut self) -> Vec<Role> {
        let volume = self.volume();
        ROLES
            .into_iter()
            .filter(|role| volume.branch(*role).is_some())
            .collect()
    }

    /// Begin anew after any end.
    fn revive(&mut self, roles: &[Role]) {
        self.open.clear();
        self.volume = None;
        self.life.set(None);
        let flash = Mortal {
            inner: Rc::clone(&self.flash),
            life: self.life.clone(),
            cable: Life::default(),
        };
        let volume = Volume::open(flash, Path::new("flash"), "0123456789abcdef");
        self.volume = Some(volume.unwrap_or_else(|fault| panic!("{fault}")));
        for role in roles {
            self.come_back(*role);
        }
    }

    pub fn go_away(&mut self, role: Role) {
        self.volume().disconnect(role);
    }

    pub fn come_back(&mut self, role: Role) {
        let branch = &self.branches[&role];
        branch.cable.set(None);
        let store = Mortal {
            inner: Rc::clone(&branch.store),
            life: self.life.clone(),
            cable: branch.cable.clone(),
        };
        let name = role.to_string().into();
        let result = self
            .volume()
            .connect(volume::Branch::new(role, name, store));
        match result {
            Ok(pushed) => {
                self.judge(&pushed);
                // What a branch has must not be lost on flash.
                self.promised = self.flash_shape();
                self.remember();
            }
            Err(_) if self.life.is_over() => self.die(),
            Err(fault) => panic!("{fault}"),
        }
    }

    /// Nobody else changes anything: so nothing is kept.
    fn judge(&self, pushed: &Pushed) {
        assert!(
            self.has_others || pushed.kept.is_empty(),
            "kept {:?}",
            pushed.kept
        );
    }

    fn die(&mut self) {
        let roles = self.connected();
        self.revive(&roles);
    }

    /// The process will be killed after so many further changes.
    pub fn kill_after(&mut self, changes: u64) {
        self.life.set(Some(changes + 1));
    }

    pub fn pull_cable_after(&mut self, role: Role, changes: u64) {
        self.branches[&role].cable.set(Some(changes + 1));
    }

    pub fn operate(&mut self, operation: &Operation) {
        if !self.make_whole(operation) {
            return;
        }
        self.take_back_promises(operation);
        let should = operation.on_tree(&mut self.reference).is_ok();
        let does = operation.on_flash(&mut self.volume().flash).is_ok();
        if self.life.is_over() {
            self.die();
            // It was done, or it was not; of a write, half may have been done.
            if self.flash_shape() != shape(&self.reference, false) {
                self.take_back_promises(operation);
                assert!(self.make_whole(operation), "the branches are back");
                operation
                    .on_flash(&mut self.volume().flash)
                    .expect("it can be repeated");
            }
        } else {
            assert_eq!(does, should, "{operation:?}");
        }
        assert_eq!(
            self.flash_shape(),
            shape(&self.reference, false),
            "{operation:?}"
        );
    }

    pub fn fsync(&mut self) {
        let result = self.volume().fsync();
        if self.life.is_over() {
            return self.die();
        }
        result.expect("flash is there, whatever else is not");
        self.promised = self.flash_shape();
        self.remember();
    }

    /// Note what the remote holds, unless a change of it is not done.
    fn remember(&mut self) {
        if self.has_others || !self.connected().contains(&Role::Remote) {
            return;
        }
        let remote = self.branch(Role::Remote);
        let identity = identity::read(&*remote.borrow(), Path::new("remote"));
        let identity = identity.expect("it is ours");
        if let Some(history) = identity.and_then(|identity| identity.history) {
            let now = shape(&*remote.borrow(), false);
            self.held.insert(history.last_us, now);
        }
    }

    /// Every version that the remote had is there.
    fn check_history(&self) {
        let remote = self.branch(Role::Remote);
        let remote = remote.borrow();
        for (&at_us, held) in &self.held {
            let then = shape_then(&Past {
                branch: &*remote,
                at_us,
            });
            let seen = |(path, seen): (&PathBuf, &Seen)| {
                (path.clone(), (seen.kind.clone(), seen.data.clone()))
            };
            assert_eq!(then, held.iter().map(seen).collect(), "at {at_us}");
        }
    }

    pub fn check(&mut self, role: Role) {
        if self.volume().branch(role).is_none() {
            return;
        }
        match self.volume().check_branch(role) {
            Ok(pushed) => {
                self.judge(&pushed);
                assert!(
                    self.has_others || pushed.mended == 0,
                    "mended {}",
                    pushed.mended
                );
                self.remember();
            }
            Err(_) if self.life.is_over() => self.die(),
            Err(_) => assert!(self.branches[&role].cable.is_over()),
        }
    }

    /// Bring everything together: all branches hold the same, and another look finds nothing.
    pub fn settle(&mut self) {
        self.life.set(None);
        for role in ROLES {
            self.come_back(role);
        }
        self.bring_all();
        for role in ROLES {
            self.come_back(role);
            self.check(role);
            let again = self.volume().check_branch(role);
            let again = again.unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(again, Pushed::default());
            let branch = shape(&*self.branch(role).borrow(), true);
            assert_eq!(branch, shape(&*self.flash.borrow(), true), "{role}");
        }
        assert_eq!(self.flash_shape(), shape(&self.reference, false));
        self.check_history();
        self.volume()
            .flash
            .state()
            .catalogue
            .check()
            .expect("it is a tree");
    }

    /// What is on flash. What is not here, or not known to be, is taken to be as it should.
    pub fn flash_shape(&self) -> Shape {
        unveiled(&*self.flash.borrow(), &shape(&self.reference, false))
    }

    /// What an operation changes is no longer promised to be as it was.
    fn take_back_promises(&mut self, operation: &Operation) {
        let now = shape(&self.reference, false);
        for path in operation.paths() {
            let first = now.get(path).map(|seen| seen.first.clone());
            let is_same = |other: &Path| {
                first.is_some() && now.get(other).map(|seen| &seen.first) == first.as_ref()
            };
            self.promised
                .retain(|other, _| !other.starts_with(path) && !is_same(other));
        }
    }
}
