//! The command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::clock::from_seconds;
use crate::failure::{Exit, Failure};
use crate::lang::{self, Severity, ast::Expression};
use crate::model::{Program, Run, Step};
use crate::report::{ENGINE, Report, Results, SCHEMA};
use crate::run::{self, Arena, Ending, Options, lay_out, prepare_all, supervise, verify_all};

const HELP: &str = "\
fsgreen-wml runs workloads that are written in the Workload Model Language.

  fsgreen-wml check FILE.f [--set NAME=VALUE]...     say what is wrong with it
  fsgreen-wml prepare FILE.f --set dir=DIR           create its files
  fsgreen-wml run FILE.f --set dir=DIR               create its files and run it

Each command has its own --help. Exit status: 0 done; 1 failed; 2 the text is wrong;
3 the run ended early and its results are partial.
";

const CHECK_HELP: &str = "\
fsgreen-wml check FILE.f [--set NAME=VALUE]...

Parse the text and check every name and value. Nothing is created.

Example: fsgreen-wml check webserver.f --set dir=/mnt/test --set scale=0.1
";

const PREPARE_HELP: &str = "\
fsgreen-wml prepare FILE.f [--set NAME=VALUE]... [--seed N] [--json OUT]
                    [--die-with-parent]

Create the filesets of the text; trees that were made before are replaced.
The same seed makes the same trees. With --die-with-parent it ends when its caller does.

Example: fsgreen-wml prepare webserver.f --set dir=/mnt/test --set scale=0.1 --seed 7
";

const RUN_HELP: &str = "\
fsgreen-wml run FILE.f [--set NAME=VALUE]... [--seed N] [--prepared]
                [--warmup SECONDS] [--duration SECONDS] [--json OUT] [--die-with-parent]

Create the filesets and run the processes of the text. With --prepared the trees must be as
'prepare' left them with the same seed. Results go to OUT, or to the standard output.
Without --duration the text's own 'run' command says how long (60 s if it does not).
With --die-with-parent it ends when its caller does, however that ends.

Example: fsgreen-wml run webserver.f --set dir=/mnt/test --seed 7 --warmup 5 --duration 60 \\
             --json results.json
";

/// Seconds of a run that nobody says.
const DEFAULT_DURATION_S: f64 = 60.0;

struct Arguments {
    file: PathBuf,
    overrides: BTreeMap<String, Expression>,
    seed: u64,
    prepared: bool,
    warmup_s: f64,
    duration_s: Option<f64>,
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq)]
enum Command {
    Check,
    Prepare,
    Run,
}

impl Command {
    fn help(self) -> &'static str {
        match self {
            Command::Check => CHECK_HELP,
            Command::Prepare => PREPARE_HELP,
            Command::Run => RUN_HELP,
        }
    }
}

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    dispatch(lexopt::Parser::from_args(arguments)).unwrap_or_else(|failure| {
        eprintln!("fsgreen-wml: {failure}");
        Exit::Failed
    })
}

fn dispatch(mut parser: lexopt::Parser) -> Result<Exit, Failure> {
    use lexopt::prelude::*;
    let usage = |error: lexopt::Error| Failure::new(error.to_string()).next("fsgreen-wml --help");
    let command = match parser.next().map_err(usage)? {
        Some(Value(word)) => match word.to_str() {
            Some("check") => Command::Check,
            Some("prepare") => Command::Prepare,
            Some("run") => Command::Run,
            _ => return Err(usage(Value(word).unexpected())),
        },
        Some(Short('V') | Long("version")) => {
            println!("{ENGINE}");
            return Ok(Exit::Ok);
        }
        Some(Short('h') | Long("help")) | None => {
            print!("{HELP}");
            return Ok(Exit::Ok);
        }
        Some(other) => return Err(usage(other.unexpected())),
    };
    match arguments(command, &mut parser).map_err(usage)? {
        Some(arguments) => execute(command, &arguments),
        None => {
            print!("{}", command.help());
            Ok(Exit::Ok)
        }
    }
}

/// The arguments of a command; None asks for its help.
fn arguments(
    command: Command,
    parser: &mut lexopt::Parser,
) -> Result<Option<Arguments>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut file = None;
    let mut arguments = Arguments {
        file: PathBuf::new(),
        overrides: BTreeMap::new(),
        seed: 1,
        prepared: false,
        warmup_s: 0.0,
        duration_s: None,
        json: None,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(path) if file.is_none() => file = Some(path.into()),
            Long("set") => {
                let text = parser.value()?.string()?;
                let (name, value) = text
                    .split_once('=')
                    .ok_or("--set needs NAME=VALUE, such as --set scale=0.1")?;
                let name = name.trim_start_matches('$').to_owned();
                arguments.overrides.insert(name, lang::parse_value(value));
            }
            Long("seed") if command != Command::Check => {
                arguments.seed = parser.value()?.parse()?;
            }
            Long("json") if command != Command::Check => {
                arguments.json = Some(parser.value()?.into());
            }
            Long("die-with-parent") if command != Command::Check => {
                run::die_with_parent().map_err(|failure| failure.to_string())?;
            }
            Long("prepared") if command == Command::Run => arguments.prepared = true,
            Long("warmup") if command == Command::Run => {
                arguments.warmup_s = seconds(&parser.value()?.string()?, 0.0)?;
            }
            Long("duration") if command == Command::Run => {
                arguments.duration_s = Some(seconds(&parser.value()?.string()?, 1e-3)?);
            }
            other => return Err(other.unexpected()),
        }
    }
    arguments.file = file.ok_or("which FILE.f?")?;
    Ok(Some(arguments))
}

fn seconds(text: &str, least: f64) -> Result<f64, lexopt::Error> {
    match text.parse() {
        Ok(seconds) if (least..1e7).contains(&seconds) => Ok(seconds),
        _ => Err(format!("'{text}' is not a possible number of seconds").into()),
    }
}

fn execute(command: Command, arguments: &Arguments) -> Result<Exit, Failure> {
    let file = arguments.file.display().to_string();
    let text = fs::read_to_string(&arguments.file)
        .map_err(|error| Failure::io(format!("cannot read {file}"), &error))?;
    let Some(program) = checked(&file, &text, &arguments.overrides) else {
        return Ok(Exit::Text);
    };
    let Some(Run {
        model, duration_s, ..
    }) = program.runs().next()
    else {
        return Err(Failure::new("the text has no run"));
    };
    if command == Command::Check {
        println!(
            "{file}: {} filesets, {} processes, {} threads, {} flowops: no errors",
            model.filesets.len(),
            model.process_count(),
            model.thread_count(),
            model.flowops().count(),
        );
        return Ok(Exit::Ok);
    }
    for step in &program.steps {
        if let Step::Say(text) = step {
            eprintln!("{text}");
        }
    }
    let files = lay_out(model, arguments.seed)?;
    let prepare = if arguments.prepared {
        verify_all(&files)?;
        None
    } else {
        Some(prepare_all(&files, arguments.seed)?)
    };
    let mut report = Report {
        schema: SCHEMA,
        engine: ENGINE,
        file,
        seed: arguments.seed,
        variables: program.variables.clone(),
        prepare,
        results: None,
    };
    let mut exit = Exit::Ok;
    if command == Command::Run {
        let duration_s = arguments
            .duration_s
            .or(*duration_s)
            .unwrap_or(DEFAULT_DURATION_S);
        let options = Options {
            seed: arguments.seed,
            warmup_ns: from_seconds(arguments.warmup_s),
            duration_ns: from_seconds(duration_s),
        };
        let arena = Arena::new(model, &files, &options)?;
        let ending = supervise(&arena, &options)?;
        let results = Results::new(&arena, &ending);
        eprintln!("{}", results.summary());
        if let Ending::Cut(reason) = &ending {
            eprintln!("fsgreen-wml: {reason}: these results are partial");
            exit = Exit::Partial;
        }
        report.results = Some(results);
    }
    write_json(&report, arguments.json.as_deref())?;
    Ok(exit)
}

/// The program, unless the text is wrong; everything found is printed.
fn checked(file: &str, text: &str, overrides: &BTreeMap<String, Expression>) -> Option<Program> {
    let checked = lang::check(text, overrides);
    for diagnostic in &checked.diagnostics {
        eprintln!("{}", diagnostic.render(file, text));
    }
    let is_error = |d: &&lang::Diagnostic| d.severity == Severity::Error;
    let errors = checked.diagnostics.iter().filter(is_error).count();
    if errors > 0 {
        eprintln!(
            "fsgreen-wml: {errors} error{} in {file}",
            if errors == 1 { "" } else { "s" }
        );
    }
    checked.program
}

/// Write to a temporary name first, so that a file with the final name is whole.
fn write_json(report: &Report, path: Option<&Path>) -> Result<(), Failure> {
    let mut text = serde_json::to_string(report).expect("a report is plain data");
    text.push('\n');
    let Some(path) = path else {
        return std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| Failure::io("cannot write the results", &error));
    };
    let temporary = path.with_extension("json.part");
    fs::write(&temporary, text)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error))
}
