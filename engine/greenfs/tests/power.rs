//! Disks that are found below folders and put to sleep, on machines that are made of files: what a
//! real disk is told and says is from the manuals of hdparm, sg3_utils and smartmontools.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use greenfs::power::{Machine, Starts, State};

const SDB: &str = "/dev/sdb";

/// What is not killed on purpose may take its time.
const LIMIT: Duration = Duration::from_secs(600);

/// A disk that stands still once it is told to.
const HDPARM: &str = "case $1 in
    -y) echo ' issuing standby command' ;;
    -C) echo; echo /dev/sdb:; echo ' drive state is:  standby' ;;
esac";

/// The same of a disk that does not speak ATA.
const NO_ATA: &str = "echo ' HDIO_DRIVE_CMD(standby) failed: Invalid argument' >&2; exit 22";

/// /sys, /proc and programs, gone at the end.
struct Made(PathBuf);

impl Made {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("greenfs-p-{}-{name}", std::process::id()));
        let made = Self(root);
        for folder in ["bin", "sys/block", "sys/dev/block", "proc/self"] {
            fs::create_dir_all(made.0.join(folder)).expect("there is a folder for temporary files");
        }
        made.write("proc/self/mountinfo", "");
        made
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        let folder = path.parent().expect("it is in one");
        fs::create_dir_all(folder).expect("it is ours");
        fs::write(path, text).expect("it is ours");
    }

    /// A device, as `ata1/sdb` or in another one, as `ata1/sdb/sdb1`.
    fn device(&self, path: &str, number: &str) {
        self.write(&format!("sys/devices/{path}/dev"), &format!("{number}\n"));
        let target = Path::new("../../devices").join(path);
        symlink(target, self.0.join("sys/dev/block").join(number)).expect("it is ours");
    }

    fn disk(&self, path: &str, number: &str) {
        self.device(path, number);
        let (_, name) = path.rsplit_once('/').expect("it is on a bus");
        let target = Path::new("../devices").join(path);
        symlink(target, self.0.join("sys/block").join(name)).expect("it is ours");
    }

    fn partition(&self, path: &str, number: &str) {
        self.device(path, number);
        self.write(&format!("sys/devices/{path}/partition"), "1\n");
    }

    /// One device is made of another one.
    fn maps(&self, upper: &str, lower: &str) {
        let slaves = self.0.join("sys/devices").join(upper).join("slaves");
        fs::create_dir_all(&slaves).expect("it is ours");
        let name = Path::new(lower).file_name().expect("it has one");
        let target = self.0.join("sys/devices").join(lower);
        symlink(target, slaves.join(name)).expect("it is ours");
    }

    /// A program that writes down how it was called.
    fn program(&self, name: &str, does: &str) {
        let (place, calls) = (self.0.join("bin").join(name), self.0.join("calls"));
        let text = format!(
            "#!/bin/sh\necho {name} \"$@\" >>{}\n{does}\n",
            calls.display()
        );
        // Written by a process that ends: no other thread's child has it open when it is run.
        let write = "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"";
        let mut sh = Command::new("sh");
        sh.args(["-c", write, "sh", &text]).arg(place);
        assert!(sh.status().expect("sh is there").success());
    }

    /// What was called since the last time.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.0.join("calls")).unwrap_or_default();
        self.write("calls", "");
        calls.lines().map(str::to_owned).collect()
    }

    fn says(&self, file: &str) -> String {
        fs::read_to_string(self.0.join("sys").join(file)).expect("it is there")
    }

    fn machine(&self) -> Machine {
        let mut programs = OsString::from(self.0.join("bin"));
        programs.push(":/usr/bin:/bin");
        Machine {
            sys: self.0.join("sys"),
            proc: self.0.join("proc"),
            programs,
            limit: LIMIT,
        }
    }

    fn stop(&self) -> Result<(), String> {
        self.machine().stop("sdb", Path::new(SDB))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(found: &[&str]) -> BTreeSet<String> {
    found.iter().map(|&name| name.to_owned()).collect()
}

/// Two disks; the first has the root file system, the second a partition and a volume group.
fn with_disks(name: &str) -> Made {
    let made = Made::new(name);
    made.disk("ata1/sda", "8:0");
    made.partition("ata1/sda/sda1", "8:1");
    made.disk("ata2/sdb", "8:16");
    made.partition("ata2/sdb/sdb1", "8:17");
    made.partition("ata2/sdb/sdb2", "8:18");
    made.disk("virtual/dm-0", "253:0");
    made.maps("virtual/dm-0", "ata2/sdb/sdb2");
    made
}

/// Another disk would be stopped, or only half of what a folder lies on.
#[test]
fn whole_disks_are_found_below_partitions_and_maps() {
    let made = with_disks("below");
    made.disk("virtual/md0", "9:0");
    made.maps("virtual/md0", "virtual/dm-0");
    made.maps("virtual/md0", "ata1/sda/sda1");
    let below = |major, minor| made.machine().disks_below((major, minor)).ok();
    assert_eq!(below(8, 16), Some(names(&["sdb"])));
    assert_eq!(below(8, 17), Some(names(&["sdb"])));
    assert_eq!(below(253, 0), Some(names(&["sdb"])));
    assert_eq!(below(9, 0), Some(names(&["sda", "sdb"])));
    assert_eq!(below(8, 99), None);
    made.maps("virtual/dm-0", "virtual/md0");
    assert_eq!(below(9, 0), None, "without an end");
}

/// The disk would be stopped under the system, or under somebody else's work, and start again at once.
#[test]
fn what_else_lies_on_a_disk_is_named() {
    let made = with_disks("beside");
    made.write(
        "proc/self/mountinfo",
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
23 21 8:17 / /backup rw - xfs /dev/sdb1 rw
24 21 8:17 /me /home/me/backup rw - xfs /dev/sdb1 rw
25 21 0:40 / /mnt/server rw - nfs server:/export rw
cut 8:17
",
    );
    let beside = |disk, own| made.machine().beside(disk, &[own]);
    assert_eq!(beside("sdb", (8, 17)), Ok(names(&[])));
    assert_eq!(beside("sda", (8, 1)), Ok(names(&["the root file system"])));
    let other = names(&[
        "what is mounted on /backup",
        "what is mounted on /home/me/backup",
    ]);
    assert_eq!(beside("sdb", (253, 0)), Ok(other));
}

/// Memory that is swapped there would wake the disk at once.
#[test]
fn swap_on_a_disk_is_named() {
    let made = Made::new("swap");
    let place = made.0.join("a swap file");
    made.write("a swap file", "");
    let devices = made.machine().devices_of(&place).expect("it is there");
    let [(major, minor)] = devices[..] else {
        return eprintln!("skipped: needs a TMPDIR on a disk, not in memory");
    };
    made.disk("ata2/sdb", "999:16");
    made.partition("ata2/sdb/sdb3", &format!("{major}:{minor}"));
    let place = place.display().to_string();
    let line = place.replace(' ', "\\040");
    let table = format!("Filename Type Size Used Priority\n{line} file 8 0 -2\n");
    made.write("proc/swaps", &table);
    let found = made.machine().beside("sdb", &[]);
    assert_eq!(found, Ok(names(&[&format!("swap ({place})")])));
}

/// A disk would turn on, be told what it does not understand, or never start again.
#[test]
fn a_disk_is_stopped_by_the_first_way_that_it_knows() {
    let made = with_disks("ways");
    let scsi = "sys/devices/ata2/sdb/device/scsi_disk/1:0:0:0";
    made.program("hdparm", HDPARM);
    assert_eq!(made.stop(), Ok(()));
    assert_eq!(made.calls(), ["hdparm -y /dev/sdb", "hdparm -C /dev/sdb"]);

    made.program("hdparm", NO_ATA);
    made.program("sg_start", "");
    made.write(&format!("{scsi}/allow_restart"), "0\n");
    let why = made.stop().expect_err("the kernel would not start it");
    assert!(
        why.contains("Invalid argument") && why.contains("allow_restart"),
        "{why}"
    );
    assert_eq!(made.calls(), ["hdparm -y /dev/sdb"]);
    made.write(&format!("{scsi}/allow_restart"), "1\n");
    assert_eq!(made.stop(), Ok(()));
    let told = [
        "hdparm -y /dev/sdb",
        "sg_start --stop /dev/sdb",
        "hdparm -C /dev/sdb",
    ];
    assert_eq!(made.calls(), told);

    // While it is tried, the kernel comes to suspend the disk.
    let status = "sys/devices/ata2/sdb/device/power/runtime_status";
    made.program(
        "sg_start",
        &format!(
            "echo suspended >{}; echo 'start stop unit: not supported' >&2; exit 9",
            made.0.join(status).display()
        ),
    );
    made.write(&format!("{scsi}/manage_runtime_start_stop"), "1\n");
    made.write("sys/devices/ata2/sdb/device/power/control", "on\n");
    let delay = "block/sdb/device/power/autosuspend_delay_ms";
    for _ in 0..2 {
        made.calls();
        made.write(status, "active\n");
        assert_eq!(made.stop(), Ok(()));
        // To ask the disk itself would start it.
        assert_eq!(
            made.calls(),
            ["hdparm -y /dev/sdb", "sg_start --stop /dev/sdb"]
        );
        assert_eq!(made.says("block/sdb/device/power/control"), "auto");
        let again_ms: u64 = made.says(delay).parse().expect("it is a number");
        assert!(
            again_ms > 24 * 3_600_000,
            "the kernel would stop it after each use"
        );
    }
    let machine = made.machine();
    assert_eq!(machine.state("sdb", Path::new(SDB)), State::Standby);
    assert_eq!(machine.starts("sdb", Path::new(SDB)), None);
    assert_eq!(made.stop(), Ok(()));
    assert!(made.calls().is_empty(), "it would be started");

    // A person has it suspended after a time of his own.
    made.write(status, "active\n");
    made.write(&format!("sys/{delay}"), "30000\n");
    made.stop().expect_err("that stays as it is");
    assert_eq!(made.says(delay), "30000\n");
}

/// It would be taken for asleep while it turns.
#[test]
fn a_disk_that_goes_on_turning_is_not_stopped() {
    let made = with_disks("turning");
    made.program("hdparm", "echo ' drive state is:  active/idle'");
    let why = made.stop().expect_err("it turns");
    assert!(why.contains("it goes on turning"), "{why}");
    assert_eq!(made.machine().state("sdb", Path::new(SDB)), State::Active);
}

/// A person's own line would get another disk, or its failure be taken for sleep.
#[test]
fn a_disk_is_stopped_by_the_line_of_a_person() {
    let made = with_disks("line");
    made.program("sdparm", "");
    let stop = |line| made.machine().stop_by_command(line, Path::new(SDB));
    assert_eq!(stop("sdparm --command=stop \"$1\""), Ok(()));
    assert_eq!(made.calls(), ["sdparm --command=stop /dev/sdb"]);
    let why = stop("echo no >&2; exit 3").expect_err("it fails");
    assert!(why.contains("failed: no"), "{why}");
    let why = stop("not-there-at-all").expect_err("it is not there");
    assert!(why.contains("not found"), "{why}");
}

/// What a script has started would go on, and hold the disk, after each try to put that to sleep.
#[test]
fn a_program_that_hangs_goes_with_all_that_it_started() {
    let made = with_disks("hangs");
    let pid = made.0.join("pid");
    made.program(
        "hdparm",
        &format!("sleep 1000 & echo $! >{}; wait", pid.display()),
    );
    let mut machine = made.machine();
    machine.limit = Duration::from_millis(200);
    let mut started = String::new();
    while started.is_empty() {
        let why = machine.stop("sdb", Path::new(SDB)).expect_err("it hangs");
        assert!(why.contains("has not ended"), "{why}");
        started = fs::read_to_string(&pid).unwrap_or_default();
    }
    let stat = format!("/proc/{}/stat", started.trim());
    // One that nobody has waited for yet is a zombie.
    let is_there = || fs::read_to_string(&stat).is_ok_and(|said| !said.contains(") Z "));
    while is_there() {
        thread::sleep(Duration::from_millis(20));
    }
}

/// What wears a disk would be told wrong, or to ask would wake it.
#[test]
fn starts_are_what_smart_says() {
    let made = with_disks("smart");
    let starts = |json: &str, status: u8| {
        made.write("said", json);
        let said = made.0.join("said");
        made.program(
            "smartctl",
            &format!("cat {}; exit {status}", said.display()),
        );
        made.machine().starts("sdb", Path::new(SDB))
    };
    let counted = |count, serial: &str| {
        let serial = serial.to_owned();
        Some(Starts { count, serial })
    };
    let ata = r#"{"device": {"protocol": "ATA"}, "serial_number": "Z1",
        "ata_smart_attributes": {"revision": 10, "table": [
        {"id": 3, "name": "Spin_Up_Time", "raw": {"value": 0, "string": "0"}},
        {"id": 4, "name": "Start_Stop_Count", "value": 100, "raw": {"value": 279, "string": "279"}}]}}"#;
    assert_eq!(starts(ata, 64), counted(279, "Z1"));
    assert_eq!(made.calls(), ["smartctl -n standby -j -i -A /dev/sdb"]);
    let sas = r#"{"device": {"protocol": "SCSI"}, "scsi_start_stop_cycle_counter":
        {"year_of_manufacture": "2023", "accumulated_start_stop_cycles": 5}}"#;
    assert_eq!(starts(sas, 0), counted(5, ""));
    assert_eq!(
        starts(
            r#"{"device": {"name": "/dev/sdb"}, "power_mode": {"ata_value": 0}}"#,
            2
        ),
        None
    );
    for broken in [
        "",
        "{",
        "[4]",
        r#"{"ata_smart_attributes": {"table": [{"id": 4}]}}"#,
    ] {
        assert_eq!(starts(broken, 0), None, "{broken}");
    }
}

/// A machine without these programs would end the mount.
#[test]
fn a_disk_that_nobody_can_ask_is_left_alone() {
    let made = with_disks("nobody");
    let mut machine = made.machine();
    machine.programs = made.0.join("bin").into();
    assert_eq!(machine.state("sdb", Path::new(SDB)), State::Unknown);
    assert_eq!(machine.starts("sdb", Path::new(SDB)), None);
    let why = machine
        .stop("sdb", Path::new(SDB))
        .expect_err("nothing is installed");
    assert!(why.contains("hdparm is not installed"), "{why}");
}
