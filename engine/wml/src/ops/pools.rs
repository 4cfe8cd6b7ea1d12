//! What is written: bytes that compress as far as the fileset says, made before the run.

use std::sync::Arc;

use super::buffer::{Buffer, PAGE_B};
use crate::failure::Failure;
use crate::fileset::fill_data;
use crate::model::{Class, Model, Operation};
use crate::random::Stream;

/// One call writes as much as this where the usual writes are shorter, and never more than the other;
/// longer writes take several.
const LEAST_B: usize = 2 << 20;
const LARGEST_B: usize = 256 << 20;
/// Pieces begin within this part of a pool: more than a file system compresses as one, so that data
/// do not repeat there, and no more than a processor keeps at hand.
const BEGINS_B: usize = 256 << 10;
/// Within these pages a thread begins anew.
const ANEW: u64 = 8;

/// One pool for each degree of compressibility.
pub struct Pools {
    buffers: Arc<[Buffer]>,
    of_fileset: Vec<usize>,
}

/// A part of a pool.
#[derive(Clone, Copy)]
pub struct Piece {
    pool: usize,
    from: usize,
    length: usize,
}

/// The way of one thread through its pools: where its next piece begins.
#[derive(Default)]
pub struct Way(usize);

impl Pools {
    pub fn new(model: &Model, seed: u64) -> Result<Self, Failure> {
        let size = pool_size(model);
        let percents = percents(model);
        let place = |percent| percents.iter().position(|&other| other == percent);
        let filesets = model.filesets.iter();
        let of_fileset = filesets.filter_map(|fileset| place(fileset.compress_percent));
        let of_fileset = of_fileset.collect();
        let fill = |percent: f64| {
            let mut buffer = Buffer::zeroed(size)?;
            let mut stream = Stream::new(seed, &["data", &percent.to_string()]);
            fill_data(buffer.bytes_mut(), percent, &mut stream);
            Ok(buffer)
        };
        let buffers: Result<_, Failure> = percents.into_iter().map(fill).collect();
        Ok(Self {
            buffers: buffers?,
            of_fileset,
        })
    }

    /// What comes next of what is written to a fileset, page-aligned, and not the same data when the
    /// way begins anew. What it takes from the stream does not depend on the way.
    pub fn piece(&self, fileset: usize, length: u64, way: &mut Way, stream: &mut Stream) -> Piece {
        let pool = self.of_fileset[fileset];
        let most = self.buffers[pool].bytes().len() - BEGINS_B;
        let length = (length as usize).min(most);
        let anew = stream.below(ANEW) as usize * PAGE_B;
        let from = if way.0 < BEGINS_B { way.0 } else { anew };
        way.0 = from + length.next_multiple_of(PAGE_B);
        Piece { pool, from, length }
    }

    pub fn bytes(&self, piece: Piece) -> &[u8] {
        bytes(&self.buffers, piece)
    }

    /// The pools for those who outlive a borrow.
    pub fn buffers(&self) -> Arc<[Buffer]> {
        Arc::clone(&self.buffers)
    }
}

pub fn bytes(buffers: &[Buffer], piece: Piece) -> &[u8] {
    &buffers[piece.pool].bytes()[piece.from..piece.from + piece.length]
}

/// What all pools of a model take.
pub fn size_b(model: &Model) -> u64 {
    (percents(model).len() * pool_size(model)) as u64
}

/// The degrees of compressibility, in the order of the filesets that have them first.
fn percents(model: &Model) -> Vec<f64> {
    let mut percents = Vec::new();
    for fileset in &model.filesets {
        if !percents.contains(&fileset.compress_percent) {
            percents.push(fileset.compress_percent);
        }
    }
    percents
}

/// The largest write from wherever a piece may begin, and a whole number of pages.
fn pool_size(model: &Model) -> usize {
    let largest = model
        .flowops()
        .filter(|(_, flowop)| takes_pieces(flowop.operation))
        .map(|(_, flowop)| flowop.iosize.usual_maximum())
        .fold(0.0, f64::max);
    let largest = (largest as usize).clamp(LEAST_B, LARGEST_B);
    largest.next_multiple_of(PAGE_B) + BEGINS_B
}

/// Whether it writes data of this program: a copy is made within the kernel.
fn takes_pieces(operation: Operation) -> bool {
    operation.class() == Class::Writes && operation != Operation::CopyFileRange
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;
    use crate::lang;
    use crate::model::Fileset;

    fn pools(percents: &[f64]) -> Pools {
        let fileset = |&compress_percent: &f64| Fileset {
            compress_percent,
            ..Fileset::default()
        };
        let model = Model {
            filesets: percents.iter().map(fileset).collect(),
            ..Model::default()
        };
        Pools::new(&model, 1).expect("memory for the pools")
    }

    #[test]
    fn filesets_that_compress_alike_share_a_pool_and_others_do_not() {
        let pools = pools(&[0.0, 50.0, 0.0]);
        assert_eq!(pools.of_fileset, [0, 1, 0]);
        assert_eq!(pools.buffers.len(), 2);
        assert_ne!(pools.buffers[0].bytes(), pools.buffers[1].bytes());
    }

    #[test]
    fn pieces_are_aligned_differ_and_never_leave_the_pool() {
        let pools = pools(&[0.0]);
        let mut stream = Stream::new(1, &["test"]);
        for length in [1, 4096, 5000, LEAST_B as u64, u64::MAX] {
            let mut begins = HashSet::new();
            let mut way = Way::default();
            for _ in 0..1000 {
                let piece = pools.piece(0, length, &mut way, &mut stream);
                let bytes = pools.bytes(piece);
                assert_eq!(bytes.len() as u64, length.min(LEAST_B as u64));
                assert_eq!(bytes.as_ptr() as usize % PAGE_B, 0);
                begins.insert(piece.from);
            }
            assert!(begins.len() as u64 >= ANEW, "{length}: {}", begins.len());
        }
    }

    #[test]
    fn data_do_not_repeat_within_what_a_file_system_compresses_as_one() {
        const EXTENT_B: usize = 128 << 10;
        let pools = pools(&[0.0]);
        let mut stream = Stream::new(1, &["test"]);
        for length in [PAGE_B, 3 * PAGE_B, 64 << 10] {
            let mut way = Way::default();
            let mut piece = || pools.bytes(pools.piece(0, length as u64, &mut way, &mut stream));
            let written: Vec<u8> = (0..64).flat_map(|_| piece().to_vec()).collect();
            for extent in written.chunks(EXTENT_B) {
                let pages: HashSet<&[u8]> = extent.chunks(PAGE_B).collect();
                assert_eq!(pages.len(), extent.len().div_ceil(PAGE_B), "{length}");
            }
        }
    }

    #[test]
    fn reads_and_copies_do_not_make_a_pool_larger_and_writes_do() {
        let size = |flowop: &str| {
            let text = format!(
                "define fileset name=f,path=/x,size=1g,entries=9,dirwidth=9,prealloc
                 define process name=p {{ thread name=t {{
                   flowop openfile name=open,filesetname=f,fd=1
                   flowop openfile name=other,filesetname=f,fd=2
                   flowop write name=small,fd=1,iosize=8k,random
                   flowop {flowop},fd=1,iosize=64m }} }}
                 run"
            );
            let program = lang::check(&text, &BTreeMap::new()).program;
            let program = program.expect("a text without errors");
            pool_size(&program.runs().next().expect("a run").model)
        };
        for moves in [
            "read name=get",
            "readwholefile name=get",
            "copyfilerange name=c,srcfd=2",
        ] {
            assert_eq!(size(moves), LEAST_B + BEGINS_B, "{moves}");
        }
        for writes in ["write name=put", "uringwrite name=put,value=1,random"] {
            assert_eq!(size(writes), (64 << 20) + BEGINS_B, "{writes}");
        }
    }
}
