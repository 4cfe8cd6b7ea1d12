//! Blocks for direct I/O that tell their place and version.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Memory for direct I/O.
pub struct Aligned {
    memory: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Self {
        let memory = vec![0; length + 4096];
        let from = memory.as_ptr().align_offset(4096);
        Self {
            memory,
            from,
            length,
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.length]
    }

    /// Fill with numbers that tell place and version.
    pub fn mark(&mut self, block: u64, version: u64) {
        for (index, word) in self.bytes().chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&mark(block, version, index as u64).to_le_bytes());
        }
    }

    pub fn is_marked(&mut self, block: u64, version: u64) -> bool {
        let mut words = self.bytes().chunks_exact(8).enumerate();
        words.all(|(index, word)| word == mark(block, version, index as u64).to_le_bytes())
    }
}

/// A bijection of 64 bits (the finaliser of SplitMix64), so that no two marks agree by chance.
pub fn mark(block: u64, version: u64, index: u64) -> u64 {
    let mut word = (block << 40) ^ (version << 16) ^ index;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

pub fn write_block(file: &File, data: &mut Aligned, block: u64, version: u64) {
    let length = data.bytes().len() as u64;
    data.mark(block, version);
    file.write_all_at(data.bytes(), block * length)
        .expect("the disk takes it");
}
