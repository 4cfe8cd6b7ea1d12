//! What an SSD has to move over time, and how much slower that makes it.

use simdisk::device::{Action, Extent, SECTOR_B};
use simdisk::profile::SsdProfile;
use simdisk::ssd::Ssd;

use crate::host::{Host, near, profile, random_pages, shrunk, small};

/// Write amplification of uniform random writes under greedy collection, for large blocks: Xiang
/// and Kurkoski, "An improved analytic expression for write amplification in NAND flash", ICNC
/// 2012 (arXiv 1110.4245). With a the flash over the user's data, it is a / (a + W(-a exp(-a))).
fn closed_form(flash_over_data: f64) -> f64 {
    let a = flash_over_data;
    let target = -a * (-a).exp();
    // Newton's method for w exp(w) = target on the branch above -1
    let mut w = -0.5_f64;
    for _ in 0..100 {
        w -= (w * w.exp() - target) / (w.exp() * (w + 1.0));
    }
    a / (a + w)
}

/// Flash that can hold stale pages, over the user's: not the erased blocks and the open one.
fn flash_over_data(profile: &SsdProfile, share_of_data: f64) -> f64 {
    let flash = &profile.flash;
    let blocks = flash.blocks_per_die() - profile.collect.free_blocks_low;
    let data = flash.user_pages() as f64 / f64::from(flash.dies()) * share_of_data;
    f64::from(blocks) * f64::from(flash.pages_per_block) / data
}

/// The abstract of the paper names its value for 30 % of spare space.
#[test]
fn the_closed_form_is_that_of_the_paper() {
    assert!((closed_form(1.3) - 2.36).abs() < 0.005);
}

/// A collector that moves more than it must makes every random write slower. The closed form is the
/// limit of large blocks, which have less luck; smaller ones come from below.
#[test]
fn write_amplification_is_that_of_the_closed_form() {
    for spare_percent in [12.0, 30.0, 60.0] {
        let measured = [32, 128, 512].map(|pages_per_block| {
            let mut profile = profile();
            profile.flash.channels = 2;
            profile.flash.dies_per_channel = 1;
            profile.flash.pages_per_block = pages_per_block;
            let sectors = 2 * 150 * u64::from(pages_per_block) * 8;
            let profile = shrunk(profile, sectors, spare_percent);
            (
                flash_over_data(&profile, 1.0),
                Ssd::new(&profile, 0).precondition(1),
            )
        });
        assert!(measured.is_sorted_by(|a, b| a.1 < b.1), "{measured:?}");
        let (flash_over_data, large) = measured[2];
        let expected = closed_form(flash_over_data);
        assert!(
            near(large, expected, 0.02),
            "{spare_percent} %: {large}, {expected}"
        );
    }
}

/// The state of the drive is a confound: who measures a new one learns little about a used one.
#[test]
fn random_writes_are_slower_in_steady_state_by_what_has_to_be_moved() {
    let profile = small(100, 20.0);
    let run = |ssd: Ssd| {
        let mut host = Host::new(ssd);
        let mb_s = host.throughput_mb_s(
            Action::Write,
            32,
            random_pages(1, 20_000, profile.sectors()),
        );
        let amplification = host.counted("flash_programmed_b") / host.counted("host_written_b");
        (mb_s, amplification, host.counted("erases_count"))
    };
    let (initial_mb_s, initial_amplification, _) = run(Ssd::new(&profile, 0));
    // a page that is overwritten in the cache is programmed once
    assert!(initial_amplification <= 1.0, "{initial_amplification}");

    let mut used = Ssd::new(&profile, 0);
    let settled = used.precondition(7);
    let (steady_mb_s, amplification, erases) = run(used);
    assert!(
        near(amplification, settled, 0.05),
        "{amplification}, {settled}"
    );

    // what a page of the host's costs its die: to be loaded and programmed, and its share of
    // copies and erasures
    let flash = &profile.flash;
    let load_us = 4096.0 / flash.channel_mb_s;
    let alone_us = load_us + flash.program_us;
    let copies_us = (amplification - 1.0) * (flash.read_us + flash.program_us);
    let erasures_us = erases / 20_000.0 * flash.erase_ms * 1e3;
    let expected = 1.0 + (copies_us + erasures_us) / alone_us;
    let slower = initial_mb_s / steady_mb_s;
    assert!(near(slower, expected, 0.1), "{slower}, {expected}");
    assert!(slower > 2.0, "{slower}");
}

/// Without it, deleted files would be moved for ever.
#[test]
fn discard_lowers_write_amplification() {
    let profile = small(60, 20.0);
    let mut ssd = Ssd::new(&profile, 0);
    let full = ssd.precondition(3);
    let mut host = Host::new(ssd);
    let half = profile.sectors() / 2;
    host.send(
        Action::Discard,
        Extent {
            sector: half,
            sectors: half,
        },
    );
    host.flush();
    assert!(near(
        host.counted("host_discarded_b"),
        (half * SECTOR_B) as f64,
        1e-3
    ));

    let pages = profile.flash.user_pages() as usize;
    // the stale half is collected first; then the rest settles
    host.throughput_mb_s(Action::Write, 32, random_pages(1, 3 * pages / 2, half));
    let before = (
        host.counted("flash_programmed_b"),
        host.counted("host_written_b"),
    );
    host.throughput_mb_s(Action::Write, 32, random_pages(2, pages / 2, half));
    let programmed = host.counted("flash_programmed_b") - before.0;
    let after = programmed / (host.counted("host_written_b") - before.1);
    let expected = closed_form(flash_over_data(&profile, 0.5));
    assert!(after < full / 2.0, "{after}, {full}");
    assert!(near(after, expected, 0.05), "{after}, {expected}");
}
