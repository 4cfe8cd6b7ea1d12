//! Composite flowops and their local variables.

use wml::model::{Model, Node, Operation};
use wml::random::Amount;

use super::{MINIMAL, minimal_but, model, refused, warnings, with_flowops};

const READER: &str = "
set $size=1k
define flowop name=reader, iters=2, $size, $n=$size*2
{
  flowop openfile name=open, filesetname=files, fd=1
  flowop read name=read, fd=1, iosize=$size, iters=$n
  flowop closefile name=close, fd=1
}
";

fn used(uses: &str) -> Model {
    model(&format!("{READER}{}", with_flowops(uses)), &[])
}

fn read(model: &Model, name: &str) -> (f64, f64) {
    let (_, flowop) = model.flowops().find(|(_, f)| f.name == name).unwrap();
    (flowop.iosize.mean(), flowop.iters.mean())
}

#[test]
fn a_use_stands_for_the_inside_with_names_of_its_own() {
    let model = used("flowop reader name=a flowop reader name=b, iters=5");
    let thread = &model.processes[0].threads[0];
    let names: Vec<&str> = thread.flowops.iter().map(|f| f.name.as_str()).collect();
    let expected = [
        "s", "a.open", "a.read", "a.close", "b.open", "b.read", "b.close",
    ];
    assert_eq!(names, expected);
    let inside = |iters, first| Node::Composite {
        iters: Amount::Fixed(iters),
        body: (first..first + 3).map(Node::Flowop).collect(),
    };
    assert_eq!(
        thread.body,
        [Node::Flowop(0), inside(2.0, 1), inside(5.0, 4)]
    );
}

#[test]
fn a_local_variable_has_the_value_of_its_use_then_its_default_then_the_global_one() {
    let model = used(
        "flowop reader name=plain flowop reader name=own, $size=4k flowop reader name=both, $n=7, \
         $size=$size*3",
    );
    assert_eq!(read(&model, "plain.read"), (1024.0, 2048.0));
    assert_eq!(
        read(&model, "own.read"),
        (4096.0, 8192.0),
        "a default sees the use"
    );
    assert_eq!(
        read(&model, "both.read"),
        (3072.0, 7.0),
        "a use sees what is around it"
    );
}

#[test]
fn local_variables_hold_names_of_filesets_and_random_variables_too() {
    let text = format!(
        "define flowop name=get, $set, $size=randvar(mean=9k) {{
           flowop readwholefile name=r, filesetname=$set, iosize=$size }}
         {}",
        with_flowops("flowop get name=g, $set=files")
    );
    let model = model(&text, &[]);
    let (_, flowop) = model.flowops().last().unwrap();
    assert_eq!((flowop.fileset, flowop.iosize.mean()), (Some(0), 9216.0));
}

#[test]
fn composite_flowops_use_those_above_them() {
    let outer = "define flowop name=outer, $k=2 { flowop reader name=in, $size=$k*1k, iters=3 }";
    let text = format!(
        "{READER}{outer}{}",
        with_flowops("flowop outer name=o, $k=8")
    );
    let model = model(&text, &[]);
    assert_eq!(read(&model, "o.in.read"), (8192.0, 16384.0));
    let Node::Composite { iters, body } = &model.processes[0].threads[0].body[1] else {
        panic!()
    };
    assert_eq!((iters, body.len()), (&Amount::Fixed(1.0), 1));
    assert!(matches!(
        &body[0],
        Node::Composite {
            iters: Amount::Fixed(3.0),
            ..
        }
    ));
}

#[test]
fn a_target_finds_its_siblings_before_others_of_the_name() {
    let text = format!(
        "define flowop name=work {{
           flowop statfile name=s, filesetname=files
           flowop finishoncount name=end, value=9, target=s
           flowop semblock name=gate, value=1
           flowop sempost name=post, value=1, target=gate }}
         {}",
        with_flowops(
            "flowop work name=a flowop work name=b flowop sempost name=out, value=1, target=b.gate"
        )
    );
    let model = model(&text, &[]);
    let target = |name: &str| {
        let (_, flowop) = model.flowops().find(|(_, f)| f.name == name).unwrap();
        let [id] = flowop.targets.as_slice() else {
            panic!("{name}: {:?}", flowop.targets)
        };
        let thread = &model.processes[id.process].threads[id.thread];
        thread.flowops[id.flowop].name.clone()
    };
    assert_eq!([target("a.end"), target("b.end")], ["a.s", "b.s"]);
    assert_eq!(
        [target("a.post"), target("b.post"), target("out")],
        ["a.gate", "b.gate", "b.gate"]
    );
}

#[test]
fn a_target_inside_reaches_what_stands_around_the_use() {
    let text = format!(
        "define flowop name=limit {{ flowop finishoncount name=end, value=9, target=s }}\n{}",
        with_flowops("flowop limit name=l")
    );
    let model = model(&text, &[]);
    let (_, end) = model.flowops().last().unwrap();
    assert_eq!(
        (end.operation, end.targets[0].flowop),
        (Operation::FinishOnCount, 0)
    );
}

#[test]
fn wrong_composites_are_refused() {
    let define = |definition: &str, uses: &str| format!("{definition}\n{}", with_flowops(uses));
    let hog = "{ flowop hog name=h }";
    for (text, expected) in [
        (
            define(
                &format!("define flowop name=x {hog}"),
                "flowop x name=a, $y=1",
            ),
            "flowop 'x' has no local variable 'y'",
        ),
        (
            define(
                &format!("define flowop name=x, $yes {hog}"),
                "flowop x name=a, $yet=1",
            ),
            "did you mean 'yes'?",
        ),
        (
            define(
                &format!("define flowop name=x, $y {hog}"),
                "flowop x name=a, $y",
            ),
            "$y needs a value here",
        ),
        (
            define(
                &format!("define flowop name=x {hog}"),
                "flowop x name=a, iosize=1k",
            ),
            "a composite flowop has no attribute 'iosize'",
        ),
        (
            define(&format!("define flowop name=x {hog}"), "flowop x iters=2"),
            "a composite flowop needs the attribute 'name'",
        ),
        (
            define(
                &format!("define flowop name=hog {hog}"),
                "flowop hog name=a",
            ),
            "'hog' is a flowop of the language",
        ),
        (
            define(
                &format!("define flowop name=x {hog} define flowop name=x {hog}"),
                "flowop x name=a",
            ),
            "there are two flowops 'x'",
        ),
        (
            define("define flowop name=x { }", "flowop x name=a"),
            "flowop 'x' has nothing inside",
        ),
        (
            define(
                "define flowop name=x { flowop x name=y }",
                "flowop x name=a",
            ),
            "flowop 'x' is not defined above this one",
        ),
        (
            define(
                "define flowop name=x, $y { flowop hog name=h, value=$y }",
                "flowop x name=a",
            ),
            "$y of flowop 'x' has no value: give it one here",
        ),
    ] {
        refused(&[(&text, expected)]);
    }
}

#[test]
fn an_unused_composite_is_warned_of() {
    let text = minimal_but("run 1", "define flowop name=x { flowop hog name=h } run 1");
    assert_eq!(
        warnings(&text),
        ["this flowop is never used, and its inside is not checked"]
    );
}

#[test]
fn composites_that_grow_without_end_are_refused() {
    let doubling: String = (1..60)
        .map(|n| {
            let inner = n - 1;
            format!("define flowop name=c{n} {{ flowop c{inner} name=a flowop c{inner} name=b }}\n")
        })
        .collect();
    let text = format!(
        "define flowop name=c0 {{ flowop hog name=h }}\n{doubling}{}",
        with_flowops("flowop c59 name=x")
    );
    refused(&[(&text, "that is too much")]);
    let chain: String = (1..=101)
        .map(|n| format!("define flowop name=c{n} {{ flowop c{} name=a }}\n", n - 1))
        .collect();
    let text = |use_of: &str| {
        format!(
            "define flowop name=c0 {{ flowop hog name=h }}\n{chain}{}",
            with_flowops(&format!("flowop {use_of} name=x"))
        )
    };
    refused(&[(
        &text("c100"),
        "more than 100 composite flowops in one another",
    )]);
    assert!(model(&text("c99"), &[]).flowops().count() == 2, "{MINIMAL}");
}
