//! A file that is being written, from its begin to its end: what can be cut off lies in the pool already.

use std::io;
use std::path::PathBuf;

use crate::pool::Pool;
use crate::pool::chunks::Fresh;
use crate::pool::cut;
use crate::pool::recipe::{self, List};

/// So few data lie in the recipe itself: the chunk would take more room than it saves.
const FEW_B: usize = 1 << 10;

/// So many do where they are written over and over: nobody else has them, and as chunks they would stay.
/// A server has them in memory, for each client.
const SCRATCH_MOST_B: usize = 1 << 20;

pub struct Writing {
    pub path: PathBuf,
    list: List,
    /// What follows the chunks.
    tail: Vec<u8>,
    /// So many bytes go into the recipe at most.
    inside_most_b: usize,
}

impl Writing {
    pub fn begin(path: PathBuf, is_scratch: bool) -> Self {
        Self {
            path,
            list: List::default(),
            tail: Vec::new(),
            inside_most_b: if is_scratch { SCRATCH_MOST_B } else { FEW_B },
        }
    }

    pub fn size_b(&self) -> u64 {
        self.list.size_b() + self.tail.len() as u64
    }

    /// Write at the end.
    pub fn add(&mut self, data: &[u8], pool: &Pool, fresh: &mut Fresh) -> io::Result<()> {
        self.tail.extend_from_slice(data);
        self.cut(cut::MOST_B.max(self.inside_most_b), pool, fresh)
    }

    /// Put chunks into the pool while there are more bytes than these.
    fn cut(&mut self, left_b: usize, pool: &Pool, fresh: &mut Fresh) -> io::Result<()> {
        let mut rest = self.tail.as_slice();
        while rest.len() > left_b {
            let (chunk, behind) = rest.split_at(cut::first(rest, pool.secret().seed()));
            self.list.push(pool.chunks.put(chunk, fresh)?);
            rest = behind;
        }
        let done_b = self.tail.len() - rest.len();
        self.tail.drain(..done_b);
        Ok(())
    }

    /// The recipe of all that was written.
    pub fn end(mut self, pool: &Pool, fresh: &mut Fresh) -> io::Result<Vec<u8>> {
        let is_inside = self.list.parts().is_empty() && self.tail.len() <= self.inside_most_b;
        if self.size_b() == 0 {
            return Ok(Vec::new());
        }
        if is_inside {
            return recipe::of_data(&self.tail, pool.secret());
        }
        self.cut(0, pool, fresh)?;
        Ok(recipe::of_list(&self.list, pool.secret()))
    }

    /// Up to so many bytes from an offset; fewer only at the end.
    pub fn read(&self, offset: u64, most_b: usize, pool: &Pool) -> io::Result<Vec<u8>> {
        let mut read = self
            .list
            .read(offset, most_b, |part| pool.chunks.get(part))?;
        let in_tail = (offset + read.len() as u64).saturating_sub(self.list.size_b());
        let begin = usize::try_from(in_tail).map_or(self.tail.len(), |at| at.min(self.tail.len()));
        let end = self.tail.len().min(begin + most_b - read.len());
        read.extend_from_slice(&self.tail[begin..end]);
        Ok(read)
    }
}
