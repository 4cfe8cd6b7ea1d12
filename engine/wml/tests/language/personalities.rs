//! The texts of the four servers.

use wml::lang::format;
use wml::model::{Operation, Quit, Select};

use super::{checked, model, program_with};

fn personality(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fsgreen/workloads/personalities"
    );
    std::fs::read_to_string(format!("{folder}/{name}.f")).unwrap()
}

#[test]
fn the_personalities_have_the_published_parameters() {
    for (name, files, size_b, depth, threads) in [
        ("webserver", 20_000, 32768.0, 3.3, 100),
        ("fileserver", 50_000, 262_144.0, 3.6, 100),
        ("varmail", 50_000, 16384.0, 0.8, 100),
        ("oltp", 10, 536_870_912.0, 0.3, 211),
    ] {
        let text = personality(name);
        let model = model(&text, &[("dir", "/x")]);
        let fileset = &model.filesets[0];
        assert_eq!(
            (fileset.entries, fileset.size.mean()),
            (files, size_b),
            "{name}"
        );
        let formula = (files as f64).ln() / fileset.dirwidth.mean().ln();
        assert!((formula - depth).abs() < 0.05, "{name}: depth {formula}");
        assert_eq!(model.thread_count(), threads, "{name}");
        assert_eq!(model.rate, 0.0);
        assert!(
            checked(&text, &[("dir", "/x")]).diagnostics.is_empty(),
            "{name}"
        );
        let limits = model
            .flowops()
            .filter(|(_, f)| f.operation == Operation::OpsLimit)
            .count();
        let threads: usize = model.processes.iter().map(|p| p.threads.len()).sum();
        assert_eq!(
            limits, threads,
            "{name}: a load level would not limit every thread"
        );
    }
}

#[test]
fn the_personalities_run_once_in_plain_closed_loops_for_ten_minutes() {
    for name in ["webserver", "fileserver", "varmail", "oltp"] {
        let program = program_with(&personality(name), &[("dir", "/x")]);
        assert_eq!(program.steps.len(), 1, "{name}");
        let run = program.runs().next().unwrap();
        assert_eq!((run.duration_s, run.warmup_s), (Some(600.0), 0.0));
        assert_eq!((run.model.quit, run.statistics), (Quit::Timeout, None));
        for thread in run.model.processes.iter().flat_map(|p| &p.threads) {
            let closed = thread.arrivals.is_none();
            assert!(closed && thread.ioprio.is_none() && thread.memsize == 0);
            assert_eq!(thread.body.len(), thread.flowops.len(), "{name}");
        }
        for (_, flowop) in run.model.flowops() {
            assert_eq!((flowop.select, flowop.opennext), (Select::Rotor, false));
        }
        for fileset in &run.model.filesets {
            assert_eq!((fileset.compress_percent, fileset.leafdirs), (0.0, 0));
            assert!(!fileset.reuse && !fileset.trusttree && fileset.dirdepth.is_none());
        }
    }
}

#[test]
fn a_load_limits_a_personality_and_changes_nothing_else() {
    let limited = model(&personality("varmail"), &[("dir", "/x"), ("load", "250")]);
    assert_eq!(limited.rate, 250.0);
    assert_eq!(limited.flowops().count(), 14);
    assert!(limited.processes[0].threads[0].arrivals.is_none());
}

#[test]
fn formatting_a_personality_keeps_its_program() {
    for name in ["webserver", "fileserver", "varmail", "oltp"] {
        let text = personality(name);
        let formatted = format(&text).unwrap();
        let overrides = [("dir", "/x")];
        let program = |text| format!("{:?}", program_with(text, &overrides));
        assert_eq!(program(&text), program(&formatted), "{name}");
        let comments = |text: &str| text.matches('#').count();
        assert_eq!(comments(&text), comments(&formatted), "{name}");
    }
}
