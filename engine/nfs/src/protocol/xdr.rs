//! External data representation: RFC 4506. All is in words of four bytes, the high byte first.

/// What is left to be read of a message. Nothing is copied, and no length is believed before it is
/// known to be there.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    pub fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn word(&mut self) -> Option<u32> {
        self.fixed().map(u32::from_be_bytes)
    }

    pub fn hyper(&mut self) -> Option<u64> {
        self.fixed().map(u64::from_be_bytes)
    }

    /// Bytes of a length that stands before them.
    pub fn opaque(&mut self, most_b: usize) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        if length > most_b {
            return None;
        }
        let (padded, rest) = self.0.split_at_checked(length.next_multiple_of(4))?;
        self.0 = rest;
        padded.get(..length)
    }
}

/// A message that is being written.
pub trait Write {
    fn word(&mut self, value: u32);
    fn hyper(&mut self, value: u64);
    fn opaque(&mut self, bytes: &[u8]);
    /// Zeros up to the next whole word, behind so many bytes.
    fn pad(&mut self, length: usize);
}

impl Write for Vec<u8> {
    fn word(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn hyper(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn opaque(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.extend_from_slice(bytes);
        self.pad(bytes.len());
    }

    fn pad(&mut self, length: usize) {
        let zeros = length.next_multiple_of(4) - length;
        self.extend_from_slice(&[0; 3][..zeros]);
    }
}
