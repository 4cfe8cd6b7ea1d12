//! What is in the files.

use super::*;

fn compressed(data: &[u8]) -> usize {
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn files_of_a_compressible_fileset_compress() {
    let place = Place::new("tree-compress");
    let size = Amount::Fixed(100_000.0);
    let files = files(&Fileset {
        compress_percent: 60.0,
        size,
        entries: 5,
        ..small(&place)
    });
    prepare(&files, 3).unwrap();
    for (entry, _) in files.layout.preallocated() {
        let data = fs::read(entry_path(&files, entry)).unwrap();
        let saved = 100.0 * (1.0 - compressed(&data) as f64 / data.len() as f64);
        assert!((saved - 60.0).abs() < 2.0, "{saved}");
    }
}
