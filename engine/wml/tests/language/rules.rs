//! What no single attribute can violate.

use wml::model::{FlowopId, Operation};

use super::{MINIMAL, flowop, minimal_but, model, refused, thread, warnings, with_flowops};

/// Flowops beside the one of the minimal text that must be refused.
fn wrong(cases: &[(&str, &str)]) {
    for (flowops, expected) in cases {
        refused(&[(&with_flowops(flowops), expected)]);
    }
}

#[test]
fn contradictions_between_objects_are_errors() {
    let empty = minimal_but("prealloc", "prealloc=0");
    refused(&[(&empty, "statfile finds no file")]);
}

#[test]
fn flowops_without_an_iosize_that_they_need_are_refused() {
    for operation in [
        "read",
        "write",
        "appendfile",
        "appendfilerand",
        "fallocate",
        "mmapread",
        "mmapwrite",
        "uringread",
        "uringwrite",
    ] {
        let text = format!("flowop {operation} name=x, filesetname=files, random");
        wrong(&[(&text, &format!("{operation} needs an iosize"))]);
        flowop(&format!("{text}, iosize=1k"));
    }
    for operation in ["readwholefile", "writewholefile", "truncatefile"] {
        flowop(&format!("flowop {operation} name=x, filesetname=files"));
    }
}

#[test]
fn flowops_without_a_file_are_refused() {
    for operation in [
        "openfile",
        "createfile",
        "fsyncset",
        "fsyncdir",
        "listdir",
        "liststatdir",
        "makedir",
        "removedir",
        "renamefile",
        "linkfile",
        "symlinkfile",
        "chmodfile",
    ] {
        let expected = format!("{operation} needs a filesetname");
        wrong(&[(&format!("flowop {operation} name=x"), &expected)]);
    }
    for operation in [
        "statfile",
        "deletefile",
        "truncatefile",
        "setxattr",
        "getxattr",
    ] {
        let expected = format!("{operation} needs a filesetname, or the fd");
        wrong(&[(&format!("flowop {operation} name=x, iosize=1k"), &expected)]);
        thread(&format!(
            "flowop openfile name=o, filesetname=files, fd=1 flowop {operation} name=x, fd=1"
        ));
    }
    for operation in [
        "read",
        "write",
        "readwholefile",
        "writewholefile",
        "appendfile",
        "appendfilerand",
        "fsync",
        "fdatasync",
        "fallocate",
        "mmapread",
        "mmapwrite",
        "uringread",
        "uringwrite",
        "closefile",
        "aiowrite",
    ] {
        let flowop = format!("flowop {operation} name=x, fd=2, iosize=1k, random");
        wrong(&[(&flowop, "nothing in this thread opens a file into slot 2")]);
        thread(&format!(
            "flowop openfile name=o, filesetname=files, fd=2 {flowop}"
        ));
    }
    let closed = "flowop closefile name=x, fd=2, filesetname=files";
    wrong(&[(closed, "nothing in this thread opens a file into slot 2")]);
}

#[test]
fn files_to_copy_come_from_another_slot_that_is_open() {
    let open = "flowop openfile name=o, filesetname=files, fd=1";
    let copy = "flowop copyfilerange name=c, filesetname=files, fd=2";
    wrong(&[
        (copy, "copyfilerange needs a srcfd"),
        (
            &format!("{open} {copy}, srcfd=2"),
            "a srcfd other than its fd",
        ),
        (&format!("{open} {copy}, srcfd=3"), "into slot 3 (srcfd)"),
        (
            "flowop writewholefile name=w, filesetname=files, srcfd=3",
            "into slot 3 (srcfd)",
        ),
    ]);
    assert_eq!(flowop(&format!("{open} {copy}, srcfd=1")).srcfd, Some(1));
}

#[test]
fn opennext_advances_by_itself_where_nothing_opens_one_slot_after_the_other() {
    let read = "flowop readwholefile name=r, filesetname=files, opennext";
    let open = "flowop openfile name=o, filesetname=files";
    let advances = |flowops: &str| {
        let last = flowop(flowops);
        (last.opennext, last.advances)
    };
    assert_eq!(advances(read), (true, true));
    assert_eq!(advances(&format!("{open} {read}")), (true, true));
    assert_eq!(advances(&format!("{open}, opennext {read}")), (true, false));
    let slot = "flowop read name=r, fd=0, iosize=1k, opennext";
    assert_eq!(advances(&format!("{open} {slot}")), (false, false));
    thread(&format!("{open}, opennext flowop closefile name=c, fd=77"));
}

#[test]
fn leaf_directories_must_exist_to_be_made_or_removed() {
    wrong(&[
        (
            "flowop makedir name=m, filesetname=files",
            "'files' has none: give it leafdirs",
        ),
        (
            "flowop removedir name=m, filesetname=files",
            "'files' has none: give it leafdirs",
        ),
    ]);
    let only = |prealloc: &str, flowops: &str| {
        minimal_but("entries=10", "leafdirs=10")
            .replace("prealloc", prealloc)
            .replace("flowop statfile name=s, filesetname=files", flowops)
    };
    let remove = "flowop removedir name=r, filesetname=files";
    refused(&[
        (&only("prealloc=0", remove), "removedir finds no directory"),
        (
            &only("prealloc", "flowop statfile name=s, filesetname=files"),
            "'files' has leaf directories only",
        ),
        (
            &only("prealloc", "flowop createfile name=s, filesetname=files"),
            "'files' has leaf directories only",
        ),
    ]);
    model(
        &only(
            "prealloc=0",
            &format!("{remove} flowop makedir name=m, filesetname=files"),
        ),
        &[],
    );
}

#[test]
fn an_empty_fileset_is_no_error_where_its_files_come_from_elsewhere() {
    for to in ["reuse", "trusttree"] {
        model(&minimal_but("prealloc", to), &[]);
    }
    let create = "filesetname=files flowop createfile name=c, filesetname=files }";
    let text = minimal_but("prealloc", "prealloc=0").replace("filesetname=files }", create);
    model(&text, &[]);
}

#[test]
fn waits_need_something_to_wait_for() {
    wrong(&[
        ("flowop aiowait name=w", "this thread has no aiowrite"),
        ("flowop uringwait name=w", "no uringread and no uringwrite"),
        (
            "flowop aiowrite name=a, filesetname=files, iosize=1k",
            "aiowrite is random only",
        ),
        (
            "flowop uringread name=u, filesetname=files, iosize=1k, value=0",
            "how many may be in flight: from 1 to 4096",
        ),
        (
            "flowop uringwrite name=u, filesetname=files, iosize=1k, value=5000",
            "how many may be in flight",
        ),
    ]);
    let write = "flowop uringwrite name=u, filesetname=files, iosize=1k, value=8";
    thread(&format!("{write} flowop uringwait name=w"));
}

#[test]
fn goals_and_posts_need_a_value() {
    for operation in ["finishoncount", "finishonbytes"] {
        let expected = format!("{operation} needs a value");
        wrong(&[(&format!("flowop {operation} name=x"), &expected)]);
    }
    wrong(&[
        (
            "flowop semblock name=g, value=1 flowop sempost name=x, target=g",
            "sempost needs a value of at least 1",
        ),
        (
            "flowop semblock name=g",
            "semblock needs a value of at least 1",
        ),
        (
            "flowop semblock name=g, value=1 flowop sempost name=x, target=g, value=4g",
            "the value of sempost is at most 2147483647",
        ),
        (
            "flowop semblock name=g, value=1, highwater=3
             flowop sempost name=x, target=g, value=4, blocking",
            "a blocking sempost of 4 waits for ever: the highwater of 'g' is 3",
        ),
        (
            "flowop testrandvar name=x, value=5",
            "testrandvar needs a random variable",
        ),
    ]);
}

#[test]
fn a_flowop_that_is_never_done_is_warned_of() {
    let text = with_flowops("flowop hog name=h, iters=0");
    assert_eq!(
        warnings(&text),
        ["'iters' is 0, so that this is never done"]
    );
}

#[test]
fn targets_are_gates_of_any_thread_and_flowops_of_the_same() {
    wrong(&[
        (
            "flowop sempost name=q, value=1, target=g",
            "there is no semblock 'g'",
        ),
        (
            "flowop sempost name=q, value=1",
            "sempost needs a semblock as target",
        ),
        ("flowop wakeup name=q", "wakeup needs a block as target"),
        ("flowop wakeup name=q, target=s", "there is no block 's'"),
        ("flowop hog name=q, target=s", "hog takes no target"),
        (
            "flowop opslimit name=q, target=x",
            "this thread has no flowop 'x'",
        ),
        (
            "flowop block name=gate flowop wakeup name=q, target=gat",
            "did you mean 'gate'?",
        ),
    ]);
    let text = MINIMAL.replace("run 1", "")
        + "define process name=q {
             thread name=a { flowop semblock name=g, value=1 flowop block name=b }
             thread name=b { flowop semblock name=g, value=1 } }
           define process name=r { thread name=t {
             flowop sempost name=p, value=1, target=g
             flowop wakeup name=w, target=b
             flowop delay name=d, value=1
             flowop bwlimit name=l, target=d } }
           run 1";
    let model = model(&text, &[]);
    let targets = |operation| {
        let (_, flowop) = model
            .flowops()
            .find(|(_, f)| f.operation == operation)
            .unwrap();
        flowop.targets.clone()
    };
    let id = |process, thread, flowop| FlowopId {
        process,
        thread,
        flowop,
    };
    assert_eq!(targets(Operation::SemPost), [id(1, 0, 0), id(1, 1, 0)]);
    assert_eq!(targets(Operation::Wakeup), [id(1, 0, 1)]);
    assert_eq!(targets(Operation::BwLimit), [id(2, 0, 2)]);
}
