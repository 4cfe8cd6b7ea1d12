//! How much a client can take of a server.

use super::*;

/// A server would take the more memory the more it is brought at once.
#[test]
fn chunks_that_are_not_durable_are_bounded() {
    let home = home("pool-bounded");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    for nth in 0..5000 {
        write(&mut on, &nth.to_string(), &noise(nth, 1100));
    }
    let fresh = files(&home.at("pool/fresh")).len();
    assert!(fresh <= 4096, "{fresh}");
    assert_eq!(read(&on, "7").expect("it is there"), noise(7, 1100));
}

/// Each of many clients would take as much memory of the server as it likes, with a file of its own.
#[test]
fn what_a_client_writes_for_itself_is_bounded() {
    let home = home("pool-scratch");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    for (name, size_b) in [("small", 1 << 20), ("large", 3 << 20)] {
        let path = Path::new(".greenfs").join(name);
        let path = path.to_str().expect("it is text");
        write(&mut on, path, &noise(size_b as u64, size_b));
        on.sync_all().expect("it is writable");
        assert_eq!(
            read(&on, path).expect("it is there"),
            noise(size_b as u64, size_b)
        );
        let recipe_b = fs::metadata(home.at("remote").join(path)).expect("it is there");
        assert!(recipe_b.len() <= (1 << 20) + 40, "{name}");
    }
    let stored_b = stored_b(&home);
    assert_eq!(stored_b, 3 << 20, "as chunks, the small one would stay");
}
