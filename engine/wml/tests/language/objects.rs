//! The attributes of filesets, processes, threads and flowops.

use wml::model::{ArrivalProcess, Arrivals, Node, Operation, Select};
use wml::random::{Amount, Shape};

use super::{
    MINIMAL, fileset, flowop, minimal_but, model, refused, thread, warnings, with_flowops,
};

fn one_thread(attributes: &str) -> wml::model::Thread {
    let mut model = model(
        &minimal_but("name=t", &format!("name=t, {attributes}")),
        &[],
    );
    model.processes.remove(0).threads.remove(0)
}

#[test]
fn filesets_have_all_their_attributes() {
    let set = fileset(
        "filesize=8k, leafdirs=3, dirgamma=500, paralloc, reuse, trusttree=true, writeonly, \
         compress=40",
    );
    assert_eq!(
        (set.size.mean(), set.leafdirs, set.dirgamma),
        (8192.0, 3, 0.5)
    );
    assert_eq!((set.prealloc_percent, set.compress_percent), (100.0, 40.0));
    assert!(set.paralloc && set.reuse && set.trusttree && set.writeonly && !set.readonly);
    assert!(fileset("readonly").readonly);
    assert_eq!(
        fileset("prealloc=80").prealloc_percent,
        80.0,
        "the last wins"
    );
}

#[test]
fn filesets_have_the_original_s_defaults() {
    let set = &model(MINIMAL, &[]).filesets[0];
    assert_eq!(
        (set.size.mean(), set.dirgamma, set.leafdirs),
        (1024.0, 1.5, 0)
    );
    assert!(!set.reuse && !set.trusttree && !set.paralloc && set.dirdepth.is_none());
    let file = format!("define file name=log, path=/x\n{MINIMAL}");
    let file = &model(&file, &[]).filesets[0];
    assert_eq!(
        (file.entries, file.dirwidth.mean(), file.dirgamma),
        (1, 10.0, 0.0)
    );
}

#[test]
fn a_fileset_may_hold_leaf_directories_only() {
    let text = minimal_but("entries=10", "leafdirs=10").replace("statfile", "removedir");
    let set = model(&text, &[]).filesets.remove(0);
    assert_eq!((set.entries, set.leafdirs), (0, 10));
    refused(&[(
        &minimal_but("entries=10, ", ""),
        "'entries' must be at least 1",
    )]);
}

#[test]
fn the_depth_may_be_a_random_variable() {
    let text = "set $d=randvar(type=uniform, mean=3)\n".to_owned()
        + &minimal_but("prealloc", "prealloc, dirdepthrv=$d");
    let depth = model(&text, &[]).filesets[0].dirdepth.clone().unwrap();
    assert_eq!(depth.shape, Shape::Uniform);
    refused(&[(
        &text.replace("=$d\n", "=5\n"),
        "must be a random variable (randvar)",
    )]);
}

#[test]
fn fileset_attributes_of_version_1_4_are_warned_of() {
    let text = minimal_but("prealloc", "prealloc, cached, size=4k, filesizegamma=3000");
    let found = warnings(&text);
    assert!(found[0].contains("'cached' has no effect"), "{found:?}");
    assert!(
        found[1].contains("'filesizegamma' makes the sizes gamma"),
        "{found:?}"
    );
    match &model(&text, &[]).filesets[0].size {
        Amount::Random(size) => assert_eq!((&size.shape, size.mean), (&Shape::Gamma(3.0), 4096.0)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_filesets_are_refused() {
    for (from, to, expected) in [
        (
            "name=files,",
            "name=\"a/b\",",
            "a fileset's name is one folder",
        ),
        (
            "name=files,",
            "name=\"..\",",
            "a fileset's name is one folder",
        ),
        ("/x", "\"\"", "must not be empty"),
        ("path=/x, ", "", "a fileset needs the attribute 'path'"),
        ("dirwidth=20, ", "dirwidth=1.9, ", "is at least 2, or 1 for"),
        (
            "prealloc",
            "prealloc, readonly, writeonly",
            "readonly or writeonly, not both",
        ),
        (
            "run 1",
            "define file name=files, path=/y run 1",
            "two filesets 'files'",
        ),
        (
            "prealloc",
            "prealloc=\"all\"",
            "'prealloc' must be a percentage",
        ),
    ] {
        refused(&[(&minimal_but(from, to), expected)]);
    }
}

#[test]
fn processes_and_threads_have_all_their_attributes() {
    let text = minimal_but("name=p", "name=p, instances=2, nice=-5");
    let process = model(&text, &[]).processes.remove(0);
    assert_eq!((process.instances, process.nice), (2, -5));
    let thread = one_thread("instances=3, memsize=1m, ioprio=7");
    assert_eq!((thread.instances, thread.memsize), (3, 1 << 20));
    assert_eq!(thread.ioprio, Some(7));
    assert_eq!(
        (one_thread("ioprio=8").ioprio, one_thread("ioprio=0").ioprio),
        (None, Some(0))
    );
    let shared = warnings(&minimal_but("name=t", "name=t, useism"));
    assert!(shared[0].contains("'useism' has no effect"));
}

#[test]
fn a_rate_makes_a_thread_an_open_loop() {
    let (poisson, constant) = (ArrivalProcess::Poisson, ArrivalProcess::Constant);
    let arrivals = |rate, process| Some(Arrivals { rate, process });
    assert_eq!(one_thread("rate=2.5").arrivals, arrivals(2.5, poisson));
    assert_eq!(
        one_thread("rate=9, arrivals=constant").arrivals,
        arrivals(9.0, constant)
    );
    assert_eq!(
        one_thread("rate=9, arrivals=poisson").arrivals,
        arrivals(9.0, poisson)
    );
    assert_eq!(one_thread("rate=0").arrivals, None, "as fast as it goes");
    refused(&[(
        &minimal_but("name=t", "name=t, arrivals=constant"),
        "needs a 'rate'",
    )]);
}

#[test]
fn flowops_have_all_their_attributes() {
    let all = flowop(
        "flowop openfile name=o, filename=files, fd=3, opennext \
         flowop read name=all, filesetname=files, fd=3, srcfd=4, iosize=2k, workingset=1m, iters=2, \
         random, dsync, directio, noreadahead, opennext, indexed=5, value=6, blocking, highwater=7",
    );
    assert_eq!((all.name.as_str(), all.operation), ("all", Operation::Read));
    assert_eq!((all.fileset, all.fd, all.srcfd), (Some(0), 3, Some(4)));
    let fixed = Amount::Fixed;
    assert_eq!(
        (&all.iosize, &all.workingset),
        (&fixed(2048.0), &fixed(1048576.0))
    );
    assert_eq!((&all.iters, &all.value), (&fixed(2.0), &fixed(6.0)));
    assert_eq!((all.indexed, all.highwater), (Some(fixed(5.0)), 7));
    assert!(all.random && all.dsync && all.directio && all.noreadahead);
    assert!(all.opennext && all.blocking);
}

#[test]
fn flowops_have_the_original_s_defaults() {
    let bare = flowop("flowop hog name=h");
    let fixed = Amount::Fixed;
    assert_eq!(
        (bare.fileset, bare.fd, bare.srcfd, bare.indexed),
        (None, 0, None, None)
    );
    assert_eq!((bare.iosize, bare.workingset), (fixed(0.0), fixed(0.0)));
    assert_eq!(
        (bare.iters, bare.value, bare.highwater),
        (fixed(1.0), fixed(0.0), 1)
    );
    assert_eq!(bare.select, Select::Rotor);
    let uring = flowop("flowop uringread name=u, filesetname=files, iosize=1k");
    assert_eq!(uring.value, fixed(1.0), "one in flight");
    let xattr = flowop("flowop setxattr name=x, filesetname=files");
    assert_eq!(xattr.iosize, fixed(16.0));
}

#[test]
fn files_are_picked_by_rotor_sequence_chance_or_popularity() {
    let select = |attributes: &str| {
        flowop(&format!(
            "flowop openfile name=o, filesetname=files{attributes}"
        ))
        .select
    };
    assert_eq!(select(", select=rotor"), Select::Rotor);
    assert_eq!(select(", select=sequential"), Select::Sequential);
    assert_eq!(select(", select=uniform"), Select::Uniform);
    assert_eq!(select(", select=zipf"), Select::Zipf(0.99));
    assert_eq!(select(", select=zipf, theta=1.2"), Select::Zipf(1.2));
    assert_eq!(select(", opennext"), Select::Sequential);
    assert_eq!(select(", opennext, select=uniform"), Select::Uniform);
    for (attributes, expected) in [
        ("theta=1", "'theta' belongs to select=zipf"),
        ("select=zipf, theta=0", "'theta' must be above 0"),
        ("select=zipf, theta=11", "at most 10"),
        ("select=uniform, indexed=1", "not by both"),
    ] {
        let text = minimal_but("name=s,", &format!("name=s, {attributes},"));
        refused(&[(&text, expected)]);
    }
}

#[test]
fn every_kind_of_flowop_has_a_name_and_stands_in_the_body() {
    for operation in Operation::ALL {
        let name = operation.name();
        let text = with_flowops(&format!("flowop {name} name=x, filesetname=nowhere"));
        refused(&[(&text, "no fileset 'nowhere'")]);
    }
    let thread = thread("flowop hog name=a flowop hog name=b");
    let body: Vec<Node> = (0..3).map(Node::Flowop).collect();
    assert_eq!((thread.body, thread.flowops.len()), (body, 3));
}

#[test]
fn names_are_needed_and_belong_to_one_object_each() {
    for (from, to, expected) in [
        ("name=s, ", "", "a flowop needs the attribute 'name'"),
        (
            "name=t",
            "instances=2",
            "a thread needs the attribute 'name'",
        ),
        (
            "name=p",
            "instances=2",
            "a process needs the attribute 'name'",
        ),
        (
            "name=s,",
            "name=s, $x=1,",
            "only a use of a composite flowop",
        ),
        (
            "name=t",
            "name=t, $x",
            "only composite flowops have local variables",
        ),
    ] {
        refused(&[(&minimal_but(from, to), expected)]);
    }
    let twice = format!(
        "{MINIMAL} define process name=p {{ thread name=t {{ flowop hog name=h }} }} run 1"
    );
    refused(&[(&twice, "two processes 'p'")]);
}

#[test]
fn a_fileset_of_narrow_directories_has_one_file_in_each() {
    for width in ["", "dirwidth=0, ", "dirwidth=1, "] {
        let text = minimal_but("dirwidth=20, ", width);
        let fileset = model(&text, &[]).filesets.remove(0);
        let layout = wml::fileset::Layout::new(&fileset, 1).unwrap();
        let children: Vec<u32> = layout.directories.iter().map(|d| d.children).collect();
        assert_eq!(children, [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "{width}");
    }
}

#[test]
fn threads_and_flowops_of_one_name_are_numbered_past_names_that_are_taken() {
    let text = minimal_but(
        "thread name=t {",
        "thread name=t { flowop hog name=h-2 flowop hog name=h flowop hog name=h flowop hog name=h }
         thread name=t {",
    );
    let threads = model(&text, &[]).processes.remove(0).threads;
    assert_eq!([&threads[0].name, &threads[1].name], ["t", "t-2"]);
    let names: Vec<&str> = threads[0].flowops.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["h-2", "h", "h-3", "h-4"]);
}

#[test]
fn numbers_are_flags_and_no_instances_are_one_thread_or_no_process() {
    let thread = thread("flowop read name=r, filesetname=files, iosize=1k, random=1, directio=0");
    let read = &thread.flowops[1];
    assert_eq!((read.random, read.directio), (true, false));
    let text = minimal_but("name=t", "name=t, instances=0");
    assert_eq!(model(&text, &[]).thread_count(), 1);
    let text = minimal_but(
        "define process",
        "define process name=q, instances=0 { thread name=t { flowop hog name=h } }
        define process",
    );
    let model = model(&text, &[]);
    assert_eq!((model.process_count(), model.thread_count()), (1, 1));
}
