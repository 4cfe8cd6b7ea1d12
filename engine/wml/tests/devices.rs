//! A block device is overwritten only if it is confirmed by what only it is, and nobody uses it.

mod common;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use common::{Place, ops, processes_with, signal, wait, wait_until, wait_until_they_read};

const SIZE_B: u64 = 16 << 20;

const WRITER: &str = "
define file name=$device, path=/dev, size=1m, reuse
define process name=p { thread name=t {
  flowop write name=w, filesetname=$device, iosize=4k, random
  flowop read name=r, filesetname=$device, iosize=4k, random } }
run 60
";

const READER: &str = "
define file name=$device, path=/dev, size=1m, reuse
define process name=p { thread name=t {
  flowop read name=r, filesetname=$device, iosize=4k, random
  flowop finishoncount name=end, value=100 } }
run 60
";

/// A loop device on a file of its own, detached at the end.
struct Loop {
    device: PathBuf,
    image: PathBuf,
}

impl Loop {
    /// None, with a word to people, where this user may not make one.
    fn new(place: &Place) -> Option<Self> {
        let image = place.0.join("image");
        File::create(&image).unwrap().set_len(SIZE_B).unwrap();
        let found = Self::on(&image);
        if found.is_none() {
            eprintln!(
                "skipped: no loop device can be made; run the tests as root, where /dev has some"
            );
        }
        found
    }

    fn on(image: &Path) -> Option<Self> {
        let losetup = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output();
        let output = losetup.ok().filter(|output| output.status.success())?;
        let device = String::from_utf8(output.stdout).unwrap().trim().into();
        let image = image.to_owned();
        Some(Self { device, image })
    }

    fn name(&self) -> String {
        format!(
            "--set=device={}",
            self.device.file_name().unwrap().to_string_lossy()
        )
    }

    fn confirmed_as(&self, image: &Path) -> String {
        format!("--overwrite={}={}", self.device.display(), image.display())
    }

    fn confirmed(&self) -> String {
        self.confirmed_as(&self.image)
    }

    fn content(&self) -> Vec<u8> {
        let mut content = vec![0; 1 << 20];
        let device = File::open(&self.device).unwrap();
        device.read_exact_at(&mut content, 0).unwrap();
        content
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.device)
            .status();
    }
}

/// A mount point, unmounted at the end.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn run(place: &Place, text: &str, options: &[&str]) -> Output {
    // `dir` is the common option of all texts here.
    place.output("run", &format!("{text}\necho $dir\n"), options)
}

/// A run that must be refused with these words, and leave the device as it was.
fn refused(place: &Place, on: &Loop, options: &[&str], words: &[&str]) {
    let before = on.content();
    let name = on.name();
    let output = run(place, WRITER, &[&[name.as_str()], options].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(on.content() == before, "the device was changed");
}

#[test]
fn results_are_not_written_over_a_device() {
    let place = Place::new("device-json");
    let Some(on) = Loop::new(&place) else { return };
    let link = place.0.join("link");
    std::os::unix::fs::symlink(&on.device, &link).unwrap();
    let before = on.content();
    for path in [&on.device, &link] {
        let json = format!("--json={}", path.display());
        let output = place.output("run", common::READER, &[&json, "--duration=0.1"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("is a block device, whose data would be lost"),
            "{said}"
        );
        assert!(on.content() == before, "the device was changed");
    }
}

#[test]
fn nothing_is_written_to_a_device_that_is_not_confirmed_by_its_own_file() {
    let place = Place::new("device-unconfirmed");
    let Some(on) = Loop::new(&place) else { return };
    refused(
        &place,
        &on,
        &[],
        &["nothing confirms it", "--overwrite", "losetup"],
    );
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(&on.device)
        .status();
    if made.is_ok_and(|status| status.success()) {
        refused(
            &place,
            &on,
            &[],
            &["it holds ext4, and nothing confirms it"],
        );
    }
    let other = place.0.join("another-image");
    fs::write(&other, "").unwrap();
    let wrong = on.confirmed_as(&other);
    refused(&place, &on, &[&wrong], &["and not", "another-image"]);
    let elsewhere = format!("--overwrite=/dev/null={}", on.image.display());
    refused(&place, &on, &[&elsewhere], &["confirms it"]);
}

#[test]
fn a_confirmed_device_is_written_to_and_nobody_else_may_have_it_meanwhile() {
    let place = Place::new("device-confirmed");
    let Some(on) = Loop::new(&place) else { return };
    let before = on.content();
    let options = [&on.name(), &on.confirmed(), "--duration=60"];
    let text = format!("{WRITER}\necho $dir\n");
    let run = place.start(&text, &options);
    wait_until_they_read(&place.text(), Duration::from_secs(60));
    let alone = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&on.device);
    assert_eq!(alone.unwrap_err().raw_os_error(), Some(libc::EBUSY));
    signal(&run, libc::SIGTERM);
    assert_eq!(wait(run, Duration::from_secs(60)), 3);
    assert!(on.content() != before, "nothing was written");
    assert!(ops(&place.written()["runs"][0], "w") > 0);
    wait_until(Duration::from_secs(60), "processes are left", || {
        processes_with(&place.text()).is_empty()
    });
    let alone = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&on.device);
    assert!(alone.is_ok(), "it is free again");
}

#[test]
fn reading_a_device_asks_for_nothing() {
    let place = Place::new("device-read");
    let Some(on) = Loop::new(&place) else { return };
    let alone = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&on.device);
    let output = run(&place, READER, &[&on.name()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    drop(alone);
    let written = WRITER.replace("reuse", "reuse, readonly");
    let output = run(
        &place,
        &written,
        &[&on.name(), "--duration=0.1", "--max-errors=100%"],
    );
    assert!(
        output.status.success(),
        "what is readonly cannot be written to"
    );
}

#[test]
fn a_device_in_use_is_refused_however_it_is_confirmed() {
    let place = Place::new("device-in-use");
    let Some(on) = Loop::new(&place) else { return };
    let confirmed = on.confirmed();
    if let Some(twin) = Loop::on(&on.image) {
        refused(&place, &on, &[&confirmed], &["its file is also behind"]);
        drop(twin);
    }
    if let Some(above) = Loop::on(&on.device) {
        refused(&place, &on, &[&confirmed], &["is behind the loop device"]);
        let through = above.confirmed();
        refused(
            &place,
            &above,
            &[&through],
            &["is the device", "not a file"],
        );
        drop(above);
    }
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(&on.device)
        .status();
    // Only to be read: ext4 itself writes soon after another mount.
    let mount = Command::new("mount")
        .args(["-o", "ro"])
        .arg(&on.device)
        .arg(place.dir())
        .status();
    let possible = [made, mount];
    if !possible
        .into_iter()
        .all(|status| status.is_ok_and(|status| status.success()))
    {
        eprintln!("skipped: nothing can be mounted here; run the tests as root, with e2fsprogs");
        return;
    }
    let mounted = Mounted(place.dir());
    refused(&place, &on, &[&confirmed], &["is mounted on"]);
    drop(mounted);
}

/// Run a command where /dev has no block device but one. Before it stand that device, a folder for
/// the nodes of /dev, one for temporary files, and the options of the latter's mount.
const HIDING: &str = r#"
set -e
device=$1 nodes=$2 temporary=$3 options=$4
shift 4
mount -t tmpfs tmpfs "$nodes"
cp -a /dev/null /dev/zero /dev/urandom "$device" "$nodes"
mount -t tmpfs -o "$options" tmpfs "$temporary"
mount --bind "$nodes" /dev
TMPDIR=$temporary exec "$@"
"#;

/// A run where /dev has no loop device but one, and temporary files are in such a mount.
fn hidden(place: &Place, on: &Loop, options: &str) -> Output {
    let (name, confirmed) = (on.name(), on.confirmed());
    let text = format!("{WRITER}\necho $dir\n");
    let run = place.command("run", &text, &[&name, &confirmed, "--duration=0.1"]);
    let folders = ["nodes", "temporary"].map(|name| place.0.join(name));
    for folder in &folders {
        fs::create_dir_all(folder).unwrap();
    }
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", HIDING, "sh"]);
    unshare.arg(&on.device).args(folders).arg(options);
    unshare.arg(run.get_program()).args(run.get_args());
    unshare.output().unwrap()
}

#[test]
fn a_loop_device_whose_node_is_hidden_is_asked_too_or_nothing_is_written() {
    let place = Place::new("device-hidden");
    let Some(on) = Loop::new(&place) else { return };
    let is_possible = Command::new("unshare").args(["--mount", "true"]).status();
    if !is_possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: nothing can be mounted apart; run the tests as root, with unshare");
        return;
    }
    let refused = |options: &str, words: &str| {
        let before = on.content();
        let output = hidden(&place, &on, options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(on.content() == before, "the device was changed");
    };
    let twin = Loop::on(&on.image).unwrap();
    refused("dev", "its file is also behind");
    refused("nodev", "cannot be asked");
    drop(twin);
    let above = Loop::on(&on.device).unwrap();
    refused("dev", "is behind the loop device");
    drop(above);
    let before = on.content();
    let output = hidden(&place, &on, "dev");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(on.content() != before, "nothing was written");
    let left = fs::read_dir(place.0.join("temporary")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_device_that_is_not_there_leaves_no_folder_in_its_place() {
    let place = Place::new("device-missing");
    let device = "--set=device=fsgreen-no-such-device";
    let output = run(&place, READER, &[device]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no block device /dev/fsgreen-no-such-device"),
        "{said}"
    );
    assert!(!Path::new("/dev/fsgreen-no-such-device").exists());
}
