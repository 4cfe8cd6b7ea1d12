//! What a sweep of a pool removes, and what it leaves.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::process::Stdio;
use std::ptr;

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
    let fault = audit::spare(&alone).map(drop);
    fault.expect_err("it does not know what the other needs");
    fs::remove_dir(home.at("disk")).expect("it is empty");
    fs::rename(home.at("away"), home.at("disk")).expect("it is there");

    let spare = audit::spare(&alone).expect("all are there");
    assert_eq!(spare.chunks_b, 500_000);
    spare.remove().expect("they are there");
    let report = audit::check(&alone).expect("it can be read");
    assert_eq!((report.spare, report.damage.len()), (0, 0));
    let spare = audit::spare(&alone).expect("all are there");
    assert!(spare.chunks.is_empty());
    drop(alone);
    let pool = opened(&home, None);
    assert_eq!(
        read(&client(&home, "disk", &pool), "common").expect("it is needed"),
        common
    );
}

/// One word too few would remove what somebody may want to get back by hand; and a script would hang.
#[test]
fn sweeping_asks_first() {
    let home = home("pool-asks");
    {
        let pool = opened(&home, None);
        let mut on = client(&home, "remote", &pool);
        write(&mut on, "file", &noise(7, 90_000));
        on.sync_all().expect("it is writable");
        on.remove_file(Path::new("file")).expect("it is there");
    }
    let spare_b = || {
        let pool = Pool::alone(&home.at("pool"), None).expect("nobody uses it");
        let spare = audit::spare(&pool).expect("all is there");
        spare.chunks_b
    };
    let sweep = |options: &[&str], input: Stdio, errors: Stdio| {
        let mut greenfs = home.greenfs("pool");
        greenfs.args(["sweep", "pool"]).args(options).stdin(input);
        let greenfs = greenfs.stdout(Stdio::piped()).stderr(errors);
        let greenfs = greenfs.spawn().expect("it was built");
        greenfs.wait_with_output().expect("it ends")
    };
    let refused = sweep(&[], Stdio::null(), Stdio::piped());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("of 90.0 kB") && said.contains("--yes"),
        "{said}"
    );
    assert_eq!((refused.status.code(), spare_b()), (Some(1), 90_000));

    for (answer, code, left_b) in [("\n", 1, 90_000), ("n\n", 1, 90_000), ("y\n", 0, 0)] {
        let (mut person, terminal) = terminal();
        let errors = terminal.try_clone().expect("it is open");
        person.write_all(answer.as_bytes()).expect("it is open");
        let done = sweep(&[], terminal.into(), errors.into());
        assert_eq!(
            (done.status.code(), spare_b()),
            (Some(code), left_b),
            "{answer:?}"
        );
        let mut said = Vec::new();
        // Once the program has let go of its end, a terminal is read to an error.
        let _ = person.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("of 90.0 kB; remove them? [y/N]"), "{said}");
    }
    let done = sweep(&[], Stdio::null(), Stdio::piped());
    assert_eq!(common::text(&done), "removed 0 chunks of 0 B\n");
}

/// The two ends of a terminal: a person's, and a program's.
fn terminal() -> (File, File) {
    let (mut person, mut program) = (-1, -1);
    let none = ptr::null_mut();
    // SAFETY: both numbers are written to; nothing is told of names and settings.
    let opened =
        unsafe { libc::openpty(&mut person, &mut program, none, ptr::null(), ptr::null()) };
    assert_eq!(opened, 0, "{}", io::Error::last_os_error());
    // SAFETY: they are open, and nobody else's.
    unsafe { (File::from_raw_fd(person), File::from_raw_fd(program)) }
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
    let spare = audit::spare(&alone).expect("all is there");
    assert!(spare.chunks.is_empty());
    let report = audit::check(&alone).expect("it can be read");
    assert_eq!((report.files, report.damage.len()), (2, 0));
}
