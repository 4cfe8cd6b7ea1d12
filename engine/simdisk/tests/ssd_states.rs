//! An SSD that is served: the states that it is brought into, and what is done to it in no time.

use simdisk::device::{Action, Command, Extent};
use simdisk::profile::{Overrides, Profile};
use simdisk::serve::devices::device;
use simdisk::serve::served::Served;
use simdisk::ssd::precondition::State;
use simdisk::time::Ns;

const SECTORS_PER_PAGE: u64 = 8;
const COMMANDS: u64 = 20_000;

fn profile() -> Profile {
    let overrides = Overrides {
        sectors: Some(20 * 100 * 128 * SECTORS_PER_PAGE),
        ..Overrides::default()
    };
    let profile = Profile::load("x25-m-g2").unwrap();
    profile.with(&overrides, "small").unwrap()
}

struct Drive {
    served: Box<dyn Served>,
    at: Ns,
    tag: u64,
}

impl Drive {
    fn new() -> Self {
        Self {
            served: device(&profile(), 0),
            at: 0,
            tag: 0,
        }
    }

    fn carry_out(&mut self, action: Action, extent: Extent) {
        let command = Command {
            tag: self.tag,
            action,
            extent,
            through: false,
        };
        self.tag += 1;
        let device = self.served.device_mut();
        device.submit(self.at, command);
        let mut events = Vec::new();
        while device.waiting() > 0 {
            self.at = device.next().unwrap();
            device.advance(self.at, &mut events);
        }
    }

    fn counted(&self, name: &str) -> u64 {
        self.served.device().counters()[name]
    }

    /// Flash programmed over data written, of pages that are overwritten at random.
    fn amplification(&mut self) -> f64 {
        let before = ["flash_programmed_b", "host_written_b"].map(|name| self.counted(name));
        let pages = self.served.device().sectors() / SECTORS_PER_PAGE;
        for nth in 0..COMMANDS {
            let sector = nth * 7919 % pages * SECTORS_PER_PAGE;
            let sectors = SECTORS_PER_PAGE;
            self.carry_out(Action::Write, Extent { sector, sectors });
        }
        self.served.rest(self.at);
        let [programmed_b, written_b] =
            ["flash_programmed_b", "host_written_b"].map(|name| self.counted(name));
        (programmed_b - before[0]) as f64 / (written_b - before[1]) as f64
    }
}

/// A trial would begin on what the one before it has left.
#[test]
fn each_state_is_made_anew_and_what_was_drawn_and_counted_stays() {
    let mut drive = Drive::new();
    drive.served.be(drive.at, State::Steady).unwrap();
    let used = drive.amplification();
    assert!(used > 1.5, "{used}");
    let (drawn_fj, written_b) = (
        drive.served.device().ledger().energy_fj(),
        drive.counted("host_written_b"),
    );
    drive.served.be(drive.at, State::Initial).unwrap();
    assert_eq!(drive.served.device().ledger().energy_fj(), drawn_fj);
    assert_eq!(drive.counted("host_written_b"), written_b);
    let new = drive.amplification();
    assert!(new <= 1.0, "{new}");
}

/// Trials would differ by which of them was the first.
#[test]
fn a_drive_is_used_the_second_time_as_it_was_the_first() {
    let mut drive = Drive::new();
    let [first, second] = [(); 2].map(|()| {
        drive.served.be(drive.at, State::Steady).unwrap();
        let used = drive.amplification();
        drive.served.be(drive.at, State::Initial).unwrap();
        used
    });
    assert_eq!(first, second);
}

/// Files are made while the drive takes no time; reading them would cost nothing.
#[test]
fn what_was_written_past_the_model_is_read_from_flash_until_it_is_discarded() {
    let page = Extent {
        sector: 80,
        sectors: SECTORS_PER_PAGE,
    };
    let mut drive = Drive::new();
    drive.carry_out(Action::Read, page);
    assert_eq!(drive.counted("flash_read_b"), 0);
    for (action, read_b) in [(Action::Write, 4096), (Action::Discard, 0)] {
        drive.served.rest(drive.at);
        drive.served.prepared(action, page);
        let before_b = drive.counted("flash_read_b");
        drive.carry_out(Action::Read, page);
        assert_eq!(drive.counted("flash_read_b") - before_b, read_b);
    }
}

#[test]
fn a_disk_that_rotates_has_no_states() {
    let mut disk = device(&Profile::load("wd200bb").unwrap(), 0);
    assert!(disk.be(0, State::Initial).is_err());
}
