//! What a sweep of a pool removes, and what it leaves.

use super::*;

/// What is removed would take room for ever; or what is needed would go.
#[test]
fn sweeping_removes_what_no_file_needs() {
    let home = home("pool-sweep");
    fs::create_dir(home.at("kept")).expect("it is writable");
    let (common, own) = (noise(1, 500_000), noise(2, 500_000));
    {
        let pool = opened(&home, None);
        Tenant::kept(&home.at("kept"))
            .enter(&pool)
            .expect("it is empty");
        let mut on = client(&home, "remote", &pool);
        for (name, data) in [
            ("common", &common),
            ("own", &own),
            ("kept", &noise(4, 90_000)),
        ] {
            write(&mut on, name, data);
        }
        let mut other = client(&home, "disk", &pool);
        write(&mut other, "common", &common);
        for on in [&mut on, &mut other] {
            on.sync_all().expect("it is writable");
        }
        on.remove_file(Path::new("own")).expect("it is there");
        on.remove_file(Path::new("common")).expect("it is there");
        fs::rename(home.at("remote/kept"), home.at("kept/2026")).expect("it is there");
        assert!(audit::check(&pool).expect("it can be read").spare > 0);
        let fault = Pool::alone(&home.at("pool"), None).map(drop);
        let fault = fault.expect_err("it is used");
        assert!(fault.what.contains("a server"), "{fault}");
    }
    let alone = Pool::alone(&home.at("pool"), None).expect("nobody uses it");
    // A disk that is not mounted looks like one from which all was removed.
    fs::rename(home.at("disk"), home.at("away")).expect("it is there");
    fs::create_dir(home.at("disk")).expect("it is writable");
    audit::sweep(&alone).expect_err("it does not know what the other needs");
    fs::remove_dir(home.at("disk")).expect("it is empty");
    fs::rename(home.at("away"), home.at("disk")).expect("it is there");

    let (_, removed_b) = audit::sweep(&alone).expect("all are there");
    assert_eq!(removed_b, 500_000);
    let report = audit::check(&alone).expect("it can be read");
    assert_eq!((report.spare, report.damage.len()), (0, 0));
    assert_eq!(audit::sweep(&alone).expect("all are there"), (0, 0));
    drop(alone);
    let pool = opened(&home, None);
    assert_eq!(
        read(&client(&home, "disk", &pool), "common").expect("it is needed"),
        common
    );
}

/// A client would have what is kept from it thrown away, or nobody could sweep any more.
#[test]
fn no_client_hides_a_file_from_a_sweep_or_prevents_it() {
    let home = home("pool-hidden");
    let data = noise(6, 90_000);
    // Longer than any path that the kernel takes.
    let deep = PathBuf::from_iter(["n".repeat(250)].iter().cycle().take(20));
    let hidden = [Path::new(".greenfs/pool.new"), &deep.join("file")];
    {
        let pool = opened(&home, None);
        let mut on = client(&home, "remote", &pool);
        let mut folders: Vec<_> = deep.ancestors().collect();
        folders.pop(); // the root
        for folder in folders.into_iter().rev() {
            on.make_folder(folder, 0o700).expect("nothing is there");
        }
        write(&mut on, "file", &data);
        on.link(Path::new("file"), hidden[0])
            .expect("nothing is there");
        on.remove_file(Path::new("file")).expect("it is there");
        on.create(hidden[1], 0o600).expect("nothing is there");
        on.write(hidden[1], 0, &data[..80_000])
            .expect("it is writable");
        on.sync_all().expect("it is writable");
    }
    let alone = Pool::alone(&home.at("pool"), None).expect("nobody uses it");
    assert_eq!(audit::sweep(&alone).expect("all is there"), (0, 0));
    let report = audit::check(&alone).expect("it can be read");
    assert_eq!((report.files, report.damage.len()), (2, 0));
}
