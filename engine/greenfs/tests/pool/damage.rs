//! What is damaged or was not durable: it is never read as if it were whole.

use super::*;

/// A client would get bytes that nobody wrote, or nobody would learn what to mend.
#[test]
fn what_is_damaged_is_an_error_and_named() {
    let home = home("pool-damaged");
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    let data = noise(7, 400_000);
    for name in ["flipped", "gone", "recipe", "whole"] {
        write(&mut on, name, &[name.as_bytes(), &data].concat());
    }
    write(&mut on, "few", b"few");
    on.sync_all().expect("it is writable");
    let chunks = files(&home.at("pool/chunks"));
    let of = |name: &str| {
        let begins = |place: &&PathBuf| {
            fs::read(place)
                .expect("it is there")
                .starts_with(name.as_bytes())
        };
        chunks.iter().find(begins).expect("its first chunk").clone()
    };
    let (flipped, gone) = (of("flipped"), of("gone"));
    let flip = |place: &Path, at: usize| {
        let mut bytes = fs::read(place).expect("it is there");
        bytes[at] ^= 1;
        fs::write(place, bytes).expect("it is writable");
    };
    flip(&flipped, 1000);
    flip(&home.at("remote/recipe"), 60);
    flip(&home.at("remote/few"), 41);
    fs::remove_file(&gone).expect("it is there");

    drop(on);
    let on = client(&home, "remote", &pool);
    let said = |path: &str| read(&on, path).expect_err("it is damaged").to_string();
    let name = |place: &Path| {
        place
            .file_name()
            .expect("it has one")
            .to_string_lossy()
            .into_owned()
    };
    assert_eq!(
        said("flipped"),
        format!("chunk {} is damaged", name(&flipped))
    );
    assert_eq!(said("gone"), format!("chunk {} is missing", name(&gone)));
    assert!(said("recipe").contains("recipe") && said("few").contains("recipe"));
    // What is whole in the same file, and other files, can be read.
    let behind = on
        .read(Path::new("flipped"), 300_000, 9)
        .expect("it is whole");
    assert_eq!(behind, data[300_000 - 7..][..9]);
    assert_eq!(read(&on, "whole").expect("it is whole")[5..], data);
    // A client sees that this is not what it left there.
    assert_ne!(found(&on, "recipe").attributes.size, 400_006);

    let report = audit::check(&pool).expect("it can be read");
    let named: Vec<_> = report
        .damage
        .iter()
        .map(|(place, _)| place.clone())
        .collect();
    for place in ["flipped", "gone", "recipe", "few"].map(|name| home.at("remote").join(name)) {
        assert!(named.contains(&place), "{named:?}");
    }
    assert!(named.contains(&flipped) && named.len() == 5, "{named:?}");
    drop(on);
    drop(pool);
    let alone = Pool::alone(&home.at("pool"), None).expect("nobody uses it");
    let fault = audit::spare(&alone).map(drop);
    let fault = fault.expect_err("it would remove what is needed");
    assert!(fault.next.contains("pool check"), "{fault}");
}

/// A chunk of zeros would be believed for ever, in the place of what several clients have.
#[test]
fn what_a_power_cut_left_is_not_believed() {
    let home = home("pool-cut");
    let data = noise(3, 200_000);
    {
        let pool = opened(&home, None);
        let mut on = client(&home, "remote", &pool);
        write(&mut on, "file", &data);
        on.make_folder(Path::new("next"), 0o700)
            .expect("nothing is there");
        // The power goes before the client asks for durability.
    }
    let fresh = files(&home.at("pool/fresh"));
    assert!(!fresh.is_empty() && files(&home.at("pool/chunks")).is_empty());
    for (nth, place) in fresh.iter().enumerate() {
        let size_b = fs::metadata(place).expect("it is there").len();
        let left = if nth == 0 {
            vec![0; size_b as usize]
        } else {
            Vec::new()
        };
        fs::write(place, left).expect("it is writable");
    }
    let pool = opened(&home, None);
    let mut on = client(&home, "remote", &pool);
    assert!(read(&on, "file").is_err());
    write(&mut on, "again", &data);
    on.sync_all().expect("it is writable");
    assert_eq!(read(&on, "again").expect("it was written"), data);
    assert_eq!(read(&on, "file").expect("its chunks are there again"), data);
}

/// What a third client has just written would take the place of what two were told is safe: after a power
/// cut it would be of zeros.
#[test]
fn a_chunk_that_is_durable_stays_as_it_is() {
    let home = home("pool-stays");
    let pool = opened(&home, None);
    let data = noise(8, 5000);
    let mut both = ["remote", "disk"].map(|folder| client(&home, folder, &pool));
    for on in &mut both {
        write(on, "file", &data);
        on.make_folder(Path::new("next"), 0o700)
            .expect("nothing is there");
    }
    let fresh = files(&home.at("pool/fresh"));
    let [fresh] = &fresh[..] else {
        panic!("both have one chunk");
    };
    both[0].sync_all().expect("it is writable");
    fs::write(fresh, vec![0_u8; data.len()]).expect("it is writable");
    both[1].sync_all().expect("it is writable");
    for on in &both {
        assert_eq!(read(on, "file").expect("it is durable"), data);
    }
    assert!(!fresh.exists());
}
