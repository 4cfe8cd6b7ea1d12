//! What stands in a served folder in the place of a file's data.
//!
//! Nothing, for an empty file; the data themselves, if they are few; else the chunks that have them. It
//! begins with eight bytes that say which, and an identifier that fits what follows.

use std::fmt;
use std::io;

use crate::pool::secret::{Id, Secret};

/// How many of the first bytes say what follows, and tell it from all others.
pub const HEAD_B: usize = 40;

const MAGIC_B: usize = 8;
const DATA: &[u8] = b"GFSdata1";
const LIST: &[u8] = b"GFSlist1";

/// Other versions begin so, too.
const FAMILY: &[u8] = b"GFS";

/// Why a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Recipe,
    Newer,
    Missing(Id),
    Chunk(Id),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recipe => f.write_str("its recipe is damaged, or was made with another key"),
            Self::Newer => f.write_str("its recipe was written by a newer greenfs"),
            Self::Missing(id) => write!(f, "chunk {id} is missing"),
            Self::Chunk(id) => write!(f, "chunk {id} is damaged"),
        }
    }
}

impl std::error::Error for Broken {}

impl From<Broken> for io::Error {
    fn from(broken: Broken) -> Self {
        Self::new(io::ErrorKind::InvalidData, broken)
    }
}

/// A chunk, and how many bytes of a file it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub id: Id,
    pub size_b: u32,
}

/// The chunks of a file, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    parts: Vec<Part>,
    /// Where each ends in the file.
    ends: Vec<u64>,
}

impl List {
    pub fn push(&mut self, part: Part) {
        self.ends.push(self.size_b() + u64::from(part.size_b));
        self.parts.push(part);
    }

    pub fn size_b(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Up to so many bytes from an offset; fewer only at the end. `get` gives the data of a chunk.
    pub fn read(
        &self,
        offset: u64,
        most_b: usize,
        get: impl Fn(&Part) -> io::Result<Vec<u8>>,
    ) -> io::Result<Vec<u8>> {
        let mut read = Vec::new();
        let mut nth = self.ends.partition_point(|end| *end <= offset);
        while read.len() < most_b && nth < self.parts.len() {
            let data = get(&self.parts[nth])?;
            let begin = self.ends[nth] - data.len() as u64;
            let skipped_b = (offset + read.len() as u64 - begin) as usize;
            let taken_b = (data.len() - skipped_b).min(most_b - read.len());
            read.extend_from_slice(&data[skipped_b..skipped_b + taken_b]);
            nth += 1;
        }
        Ok(read)
    }
}

/// What a recipe says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Data(Vec<u8>),
    List(List),
}

impl Content {
    pub fn size_b(&self) -> u64 {
        match self {
            Self::Data(data) => data.len() as u64,
            Self::List(list) => list.size_b(),
        }
    }
}

/// The recipe of a file that has its data in it.
pub fn of_data(data: &[u8], secret: &Secret) -> io::Result<Vec<u8>> {
    let id = secret.id(data);
    Ok([DATA, id.bytes(), &secret.seal(&id, data)?].concat())
}

/// The recipe of a file whose data are in chunks.
pub fn of_list(list: &List, secret: &Secret) -> Vec<u8> {
    let mut body = list.size_b().to_le_bytes().to_vec();
    for part in &list.parts {
        body.extend_from_slice(part.id.bytes());
        body.extend_from_slice(&part.size_b.to_le_bytes());
    }
    let tag = tag(&body, secret);
    [LIST, tag.bytes(), &body].concat()
}

fn tag(body: &[u8], secret: &Secret) -> Id {
    secret.id(&[LIST, body].concat())
}

/// Understand the recipe of a file that is not empty.
///
/// # Errors
/// If it is none, or not as it was written.
pub fn read(bytes: &[u8], secret: &Secret) -> Result<Content, Broken> {
    let (magic, rest) = bytes.split_at_checked(MAGIC_B).ok_or(Broken::Recipe)?;
    let (id, body) = Id::first(rest).ok_or(Broken::Recipe)?;
    match magic {
        DATA => {
            let data = secret.open(&id, body.to_vec());
            data.map(Content::Data).ok_or(Broken::Recipe)
        }
        LIST if tag(body, secret) == id => parts(body).map(Content::List).ok_or(Broken::Recipe),
        LIST => Err(Broken::Recipe),
        other if other.starts_with(FAMILY) => Err(Broken::Newer),
        _ => Err(Broken::Recipe),
    }
}

fn parts(body: &[u8]) -> Option<List> {
    let (size_b, mut rest) = body.split_first_chunk()?;
    let mut list = List::default();
    while !rest.is_empty() {
        let (id, behind) = Id::first(rest)?;
        let (part_b, behind) = behind.split_first_chunk()?;
        list.push(Part {
            id,
            size_b: u32::from_le_bytes(*part_b),
        });
        rest = behind;
    }
    (list.size_b() == u64::from_le_bytes(*size_b)).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(sizes: &[u32]) -> List {
        let mut list = List::default();
        for size_b in sizes {
            let id = Secret::none().id(&size_b.to_le_bytes());
            list.push(Part {
                id,
                size_b: *size_b,
            });
        }
        list
    }

    /// Half of what programs read back would be of the wrong place.
    #[test]
    fn every_range_is_that_of_the_file() {
        let list = list(&[3, 1, 4]);
        let data = |part: &Part| Ok(vec![part.size_b as u8; part.size_b as usize]);
        let whole = [3, 3, 3, 1, 4, 4, 4, 4];
        for begin in 0..10 {
            for most_b in 0..10 {
                let end = (begin + most_b).min(whole.len());
                let read = list.read(begin as u64, most_b, data).expect("all is there");
                assert_eq!(read, whole[begin.min(end)..end], "{most_b} from {begin}");
            }
        }
    }

    /// A bit that flipped on the disk would be served as the file.
    #[test]
    fn every_bit_counts() {
        let secret = Secret::none();
        let data = of_data(b"few", &secret).expect("it is small");
        for recipe in [data, of_list(&list(&[70_000, 9]), &secret)] {
            read(&recipe, &secret).expect("it is as it was written");
            for bit in 0..recipe.len() * 8 {
                let mut damaged = recipe.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(read(&damaged, &secret).is_err(), "bit {bit}");
            }
            for end in 0..recipe.len() {
                assert!(read(&recipe[..end], &secret).is_err(), "the first {end}");
            }
        }
        assert_eq!(
            read(&[b"GFSlist2".as_slice(), &[0; 40]].concat(), &secret),
            Err(Broken::Newer)
        );
    }
}
