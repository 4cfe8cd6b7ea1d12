//! What people read while a run goes on and at its end.

mod common;

use common::{Place, READER, flowop, ops};

#[test]
fn periodic_statistics_count_from_the_start_or_from_the_last_print() {
    let place = Place::new("psrun");
    // Threads that rest leave the processor to whoever prints.
    let rests = READER.replace("random }", "random flowop delay name=d, value=0.002 }");
    let prints = |command: &str| {
        let (report, said) = place.said("run", &format!("{rests} {command}"), &[]);
        let counted = said.lines().filter(|line| line.starts_with("run 1, "));
        let counts: Vec<(f64, u64)> = counted
            .map(|line| {
                let (_, counts) = line.split_once(" s: ").unwrap();
                let mut counts = counts.split(", ");
                let mut next = |unit| counts.next().unwrap().strip_suffix(unit).unwrap();
                (next(" s").parse().unwrap(), next(" ops").parse().unwrap())
            })
            .collect();
        let total = report["runs"][0]["measure"]["work_ops"].as_u64().unwrap();
        (counts, total)
    };
    let (since_start, total) = prints("psrun 0.2 5");
    assert!(since_start.len() >= 2, "{since_start:?}");
    assert!(
        since_start.is_sorted_by_key(|&(_, ops)| ops),
        "{since_start:?}"
    );
    assert!(since_start.last().unwrap().1 <= total);
    let (since_last, total) = prints("psrun -0.2 5");
    assert!(since_last.len() >= 2, "{since_last:?}");
    assert!(since_last.iter().map(|&(_, ops)| ops).sum::<u64>() <= total);
    // After a print that came late, the next one may follow at once.
    let mut whole = since_last.iter().filter(|&&(period_s, _)| period_s >= 0.1);
    assert!(
        whole.all(|&(_, ops)| ops > 0),
        "it paused the threads: {since_last:?}"
    );
}

#[test]
fn the_printed_table_is_aligned_and_histograms_come_when_asked_for() {
    let place = Place::new("table");
    let (report, said) = place.said("run", &format!("{READER}run 0.2"), &[]);
    let header = said
        .lines()
        .position(|line| line.trim_start().starts_with("flowop"));
    let table: Vec<&str> = said.lines().skip(header.unwrap()).take(2).collect();
    assert_eq!(table[0].chars().count(), table[1].chars().count(), "{said}");
    assert!(
        table[0].contains("p99.9") && table[0].ends_with("max"),
        "{said}"
    );
    let shown = ops(&report["runs"][0], "r").to_string();
    assert_eq!(table[1].split_whitespace().nth(1).unwrap(), shown);
    assert!(!said.contains("latencies of r"));

    let (report, said) = place.said("run", &format!("enable lathist {READER}run 0.2"), &[]);
    let (_, histogram) = said.split_once("latencies of r\n").unwrap();
    let counts = histogram.lines().skip(1).map_while(|line| {
        let count = line.split_whitespace().last()?;
        count.parse::<u64>().ok()
    });
    assert_eq!(
        counts.sum::<u64>(),
        flowop(&report["runs"][0], "r")["work_ops"]
    );
}
