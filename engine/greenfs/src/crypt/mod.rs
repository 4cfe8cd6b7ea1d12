//! A flash folder that its file system encrypts (fscrypt), and the key of that, which the kernel
//! has for as long as a greenfs that was given it works there.
//!
//! Whoever uses the folder takes its lock first and adds the key then; whoever takes the key out
//! has that lock, too, and has looked who else is mounted. So nobody's key is taken away.

mod kernel;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use mounting::place::{Mounted, mounted};
use ring::hkdf::{HKDF_SHA512, KeyType, Salt};

pub use self::kernel::KEY_B;
use self::kernel::{KEY_ID_B, KeyId, Policy, Presence};
use crate::branch::folder::Folder;
use crate::fault::Fault;
use crate::key;

/// What a status says of a folder that is encrypted.
pub const ENCRYPTED: &str = "        encrypted by its file system\n";

const NAME_A_KEY: &str = "name the file that `greenfs flash key FILE` made";

/// Use a flash folder that no other process uses. With a key, its file system can read it from then
/// on; if it is empty and `begins`, it is encrypted from then on.
///
/// # Errors
/// If another process uses it, it is encrypted and its key is not there, or the key is another one;
/// with a key, if it cannot be encrypted, or has files that are not.
pub fn claim(flash: &Path, key: Option<&Path>, begins: bool) -> Result<Folder, Fault> {
    let folder = Folder::claim(flash)?.own_folders();
    let root = folder.root().map_err(|error| unusable(flash, &error))?;
    match key {
        Some(file) => open(&root, flash, file, begins)?,
        None => expect_open(&root, flash)?,
    }
    Ok(folder)
}

/// Whether a folder is encrypted by its file system.
pub fn is_encrypted(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|root| policy(&root).is_some())
}

/// The policy of a folder; none if it has none, or its file system knows of none.
fn policy(root: &File) -> Option<Policy> {
    kernel::policy(root).ok().flatten()
}

fn unusable(flash: &Path, error: &io::Error) -> Fault {
    let what = format!("this folder cannot be used: {error}");
    Fault::new(what, flash, "see that it is mounted and answers")
}

/// Whether the kernel has the key of a folder; none if it is not encrypted by one.
fn presence(root: &File) -> Option<Presence> {
    let id = policy(root)?.key()?;
    kernel::presence(root, &id).ok()
}

fn expect_open(root: &File, flash: &Path) -> Result<(), Fault> {
    match presence(root) {
        None | Some(Presence::Present) => Ok(()),
        Some(_) => Err(Fault::new(
            "this folder is encrypted, and the kernel has not its key",
            flash,
            "name the file of its key with --flash-key",
        )),
    }
}

fn open(root: &File, flash: &Path, file: &Path, begins: bool) -> Result<(), Fault> {
    let key = key::read(file, NAME_A_KEY)?;
    beside(flash)?;
    match kernel::policy(root).map_err(|error| no_encryption(flash, &error))? {
        Some(policy) if policy.key() == Some(id_of(&key)) => add(root, flash, &key).map(drop),
        Some(_) => Err(Fault::new(
            "this folder is encrypted by another key",
            flash,
            "name the file of its own key, or leave out --flash-key if you unlock it yourself",
        )),
        None if !is_empty(flash)? => Err(Fault::new(
            "this folder has files that are not encrypted, and only an empty one can begin to be",
            flash,
            format!(
                "mv {0} {0}-plain && mkdir {0}; mount that with --flash-key alone, copy the files \
                 into the mount, and see \"Encrypt flash\" in docs/greenfs.md for the branches",
                flash.display()
            ),
        )),
        None if begins => begin(root, flash, &key),
        None => Ok(()),
    }
}

fn is_empty(flash: &Path) -> Result<bool, Fault> {
    let entries = fs::read_dir(flash).map_err(|error| unusable(flash, &error))?;
    Ok(entries.take(1).count() == 0)
}

/// Have an empty folder encrypted.
fn begin(root: &File, flash: &Path, key: &[u8; KEY_B]) -> Result<(), Fault> {
    let was_there = kernel::presence(root, &id_of(key)).is_ok_and(|it| it != Presence::Absent);
    let id = add(root, flash, key)?;
    kernel::set_policy(root, &id).map_err(|error| {
        if !was_there {
            // Nothing needs it; the first error says more than one of this.
            let _ = kernel::remove_key(root, &id);
        }
        let what = format!("this folder cannot be encrypted: {error}");
        Fault::new(what, flash, "name an empty folder of your own")
    })
}

fn add(root: &File, flash: &Path, key: &[u8; KEY_B]) -> Result<KeyId, Fault> {
    kernel::add_key(root, key).map_err(|error| {
        let what = format!("the kernel does not take the key: {error}");
        let next = "see how many keys it takes of you with `sysctl kernel.keys`";
        Fault::new(what, flash, next)
    })
}

/// What the kernel calls a key: what its HKDF makes of it for that purpose.
fn id_of(key: &[u8; KEY_B]) -> KeyId {
    struct IdLength;
    impl KeyType for IdLength {
        fn len(&self) -> usize {
            KEY_ID_B
        }
    }
    const PURPOSE: &[&[u8]] = &[b"fscrypt\0", &[1]];
    let derived = Salt::new(HKDF_SHA512, &[]).extract(key);
    let mut id = KeyId::default();
    let filled = derived
        .expand(PURPOSE, IdLength)
        .and_then(|output| output.fill(&mut id));
    filled.expect("HKDF-SHA512 makes far more bytes than these");
    id
}

/// A folder above this one, in the same file system, which is told there to forget a key: through
/// the folder itself, that would be in use.
fn beside(flash: &Path) -> Result<File, Fault> {
    let device = |folder: &Path| folder.metadata().map(|status| status.dev());
    let here = device(flash).map_err(|error| unusable(flash, &error))?;
    let mut above = flash.ancestors().skip(1);
    let found = above.find_map(|folder| {
        let is_of_it = device(folder).is_ok_and(|device| device == here);
        is_of_it.then(|| File::open(folder).ok()).flatten()
    });
    found.ok_or_else(|| {
        Fault::new(
            "no folder above this one is in its file system and can be read",
            flash,
            "name a folder in another one of that file system",
        )
    })
}

fn no_encryption(flash: &Path, error: &io::Error) -> Fault {
    let mount = mount_of(flash);
    let source = mount
        .as_ref()
        .map_or("DEVICE", |mount| mount.source.as_str());
    let is_switched_off = error.raw_os_error() == Some(libc::EOPNOTSUPP);
    let next = match mount.as_ref().map(|mount| mount.kind.as_str()) {
        Some("ext4") if is_switched_off => format!("as root: tune2fs -O encrypt {source}"),
        Some("f2fs") if is_switched_off => {
            format!("as root, while it is not mounted: fsck.f2fs -O encrypt {source}")
        }
        _ => "name a folder on ext4 or f2fs, or lay its device on LUKS and leave out --flash-key"
            .into(),
    };
    let what = match is_switched_off {
        true => "its file system, or this kernel, is not set to encrypt (encrypt, FS_ENCRYPTION)",
        false => "its file system cannot encrypt a folder",
    };
    Fault::new(what, flash, next)
}

fn mount_of(folder: &Path) -> Option<Mounted> {
    let device = folder.metadata().ok()?.dev();
    let number = (libc::major(device), libc::minor(device));
    let all = mounted().ok()?;
    all.into_iter().rfind(|mount| mount.device == number)
}

/// How it stands with the key of a folder that was to be closed.
pub enum Closed {
    /// Names and data cannot be read any more.
    Yes,
    /// The folder is not encrypted by a key of greenfs.
    HasNone,
    /// A volume that is mounted needs it: that of this flash folder.
    Needed(PathBuf),
    /// Others have given it to the kernel, too.
    Kept,
}

/// Have the kernel forget the key of a flash folder, unless a mounted volume needs it;
/// `volumes` are the flash folders of those.
///
/// # Errors
/// If another process uses the folder, or has files in it open.
pub fn close(flash: &Path, volumes: &[PathBuf]) -> Result<Closed, Fault> {
    let by_key = |folder: &Path| {
        let root = File::open(folder).ok()?;
        Some((root.metadata().ok()?.dev(), policy(&root)?.key()?))
    };
    let Some(of_this) = by_key(flash) else {
        return Ok(Closed::HasNone);
    };
    let needs_it = |other: &&PathBuf| by_key(other) == Some(of_this);
    if let Some(other) = volumes.iter().find(needs_it) {
        return Ok(Closed::Needed(other.clone()));
    }
    let (_, id) = of_this;
    let beside = beside(flash)?;
    let failed = |error: io::Error| kept(flash, &error.to_string());
    let folder = patiently(|| Folder::claim(flash).ok());
    let folder = folder.map_or_else(|| Folder::claim(flash), Ok)?;
    forget(&beside, &id).map_err(failed)?;
    // While it is open, it can be read.
    drop(folder);
    let closed = patiently(|| match kernel::presence(&beside, &id) {
        Ok(Presence::Absent) => Some(Ok(Closed::Yes)),
        Ok(Presence::Present) => Some(Ok(Closed::Kept)),
        Ok(Presence::InUse) => forget(&beside, &id).err().map(Err),
        Err(error) => Some(Err(error)),
    });
    let closed = closed.ok_or_else(|| kept(flash, STILL_OPEN))?;
    closed.map_err(failed)
}

/// See that a folder is not closed in part.
///
/// # Errors
/// If the key of this one was to be taken out of the kernel, and could not be.
pub fn expect_closed(flash: &Path) -> Result<(), Fault> {
    match File::open(flash).ok().and_then(|root| presence(&root)) {
        Some(Presence::InUse) => Err(kept(flash, STILL_OPEN)),
        _ => Ok(()),
    }
}

const STILL_OPEN: &str = "some of its files are still open";

fn kept(flash: &Path, why: &str) -> Fault {
    let place = flash.display();
    let next = format!(
        "end the programs that use it (see `lsof +D {place}`), then `greenfs flash lock {place}`"
    );
    Fault::new(format!("the kernel keeps its key: {why}"), flash, next)
}

/// Have the kernel forget a key that it may not have of this user.
fn forget(beside: &File, id: &KeyId) -> io::Result<()> {
    match kernel::remove_key(beside, id) {
        Err(error) if error.raw_os_error() == Some(libc::ENOKEY) => Ok(()),
        done => done,
    }
}

/// Look again and again, for up to 5 s: others may look at the folder in passing.
fn patiently<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..100).find_map(|time| {
        if time > 0 {
            thread::sleep(Duration::from_millis(50));
        }
        look()
    })
}
