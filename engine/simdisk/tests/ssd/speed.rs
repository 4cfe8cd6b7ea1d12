//! How fast an SSD is, and what it draws.

use simdisk::device::{Action, Device, Extent, SECTOR_B};
use simdisk::profile::Profile;
use simdisk::ssd::Ssd;

use crate::host::{Host, in_order, near, profile, random_pages, shrunk, small, ssd};

/// sun14, table 1: 73.8 MB/s written, 201.3 MB/s read, 2.6 W at work and 0.15 W idle. The paper
/// does not tell at which depth it read; it lies between one command at a time and many.
#[test]
fn a_new_drive_is_as_fast_as_table_1_of_sun14() {
    let mut host = Host::new(Ssd::new(&profile(), 0));
    let written = host.throughput_mb_s(Action::Write, 4, in_order(2000));
    assert!(near(written, 73.8, 0.03), "{written} MB/s written");
    let energy_fj = host.ssd.ledger().energy_fj();
    let power_w = energy_fj as f64 / 1e6 / host.at as f64;
    assert!(power_w > 0.15 && power_w <= 2.6, "{power_w} W");
    assert!(near(power_w, 2.6, 0.12), "{power_w} W");

    let alone = host.throughput_mb_s(Action::Read, 1, in_order(500));
    let many = host.throughput_mb_s(Action::Read, 32, in_order(2000));
    assert!(
        near(alone, 201.3, 0.12) && alone < many,
        "{alone}, {many} MB/s read"
    );
    assert!(many <= 250.0);
}

/// sun14, table 1, of the two drives whose insides are assumed: their models are fitted to what it
/// prints of writes in order and of reads one at a time.
#[test]
fn the_other_drives_are_as_fast_as_table_1_of_sun14() {
    for (name, written_mb_s, read_mb_s, idle_w, work_w) in [
        ("sun14-ssd-s", 103.6, 98.8, 1.5, 4.1),
        ("sun14-ssd-k", 140.0, 220.0, 3.3, 5.9),
    ] {
        let mut host = Host::new(Ssd::new(&ssd(Profile::load(name).unwrap()), 0));
        let written = host.throughput_mb_s(Action::Write, 4, in_order(2000));
        assert!(near(written, written_mb_s, 0.03), "{name}: {written} MB/s");
        let power_w = host.ssd.ledger().energy_fj() as f64 / 1e6 / host.at as f64;
        assert!(
            power_w > idle_w && near(power_w, work_w, 0.03),
            "{name}: {power_w} W"
        );
        let read = host.throughput_mb_s(Action::Read, 1, in_order(500));
        assert!(near(read, read_mb_s, 0.03), "{name}: {read} MB/s");
    }
}

/// An operation that is counted but not drawn, or drawn for too long, would be a wrong joule.
#[test]
fn energy_is_the_integral_of_power_and_the_sum_of_operations() {
    let profile = small(60, 20.0);
    let mut ssd = Ssd::new(&profile, 0);
    ssd.precondition(5);
    ssd.keep_trace(usize::MAX);
    let mut host = Host::new(ssd);
    host.throughput_mb_s(Action::Write, 16, random_pages(1, 3000, profile.sectors()));
    host.throughput_mb_s(Action::Read, 16, random_pages(1, 3000, profile.sectors()));
    // what is still being collected ends
    let end = host.at + 60_000_000_000;
    host.ssd.advance(end, &mut Vec::new());

    let ledger = host.ssd.ledger();
    let trace = ledger.trace();
    let ends = trace.iter().skip(1).map(|&(at, _)| at).chain([end]);
    let integral: u128 = trace
        .iter()
        .zip(ends)
        .map(|(&(at, power_uw), end)| u128::from(end - at) * u128::from(power_uw))
        .sum();
    assert_eq!(ledger.energy_fj(), integral);

    let counted = |name: &str| host.ssd.counters()[name];
    let times: std::collections::BTreeMap<_, _> = ledger
        .parts()
        .map(|(name, _, time_ns)| (name, time_ns))
        .collect();
    assert_eq!(times["idle"], end);
    assert_eq!(times["read"], counted("flash_read_b") / 4096 * 50_000);
    assert_eq!(
        times["program"],
        counted("flash_programmed_b") / 4096 * 1_000_000
    );
    assert_eq!(times["erase"], counted("erases_count") * 3_500_000);
}

/// Pairs that are compared on the slowed drive would be ranked as on no drive that there was.
#[test]
fn the_slowed_drive_does_the_same_in_ten_times_the_time_and_energy() {
    let on = |name: &str| {
        let profile = shrunk(ssd(Profile::load(name).unwrap()), 20 * 60 * 128 * 8, 20.0);
        let mut drive = Ssd::new(&profile, 0);
        drive.precondition(5);
        let mut host = Host::new(drive);
        host.throughput_mb_s(Action::Write, 16, random_pages(1, 3000, profile.sectors()));
        host.throughput_mb_s(Action::Read, 16, random_pages(1, 3000, profile.sectors()));
        let energy_fj = host.ssd.ledger().energy_fj();
        (host.ssd.counters(), host.at as f64, energy_fj as f64)
    };
    let (counters, time_ns, energy_fj) = on("x25-m-g2");
    let (slowed_counters, slowed_time_ns, slowed_energy_fj) = on("x25-m-g2-slowed");
    assert_eq!(slowed_counters, counters);
    assert!(near(slowed_time_ns, 10.0 * time_ns, 1e-3));
    assert!(near(slowed_energy_fj, 10.0 * energy_fj, 1e-3));
}

/// Who reads what was never written must not be told that flash is that fast.
#[test]
fn reads_of_an_empty_drive_touch_no_flash() {
    let mut host = Host::new(Ssd::new(&profile(), 0));
    host.throughput_mb_s(Action::Read, 8, in_order(10));
    assert!(host.counted("flash_read_b") == 0.0 && host.counted("host_read_b") > 0.0);
}

/// Files that were laid out before the measurement must be read from the flash.
#[test]
fn what_was_prepared_in_no_time_is_read_from_the_flash() {
    let mut ssd = Ssd::new(&profile(), 0);
    let files = Extent {
        sector: 0,
        sectors: 10 * 256,
    };
    ssd.prepared(Action::Write, files);
    let mut host = Host::new(ssd.clone());
    host.throughput_mb_s(Action::Read, 8, in_order(10));
    assert!(near(
        host.counted("flash_read_b"),
        (files.sectors * SECTOR_B) as f64,
        1e-9
    ));
    assert!(host.counted("host_written_b") == 0.0 && host.ssd.ledger().settled() == host.at);

    ssd.prepared(Action::Discard, files);
    let mut host = Host::new(ssd);
    host.throughput_mb_s(Action::Read, 8, in_order(10));
    assert!(host.counted("flash_read_b") == 0.0);
}

/// A part of a page costs a read before the page can be programmed again.
#[test]
fn small_writes_read_the_rest_of_their_page() {
    let mut host = Host::new(Ssd::new(&profile(), 0));
    host.send(
        Action::Write,
        Extent {
            sector: 0,
            sectors: 8,
        },
    );
    host.flush();
    assert!(host.counted("flash_read_b") == 0.0);
    host.send(
        Action::Write,
        Extent {
            sector: 3,
            sectors: 1,
        },
    );
    host.flush();
    assert!(host.counted("flash_read_b") == 4096.0);
    assert!(host.counted("flash_programmed_b") == 2.0 * 4096.0);
}
