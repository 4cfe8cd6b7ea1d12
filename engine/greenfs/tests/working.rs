//! A mount in which programs write small files all the time.

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::Home;

/// Tells those who work to end, whatever came of the test.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Write a file in two steps, between which others have their turn.
fn work(home: &Home, number: u32) {
    let path = home.mnt(&format!("work-{number}"));
    let mut file = File::create(&path).expect("it is writable");
    file.write_all(b"one ").expect("it is writable");
    thread::sleep(Duration::from_micros(200));
    file.write_all(b"two ").expect("it is writable");
    drop(file);
    let mut file = OpenOptions::new().append(true).open(&path);
    let file = file.as_mut().expect("it is there");
    file.write_all(b"three").expect("it is writable");
}

/// Write a file and make it durable.
fn fsync(home: &Home, name: &str) {
    let mut file = File::create(home.mnt(name)).expect("it is writable");
    let written = file.write_all(b"data").and_then(|()| file.sync_all());
    written.expect("flash is there");
}

/// What is precious would be on flash alone as long as anybody works.
#[test]
fn an_fsync_is_on_the_remote_while_others_work() {
    let Some(mut home) = Home::new("working") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "60"]);
    home.wait_for(": connected; holds all");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = End(&is_done);
        let (home, is_done) = (&home, &is_done);
        for worker in 0..2 {
            scope.spawn(move || {
                for turn in (0..50).cycle() {
                    work(home, worker * 50 + turn);
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let lost = (0..10).find(|number| {
            let name = format!("precious-{number}");
            fsync(home, &name);
            fs::read(home.at("remote").join(&name)).ok().as_deref() != Some(&b"data"[..])
        });
        assert_eq!(lost, None, "an fsync came back before the remote had it");
    });
    home.umount();
    home.same_trees("flash", "remote");
}

/// What is precious would be on flash alone as long as anybody works on a disk of a virtual machine.
#[test]
fn an_fsync_is_on_the_remote_while_a_large_file_is_overwritten() {
    let Some(mut home) = Home::new("overwriting") else {
        return;
    };
    home.mount(&["--remote", "remote", "--patience", "60"]);
    let large = File::create(home.mnt("large")).expect("it is writable");
    large.set_len(65 << 20).expect("there is room");
    large.sync_all().expect("flash is there");
    home.wait_for(": connected; holds all");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = End(&is_done);
        let (is_done, large) = (&is_done, &large);
        scope.spawn(move || {
            for turn in (0..=u8::MAX).cycle() {
                let written = large.write_all_at(&[turn; 9], 0);
                written.expect("it is writable");
                thread::sleep(Duration::from_millis(1));
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        home.wait_for("connected, but large is overwritten all the time");
        let lost = (0..10).find(|number| {
            let name = format!("precious-{number}");
            fsync(&home, &name);
            fs::read(home.at("remote").join(&name)).ok().as_deref() != Some(&b"data"[..])
        });
        assert_eq!(lost, None, "an fsync came back before the remote had it");
    });
    home.wait_for(": connected; holds all");
    drop(large);
    home.umount();
    home.same_trees("flash", "remote");
}
