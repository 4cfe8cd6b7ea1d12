//! Encryption by a file system, as linux/fscrypt.h has it: policies and keys of version 2.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

pub const KEY_B: usize = 64;

pub const KEY_ID_B: usize = 16;

/// What the kernel calls a key: a hash of it.
pub type KeyId = [u8; KEY_ID_B];

/// What an ioctl(2) reads and fills in.
trait Argument {
    const REQUEST: libc::Ioctl;
}

fn ask<T: Argument>(on: &File, argument: &mut T) -> io::Result<()> {
    // SAFETY: the descriptor is open; each argument is laid out as its request asks, and valid for
    // the call.
    match unsafe { libc::ioctl(on.as_raw_fd(), T::REQUEST, &raw mut *argument) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

const fn request<T>(number: u32) -> libc::Ioctl {
    libc::_IOWR::<T>(b'f' as u32, number)
}

/// How a folder and all that is made in it is encrypted.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Policy {
    version: u8,
    data: u8,
    names: u8,
    flags: u8,
    reserved: [u8; 4],
    key: KeyId,
}

const VERSION: u8 = 2;
const AES_256_XTS: u8 = 1;
const AES_256_CTS: u8 = 4;
/// Names are filled up to multiples of 32 bytes.
const PAD_32: u8 = 3;

impl Argument for Policy {
    // Its number has the size of a policy of version 1.
    const REQUEST: libc::Ioctl = libc::_IOR::<[u8; 12]>(b'f' as u32, 19);
}

impl Policy {
    /// The key of it; none if it is of version 1, which calls keys otherwise.
    pub fn key(&self) -> Option<KeyId> {
        (self.version == VERSION).then_some(self.key)
    }
}

#[repr(C)]
#[derive(Default)]
struct Asked {
    size_b: u64,
    policy: Policy,
}

impl Argument for Asked {
    const REQUEST: libc::Ioctl = request::<[u8; 9]>(22);
}

/// The policy of a folder; none if it is not encrypted.
///
/// # Errors
/// If its file system cannot encrypt (ENOTTY), or is not set to (EOPNOTSUPP).
pub fn policy(folder: &File) -> io::Result<Option<Policy>> {
    let mut asked = Asked {
        size_b: size_of::<Policy>() as u64,
        policy: Policy::default(),
    };
    match ask(folder, &mut asked) {
        Err(error) if error.raw_os_error() == Some(libc::ENODATA) => Ok(None),
        done => done.map(|()| Some(asked.policy)),
    }
}

/// Have an empty folder encrypted by a key that this user has added: data by AES-256-XTS, names by
/// AES-256-CTS, which every kernel that encrypts has.
///
/// # Errors
/// If it is not this user's, or not empty.
pub fn set_policy(folder: &File, key: &KeyId) -> io::Result<()> {
    let mut policy = Policy {
        version: VERSION,
        data: AES_256_XTS,
        names: AES_256_CTS,
        flags: PAD_32,
        reserved: [0; 4],
        key: *key,
    };
    ask(folder, &mut policy)
}

/// Which key is meant.
#[repr(C)]
#[derive(Default)]
struct Named {
    kind: u32,
    reserved: u32,
    id: KeyId,
    rest: [u8; 16],
}

impl Named {
    fn by(id: &KeyId) -> Self {
        const IDENTIFIER: u32 = 2;
        Self {
            kind: IDENTIFIER,
            id: *id,
            ..Self::default()
        }
    }
}

#[repr(C)]
struct Add {
    named: Named,
    size_b: u32,
    key_id: u32,
    reserved: [u32; 8],
    key: [u8; KEY_B],
}

impl Argument for Add {
    // Its number has the size without the key.
    const REQUEST: libc::Ioctl = request::<[u8; 80]>(23);
}

/// Give a file system a key, in the name of this user: what it encrypts can be read by whoever its
/// modes let. `on` is anything in that file system.
///
/// # Errors
/// If the kernel takes no more keys of this user (EDQUOT).
pub fn add_key(on: &File, key: &[u8; KEY_B]) -> io::Result<KeyId> {
    let mut add = Add {
        named: Named::by(&KeyId::default()),
        size_b: KEY_B as u32,
        key_id: 0,
        reserved: [0; 8],
        key: *key,
    };
    ask(on, &mut add).map(|()| add.named.id)
}

#[repr(C)]
#[derive(Default)]
struct Remove {
    named: Named,
    left: u32,
    reserved: [u32; 5],
}

impl Argument for Remove {
    const REQUEST: libc::Ioctl = request::<Remove>(24);
}

/// Take a key of this user out of a file system. What is open, or lies on the way to that, stays
/// readable until this is done once more.
///
/// # Errors
/// If it is not there (ENOKEY).
pub fn remove_key(on: &File, key: &KeyId) -> io::Result<()> {
    let mut remove = Remove {
        named: Named::by(key),
        ..Remove::default()
    };
    ask(on, &mut remove)
}

#[repr(C)]
#[derive(Default)]
struct Status {
    named: Named,
    reserved: [u32; 6],
    status: u32,
    flags: u32,
    users: u32,
    reserved_out: [u32; 13],
}

impl Argument for Status {
    const REQUEST: libc::Ioctl = request::<Status>(26);
}

/// Whether a file system has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Absent,
    Present,
    /// It was taken out, and some of what it encrypts is still open.
    InUse,
}

/// Whether a file system has a key, whoever added it.
///
/// # Errors
/// If it cannot encrypt.
pub fn presence(on: &File, key: &KeyId) -> io::Result<Presence> {
    let mut status = Status {
        named: Named::by(key),
        ..Status::default()
    };
    ask(on, &mut status)?;
    match status.status {
        1 => Ok(Presence::Absent),
        2 => Ok(Presence::Present),
        3 => Ok(Presence::InUse),
        other => Err(io::Error::other(format!("a key has the status {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel would refuse each request as one that it does not know.
    #[test]
    fn requests_have_the_numbers_of_the_kernels_header() {
        assert_eq!(Policy::REQUEST as u32, 0x800c_6613);
        assert_eq!(Asked::REQUEST as u32, 0xc009_6616);
        assert_eq!(Add::REQUEST as u32, 0xc050_6617);
        assert_eq!(Remove::REQUEST as u32, 0xc040_6618);
        assert_eq!(Status::REQUEST as u32, 0xc080_661a);
        assert_eq!(size_of::<Asked>(), 32);
        assert_eq!(size_of::<Add>(), 80 + KEY_B);
    }
}
