//! What is written: bytes that compress as far as the fileset says, made before the run.

use std::sync::Arc;

use super::buffer::{Buffer, PAGE_B};
use crate::failure::Failure;
use crate::fileset::fill_data;
use crate::model::{Class, Model, Operation};
use crate::random::Stream;

/// The least of each pool, so that data do not repeat soon.
const LEAST_B: usize = 4 << 20;
/// The most that one call writes; longer writes take several.
const LARGEST_B: usize = 256 << 20;

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

    /// Another part each time of what is written to a fileset, page-aligned; at most half of the
    /// pool.
    pub fn piece(&self, fileset: usize, length: u64, stream: &mut Stream) -> Piece {
        let pool = self.of_fileset[fileset];
        let half = self.buffers[pool].bytes().len() / 2;
        let page = stream.below((half / PAGE_B) as u64) as usize;
        Piece {
            pool,
            from: page * PAGE_B,
            length: (length as usize).min(half),
        }
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

/// Twice the largest write, and a whole number of pages.
fn pool_size(model: &Model) -> usize {
    let largest = model
        .flowops()
        .filter(|(_, flowop)| takes_pieces(flowop.operation))
        .map(|(_, flowop)| flowop.iosize.usual_maximum())
        .fold(0.0, f64::max);
    (2 * (largest as usize).min(LARGEST_B))
        .max(LEAST_B)
        .next_multiple_of(2 * PAGE_B)
}

/// Whether it writes data of this program: a copy is made within the kernel.
fn takes_pieces(operation: Operation) -> bool {
    operation.class() == Class::Writes && operation != Operation::CopyFileRange
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
        let mut pieces = std::collections::HashSet::new();
        for length in [1, 4096, 5000, LEAST_B as u64 / 2, u64::MAX] {
            for _ in 0..100 {
                let piece = pools.piece(0, length, &mut stream);
                let bytes = pools.bytes(piece);
                assert_eq!(bytes.len() as u64, length.min(LEAST_B as u64 / 2));
                assert_eq!(bytes.as_ptr() as usize % PAGE_B, 0);
                pieces.insert(piece.from);
            }
        }
        assert!(pieces.len() > 100, "{}", pieces.len());
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
        assert_eq!(size("read name=get"), LEAST_B);
        assert_eq!(size("readwholefile name=get"), LEAST_B);
        assert_eq!(size("copyfilerange name=copy,srcfd=2"), LEAST_B);
        assert_eq!(size("write name=put"), 128 << 20);
        assert_eq!(size("uringwrite name=put,value=1,random"), 128 << 20);
    }
}
