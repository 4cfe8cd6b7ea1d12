//! What is no pool, no recipe, or no name for a terminal.

use super::*;

/// A name that a client made would steer the terminal of who looks after the pool.
#[test]
fn names_are_spelled_out() {
    let home = home("pool-names");
    let pool = opened(&home, None);
    let name = "\u{1b}]0;owned\u{7}\nall are whole";
    let mut on = client(&home, "remote", &pool);
    write(&mut on, name, b"few");
    on.sync_all().expect("it is writable");
    fs::write(home.at("remote").join(name), "no recipe").expect("it is writable");
    drop(on);
    drop(pool);
    let check = home.greenfs("pool").args(["check", "pool"]).output();
    let said = String::from_utf8(check.expect("it was built").stdout).expect("it is text");
    assert!(
        !said.contains('\u{1b}') && !said.contains('\u{7}'),
        "{said:?}"
    );
    assert!(
        said.contains(r"\u{1b}]0;owned\u{7}\nall are whole: "),
        "{said:?}"
    );
}

/// A pool that is made in a wrong folder would remove what is there.
#[test]
fn what_is_no_chunk_is_left_alone() {
    let home = home("pool-wrong");
    fs::create_dir(home.at("pool/fresh")).expect("it is writable");
    fs::write(home.at("pool/fresh/notes"), "mine").expect("it is writable");
    opened(&home, None);
    assert!(home.at("pool/fresh/notes").exists());
}

/// Recipes would be taken for files, or files for recipes.
#[test]
fn folders_and_pools_are_told_apart() {
    let home = home("pool-apart");
    fs::write(home.at("disk/file"), "plain").expect("it is writable");
    {
        let pool = opened(&home, None);
        let fault = Tenant::served(&home.at("disk")).enter(&pool);
        let fault = fault.expect_err("its files are plain");
        assert!(fault.next.contains("empty folder"), "{fault}");
        let mut on = client(&home, "remote", &pool);
        // A file that looks like a recipe is a file.
        let recipe = {
            write(&mut on, "file", &noise(1, 5000));
            on.sync_all().expect("it is writable");
            fs::read(home.at("remote/file")).expect("it is there")
        };
        write(&mut on, "recipe", &recipe);
        on.sync_all().expect("it is writable");
        assert_eq!(read(&on, "recipe").expect("it is a file"), recipe);
        // No client makes a folder another's, or none's.
        for (from, to) in [
            (".greenfs/pool", "x"),
            ("file", ".greenfs/pool"),
            (".greenfs", "x"),
        ] {
            assert!(on.rename(Path::new(from), Path::new(to)).is_err(), "{from}");
        }
        assert!(on.remove_file(Path::new(".greenfs/pool")).is_err());
        // Who wrote a file before can replace it, and not change it: versions are links to it.
        let file = Path::new("file");
        assert!(on.write(file, 0, b"other").is_err() && on.write(file, 5000, b"more").is_err());
        assert!(on.truncate(file, 0).is_err());
        assert_eq!(read(&on, "file").expect("it stays"), noise(1, 5000));
        on.create(Path::new("holes"), 0o600)
            .expect("nothing is there");
        assert!(on.write(Path::new("holes"), 1 << 40, b"far").is_err());
    }
    let site = Site::open(&home.at("remote"), std::time::Duration::ZERO).map(drop);
    assert!(
        site.expect_err("it needs its pool")
            .to_string()
            .contains("pool")
    );

    let said = fs::read_to_string(home.at("pool/pool.json")).expect("it is there");
    let newer = said.replace("\"format\":1", "\"format\":2");
    assert_ne!(said, newer);
    fs::write(home.at("pool/pool.json"), newer).expect("it is writable");
    let fault = Pool::serve(&home.at("pool"), None).map(drop);
    let fault = fault.expect_err("nobody knows that format");
    assert!(fault.what.contains("format 2"), "{fault}");
    fs::rename(home.at("pool"), home.at("first")).expect("it is there");
    fs::create_dir(home.at("pool")).expect("it is writable");
    let other = opened(&home, None);
    let fault = Tenant::served(&home.at("remote")).enter(&other);
    let fault = fault.expect_err("it is of the first");
    assert!(fault.what.contains("of pool"), "{fault}");
    let nothing = Pool::serve(&home.at("disk"), None).map(drop);
    nothing.expect_err("it is no pool, nor empty");
}
