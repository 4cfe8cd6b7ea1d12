//! The canonical layout of a text.

use wml::lang::format;

fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
    assert_eq!(format(&once).unwrap(), once, "not stable:\n{once}");
    once
}

#[test]
fn every_command_thread_and_flowop_gets_a_line_and_every_brace_its_own() {
    let text = "set $a = 1 set $b=${a}*( 2+3 ) define process name = p ,instances=2{thread name=t
      { flowop read name=r,iosize=1k flowop hog name=h } } run 60";
    let expected = "\
set $a=1
set $b=${a}*(2+3)
define process name=p, instances=2
{
  thread name=t
  {
    flowop read name=r, iosize=1k
    flowop hog name=h
  }
}
run 60
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_stay_with_what_they_say() {
    let text = "
# At the top.


#second
set $a=1# behind
   # alone

define file name=f, # in the middle
  # of it
  path=/x

define process name=p # header
{ # opened

  # first
  thread name=t { flowop hog name=h # work
    # last

  }
}# closed
# the end";
    let expected = "\
# At the top.

#second
set $a=1  # behind
# alone

define file name=f,  # in the middle
    # of it
    path=/x

define process name=p  # header
{  # opened
  # first
  thread name=t
  {
    flowop hog name=h  # work
    # last
  }
}  # closed
# the end
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn long_commands_go_on_further_to_the_right() {
    let attributes: Vec<String> = (0..30).map(|n| format!("name=attribute{n}")).collect();
    let text = formatted(&format!("define file {}", attributes.join(",")));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() > 4 && lines.iter().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(
        lines[1..].iter().all(|line| line.starts_with("    name=")),
        "{text}"
    );
}

#[test]
fn tables_signs_and_repetitions_keep_their_form() {
    let text = "set $t=randvar( randtable = {{ 50,1 ,2},{50, 2,3} } ,mean=-( 1 )*-2)
      foreach $i in 1,-2 , abc -3{ psrun -$i 10 run (5) sleep $i -1 }
      define flowop name=x,$l=1,$m { flowop y name=z , $l = $m }";
    let expected = "\
set $t=randvar(randtable={{50, 1, 2}, {50, 2, 3}}, mean=-(1)*-2)
foreach $i in 1, -2, abc -3
{
  psrun -$i 10
  run (5)
  sleep $i-1
}
define flowop name=x, $l=1, $m
{
  flowop y name=z, $l=$m
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn an_empty_text_stays_empty_and_a_wrong_one_is_refused() {
    assert_eq!(formatted(" \n\n "), "");
    assert_eq!(formatted("#x"), "#x\n");
    let error = format("set $a=1\nset $b 5").unwrap_err();
    assert_eq!(error.message, "expected '=', found a number");
}

#[test]
fn what_is_accepted_with_a_warning_is_written_as_it_is_done() {
    let text = "define fileset name=f, path=/x, entries=9 # few
define fileset name=g, path=$dir, entries=9, dirwidth=0
define process name=p { thread name=t, instances=0 {
  flowop read name=r, filesetname=f, iosize=1k, directio=0, random=1
  flowop read name=r, filesetname=f, iosize=1k, random }
  thread name=t { flowop hog name=h } }
run 60";
    let expected = "\
define fileset name=f, path=/x, entries=9, dirwidth=1  # few
define fileset name=g, path=$dir, entries=9, dirwidth=1
define process name=p
{
  thread name=t, instances=1
  {
    flowop read name=r, filesetname=f, iosize=1k, directio=false, random=true
    flowop read name=r-2, filesetname=f, iosize=1k, random
  }
  thread name=t-2
  {
    flowop hog name=h
  }
}
run 60
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn what_a_variable_says_or_needs_quotes_is_not_written_over() {
    let text = "set $flag=0
define process name=p
{
  thread name=t
  {
    flowop read name=\"a b\", random=$flag
    flowop read name=\"a b\"
  }
}
";
    assert_eq!(formatted(text), text);
}
