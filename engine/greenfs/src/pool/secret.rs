//! What a chunk is called, and how it is encrypted.
//!
//! Without a key a chunk is called by its SHA-256, and lies there as it is. With one, it is called by
//! an HMAC of its data, which tells nobody else what it is; each has a key of its own, which is an HMAC
//! of that name, so no key ever encrypts two texts.

use std::fmt;
use std::io;
use std::path::Path;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::error::Unspecified;
use ring::{digest, hmac};

use crate::fault::Fault;
use crate::key::{self, from_hex, hex};

const ID_B: usize = 32;

/// How long the key of a pool is.
pub const KEY_B: usize = 32;

/// By how much a chunk is larger when it is encrypted.
const TAG_B: usize = 16;

/// What a chunk is called; in texts 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id([u8; ID_B]);

impl Id {
    /// The first bytes of a text; none if there are too few.
    pub fn first(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (id, rest) = bytes.split_first_chunk()?;
        Some((Self(*id), rest))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// What a name of a file stands for; none if for none.
    pub fn read(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// What a pool has of its key; or that it has none.
pub struct Secret(Option<Keys>);

struct Keys {
    ids: hmac::Key,
    data: hmac::Key,
    seed: u64,
    check: String,
}

impl Secret {
    pub fn none() -> Self {
        Self(None)
    }

    fn of(key: &[u8; KEY_B]) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        let derived = |purpose: &str| hmac::sign(&key, purpose.as_bytes());
        let sub = |purpose| hmac::Key::new(hmac::HMAC_SHA256, derived(purpose).as_ref());
        let cuts = derived("greenfs cuts");
        let seed = cuts.as_ref().first_chunk().copied().map(u64::from_le_bytes);
        Self(Some(Keys {
            ids: sub("greenfs ids"),
            data: sub("greenfs data"),
            seed: seed.unwrap_or_default(),
            check: hex(derived("greenfs check").as_ref()),
        }))
    }

    /// The key in a file, which nobody else can read.
    ///
    /// # Errors
    /// If it cannot be read, others can read it, too, or it holds no key.
    pub fn read(file: &Path) -> Result<Self, Fault> {
        let next = "name the file that `greenfs pool key FILE` made";
        key::read(file, next).map(|key| Self::of(&key))
    }

    /// By what a pool knows this key again; none without a key. It says nothing about the key.
    pub fn check(&self) -> Option<&str> {
        self.0.as_ref().map(|keys| keys.check.as_str())
    }

    /// What makes the borders of chunks others than those of another key; 0 without one.
    pub fn seed(&self) -> u64 {
        self.0.as_ref().map_or(0, |keys| keys.seed)
    }

    /// What these data are called.
    pub fn id(&self, data: &[u8]) -> Id {
        let mut id = [0; ID_B];
        match &self.0 {
            Some(keys) => id.copy_from_slice(hmac::sign(&keys.ids, data).as_ref()),
            None => id.copy_from_slice(digest::digest(&digest::SHA256, data).as_ref()),
        }
        Id(id)
    }

    /// How many bytes this many take in the pool.
    pub fn sealed_b(&self, size_b: u64) -> u64 {
        size_b + self.0.as_ref().map_or(0, |_| TAG_B as u64)
    }

    /// The data as they lie in the pool.
    pub fn seal(&self, id: &Id, data: &[u8]) -> io::Result<Vec<u8>> {
        let mut sealed = Vec::with_capacity(data.len() + TAG_B);
        sealed.extend_from_slice(data);
        if let Some(keys) = &self.0 {
            let key = keys.of_chunk(id);
            let done = key
                .and_then(|key| key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut sealed));
            done.map_err(|_| io::Error::other("this is too large to be encrypted"))?;
        }
        Ok(sealed)
    }

    /// The data that are called so; none if they are damaged.
    pub fn open(&self, id: &Id, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        match &self.0 {
            Some(keys) => {
                let key = keys.of_chunk(id).ok()?;
                let opened_b = key.open_in_place(nonce(), Aad::empty(), &mut sealed);
                let opened_b = opened_b.ok()?.len();
                sealed.truncate(opened_b);
                Some(sealed)
            }
            None => (self.id(&sealed) == *id).then_some(sealed),
        }
    }
}

impl Keys {
    /// The key of one chunk, and of no other.
    fn of_chunk(&self, id: &Id) -> Result<LessSafeKey, Unspecified> {
        let key = hmac::sign(&self.data, id.bytes());
        UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).map(LessSafeKey::new)
    }
}

/// It need not differ: each key encrypts one text.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
