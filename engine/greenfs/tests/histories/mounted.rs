//! The same operations through a mount whose daemon is killed in the middle of them.

use std::fs::File;
use std::thread;
use std::time::Duration;

use greenfs::branch::folder::Folder;
use proptest::prelude::*;

use crate::common::{Home, text};
use crate::memory::Memory;
use crate::operation::{Operation, Shape, operations, shape};

#[derive(Clone, Debug)]
pub enum Event {
    Operate(Operation),
    /// Flash and remote have everything from here on.
    Fsync,
    /// The daemon is killed after so many microseconds of these operations, and mounts again.
    Kill(u64, Vec<Operation>),
    Rest,
}

pub fn events() -> impl Strategy<Value = Event> {
    let at_work = prop::collection::vec(operations(), 1..12);
    prop_oneof![
        16 => operations().prop_map(Event::Operate),
        1 => Just(Event::Fsync),
        1 => (0..4000_u64, at_work).prop_map(|(after_us, at_work)| Event::Kill(after_us, at_work)),
    ]
}

/// The same with files so large that a bound on flash concerns them.
pub fn large_events() -> impl Strategy<Value = Event> {
    let event = prop_oneof![8 => events(), 1 => Just(Event::Rest)];
    event.prop_map(|event| match event {
        Event::Operate(operation) => Event::Operate(operation.enlarged(TIMES)),
        Event::Kill(after_us, at_work) => {
            let at_work = at_work.into_iter();
            Event::Kill(after_us, at_work.map(|one| one.enlarged(TIMES)).collect())
        }
        event => event,
    })
}

/// Files are so many times as large then.
const TIMES: usize = 1 << 13;

pub struct Mounted {
    home: Home,
    options: &'static [&'static str],
    reference: Memory,
}

impl Mounted {
    pub fn new(options: &'static [&'static str]) -> Option<Self> {
        let mut home = Home::new(&format!("{:?}", thread::current().id()))?;
        home.mount(options);
        let reference = Memory::new();
        Some(Self {
            home,
            options,
            reference,
        })
    }

    fn tree(&self) -> Folder {
        Folder::open(&self.home.mnt("")).expect("it is mounted")
    }

    fn shape(&self) -> Shape {
        shape(&self.tree(), false)
    }

    fn expected(&self) -> Shape {
        shape(&self.reference, false)
    }

    fn operate(&mut self, operation: &Operation) {
        let should = operation.on_tree(&mut self.reference).is_ok();
        let does = operation.on_tree(&mut self.tree()).is_ok();
        assert_eq!(does, should, "{operation:?}");
    }

    pub fn happen(&mut self, event: Event) {
        match event {
            Event::Operate(operation) => self.operate(&operation),
            Event::Fsync => {
                self.home.wait_for(": connected; ");
                let root = File::open(self.home.mnt(""));
                root.and_then(|root| root.sync_all())
                    .expect("flash is there");
                let remote = Folder::open(&self.home.at("remote")).expect("it is there");
                assert_eq!(shape(&remote, false), self.expected());
            }
            Event::Kill(after_us, at_work) => self.kill(after_us, &at_work),
            // What can be given up is, with a bound.
            Event::Rest => thread::sleep(Duration::from_millis(600)),
        }
        assert_eq!(self.shape(), self.expected());
    }

    fn kill(&mut self, after_us: u64, at_work: &[Operation]) {
        let mut tree = self.tree();
        let cut = thread::scope(|scope| {
            let home = &self.home;
            scope.spawn(move || {
                thread::sleep(Duration::from_micros(after_us));
                home.signal("KILL");
            });
            let reference = &mut self.reference;
            at_work.iter().find(|operation| {
                let before = reference.clone();
                let should = operation.on_tree(reference).is_ok();
                let is_cut = operation.on_tree(&mut tree).is_ok() != should;
                if is_cut {
                    *reference = before;
                }
                is_cut
            })
        });
        drop(tree);
        self.home.kill();
        self.home.mount(self.options);
        let Some(cut) = cut.filter(|_| self.shape() != self.expected()) else {
            return;
        };
        // It was done, or half of it; then it can be repeated.
        let should = cut.on_tree(&mut self.reference);
        should.expect("it was cut, so it could be done");
        if self.shape() != self.expected() {
            let repeated = cut.on_tree(&mut self.tree());
            repeated.expect("it can be repeated");
        }
    }

    /// Everything that programs did is on flash and on the remote.
    pub fn settle(mut self) {
        self.home.umount();
        let mut sync = self.home.greenfs("sync");
        let whole = ["--flash", "flash", "--remote", "remote", "--whole"];
        text(&sync.args(whole).output().expect("it was built"));
        for branch in ["flash", "remote"] {
            let branch = Folder::open(&self.home.at(branch)).expect("it is there");
            assert_eq!(shape(&branch, false), self.expected());
        }
        assert!(!self.home.at("remote/.greenfs/kept").exists());
        let flash = Folder::open(&self.home.at("flash")).expect("it is there");
        let remote = Folder::open(&self.home.at("remote")).expect("it is there");
        assert_eq!(shape(&flash, true), shape(&remote, true));
    }
}

/// A mount takes longer than a tree in memory: so many histories, unless PROPTEST_CASES asks for
/// more of all.
pub fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked = asked.and_then(|text| text.parse::<u32>().ok());
    asked.map_or(6, |asked| asked.div_ceil(100))
}
