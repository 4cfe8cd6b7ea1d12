//! Which directories and files a fileset has, and how large the files are.
//!
//! Directories are generated depth first. Each draws a depth and a width (gamma with the fileset's
//! shape, or fixed); at or below its depth it is a leaf and holds files, above it holds
//! directories. The root only ever holds directories, and gets more until there are enough files.
//! The mean depth is ln(entries) / ln(dirwidth). Names are numbers from 1, of eight digits.

use crate::model::Fileset;
use crate::random::{Amount, Distribution, Shape, Stream};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub directory: u32,
    pub number: u32,
    pub size_b: u64,
    /// Whether it exists when a run begins.
    pub preallocated: bool,
}

pub struct Layout {
    /// Absolute paths, parents before children; the first is the root of the tree.
    pub directories: Vec<String>,
    pub entries: Vec<Entry>,
}

struct Generator<'a> {
    fileset: &'a Fileset,
    stream: Stream,
    mean_depth: f64,
    layout: Layout,
}

impl Layout {
    /// The layout of a fileset; the same for the same seed.
    pub fn new(fileset: &Fileset, seed: u64) -> Self {
        let mut generator = Generator {
            fileset,
            stream: Stream::new(seed, &["fileset", &fileset.name, "layout"]),
            mean_depth: (fileset.entries as f64).ln() / fileset.dirwidth.mean().ln(),
            layout: Layout {
                directories: vec![format!("{}/{}", fileset.path, fileset.name)],
                entries: Vec::with_capacity(fileset.entries as usize),
            },
        };
        for number in 1.. {
            if generator.is_complete() {
                break;
            }
            generator.directory(0, number, 1);
        }
        let mut layout = generator.layout;
        let mut stream = Stream::new(seed, &["fileset", &fileset.name, "entries"]);
        for entry in &mut layout.entries {
            entry.size_b = fileset.size.draw(&mut stream);
            entry.preallocated = stream.unit() * 100.0 < fileset.prealloc_percent;
        }
        layout
    }

    pub fn root(&self) -> &str {
        &self.directories[0]
    }

    /// Write the path of an entry, with a closing zero, into a buffer.
    pub fn path_into(&self, entry: usize, path: &mut Vec<u8>) {
        let Entry {
            directory, number, ..
        } = self.entries[entry];
        path.clear();
        path.extend_from_slice(self.directories[directory as usize].as_bytes());
        path.push(b'/');
        let mut divisor = 10_000_000;
        while number / divisor >= 10 {
            divisor *= 10;
        }
        while divisor > 0 {
            path.push(b'0' + (number / divisor % 10) as u8);
            divisor /= 10;
        }
        path.push(0);
    }

    pub fn preallocated(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.preallocated)
    }

    /// Bytes of the files that exist when a run begins.
    pub fn preallocated_b(&self) -> u64 {
        self.preallocated().map(|(_, entry)| entry.size_b).sum()
    }
}

impl Generator<'_> {
    fn is_complete(&self) -> bool {
        self.layout.entries.len() as u64 >= self.fileset.entries
    }

    fn gamma(&mut self, mean: f64) -> f64 {
        let shape = Shape::Gamma(self.fileset.dirgamma);
        Distribution {
            shape,
            mean,
            ..Distribution::default()
        }
        .sample(&mut self.stream)
    }

    fn depth(&mut self) -> u32 {
        let depth = if self.fileset.dirgamma > 0.0 {
            self.gamma(self.mean_depth)
        } else {
            self.mean_depth
        };
        (depth as u32).max(1)
    }

    fn width(&mut self) -> u32 {
        let width = match &self.fileset.dirwidth {
            Amount::Fixed(mean) if self.fileset.dirgamma > 0.0 => self.gamma(*mean),
            width => width.draw_exact(&mut self.stream),
        };
        (width.ceil() as u32).max(1)
    }

    fn directory(&mut self, parent: usize, number: u32, level: u32) {
        let path = format!("{}/{number:08}", self.layout.directories[parent]);
        let own = self.layout.directories.len();
        self.layout.directories.push(path);
        let is_leaf = level >= self.depth();
        for number in 1..=self.width() {
            if self.is_complete() {
                return;
            }
            if is_leaf {
                let directory = own as u32;
                let entry = Entry {
                    directory,
                    number,
                    size_b: 0,
                    preallocated: false,
                };
                self.layout.entries.push(entry);
            } else {
                self.directory(own, number, level + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fileset(entries: u64, dirwidth: f64, dirgamma: f64) -> Fileset {
        Fileset {
            name: "files".into(),
            path: "/x".into(),
            size: Amount::Random(Distribution {
                shape: Shape::Gamma(1.5),
                mean: 32768.0,
                minimum: 1024.0,
                ..Distribution::default()
            }),
            entries,
            dirwidth: Amount::Fixed(dirwidth),
            dirgamma,
            prealloc_percent: 80.0,
            paralloc: false,
            readonly: false,
            writeonly: false,
            ..Fileset::default()
        }
    }

    fn path(layout: &Layout, entry: usize) -> String {
        let mut path = Vec::new();
        layout.path_into(entry, &mut path);
        String::from_utf8(path).unwrap()
    }

    /// Levels of directories between the root and the files, for each leaf directory, and how
    /// many files it holds; without the last, which generation may have cut.
    fn leaves(layout: &Layout) -> Vec<(usize, usize)> {
        let mut leaves: Vec<(usize, usize)> = Vec::new();
        for (nth, entry) in layout.entries.iter().enumerate() {
            let level = layout.directories[entry.directory as usize]
                .matches('/')
                .count()
                - 2;
            if nth > 0 && layout.entries[nth - 1].directory == entry.directory {
                leaves.last_mut().unwrap().1 += 1;
            } else {
                leaves.push((level, 1));
            }
        }
        leaves.pop();
        leaves
    }

    #[test]
    fn one_seed_gives_one_tree_and_another_seed_another() {
        let spec = fileset(5000, 20.0, 1.5);
        let (a, b, c) = (
            Layout::new(&spec, 1),
            Layout::new(&spec, 1),
            Layout::new(&spec, 2),
        );
        assert_eq!((&a.entries, &a.directories), (&b.entries, &b.directories));
        assert_ne!(a.entries, c.entries);
    }

    #[test]
    fn the_tree_has_the_asked_files_sizes_and_share() {
        let layout = Layout::new(&fileset(20_000, 20.0, 1.5), 3);
        assert_eq!(layout.entries.len(), 20_000);
        let mean = layout.entries.iter().map(|e| e.size_b as f64).sum::<f64>() / 20_000.0;
        assert!((mean / 32768.0 - 1.0).abs() < 0.03, "{mean}");
        assert!(layout.entries.iter().all(|e| e.size_b >= 1024));
        let share = layout.preallocated().count() as f64 / 20_000.0;
        assert!((share - 0.8).abs() < 0.02, "{share}");
        let paths: std::collections::HashSet<_> = (0..20_000).map(|e| path(&layout, e)).collect();
        assert_eq!(paths.len(), 20_000);
    }

    #[test]
    fn without_gamma_every_directory_has_the_depth_and_width_of_the_formula() {
        let layout = Layout::new(&fileset(10_000, 20.0, 0.0), 5);
        // int(ln 10000 / ln 20) = int(3.07)
        assert!(leaves(&layout).iter().all(|&leaf| leaf == (3, 20)));
    }

    #[test]
    fn with_gamma_widths_and_depths_vary_and_widths_keep_their_mean() {
        let layout = Layout::new(&fileset(50_000, 20.0, 1.5), 5);
        let leaves = leaves(&layout);
        // A width is rounded up, which adds half a file in the mean.
        let width = leaves.iter().map(|l| l.1 as f64).sum::<f64>() / leaves.len() as f64;
        assert!((19.5..21.5).contains(&width), "{width}");
        let levels: std::collections::BTreeSet<usize> = leaves.iter().map(|l| l.0).collect();
        assert!(levels.len() > 3, "{levels:?}");
    }

    #[test]
    fn a_fixed_wide_directory_is_flat() {
        let layout = Layout::new(&fileset(50_000, 1e6, 0.0), 4);
        assert_eq!(layout.directories, ["/x/files", "/x/files/00000001"]);
        assert_eq!(path(&layout, 0), "/x/files/00000001/00000001\0");
        assert_eq!(path(&layout, 49_999), "/x/files/00000001/00050000\0");
    }
}
