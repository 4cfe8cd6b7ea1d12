//! Streams of requests, as they are asked for.

use readahead::{Order, Reads, Request};

fn blocks(requests: &[Request]) -> Vec<u64> {
    let blocks = requests
        .iter()
        .map(|request| request.offset_b / request.count_b);
    blocks.collect()
}

fn small() -> Reads {
    Reads {
        total_mib: 1,
        read_kib: 128,
        ..Reads::default()
    }
}

#[test]
fn strides_are_read_in_turn() {
    let strides = Reads {
        streams: 2,
        ..small()
    };
    let requests = strides.round_robin().expect("good settings");
    assert_eq!(blocks(&requests), [0, 4, 1, 5, 2, 6, 3, 7]);
}

#[test]
fn files_take_turns_and_have_numbers_of_their_own() {
    let several = Reads {
        files: 4,
        ..small()
    };
    let requests = several.round_robin().expect("good settings");
    assert_eq!(blocks(&requests), [0, 0, 0, 0, 1, 1, 1, 1]);
    let mut files: Vec<_> = requests[..4].iter().map(|request| request.file).collect();
    assert_eq!(
        files,
        requests[4..]
            .iter()
            .map(|request| request.file)
            .collect::<Vec<_>>()
    );
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), 4);
}

#[test]
fn random_reads_read_the_same_in_another_order() {
    let random = Reads {
        order: Order::Random,
        ..small()
    };
    let mut read = blocks(&random.round_robin().expect("good settings"));
    assert_ne!(read, (0..8).collect::<Vec<_>>());
    read.sort_unstable();
    assert_eq!(read, (0..8).collect::<Vec<_>>());
}

#[test]
fn a_late_request_is_overtaken_by_as_many_as_asked() {
    let late = Reads {
        late_percent: 30,
        late_places: 2,
        seed: 3,
        total_mib: 64,
        ..Reads::default()
    };
    let arrived = blocks(&late.round_robin().expect("good settings"));
    let mut most = 0;
    let overtaken = arrived.iter().filter(|&&block| {
        most = most.max(block);
        block < most
    });
    let share = overtaken.count() as f64 / arrived.len() as f64;
    assert!((0.2..=0.3).contains(&share), "{share}");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |reads: Reads| reads.by_file().expect_err("it is refused");
    assert!(
        refused(Reads {
            files: 0,
            ..small()
        })
        .contains("files is 0")
    );
    assert!(
        refused(Reads {
            streams: 9,
            ..small()
        })
        .contains("smaller than one request")
    );
    let huge = Reads {
        total_mib: 1 << 24,
        ..Reads::default()
    };
    assert!(refused(huge).contains("more than"));
}
