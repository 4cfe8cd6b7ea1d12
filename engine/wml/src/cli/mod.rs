//! The command line.

mod arguments;
mod help;
mod output;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::ENGINE;
use crate::failure::{Exit, Failure};
use crate::fileset::refuse_too_large;
use crate::lang::{self, Checked, Diagnostic, Severity, Source, ast::Span};
use crate::model::Program;
use crate::report::{Host, Report, SCHEMA};
use crate::run::{Halt, check_room, memory_doubts};
use crate::session::{self, Done};
use crate::signals;
use crate::stderr::say;
use arguments::{Arguments, Command};

const VERSION: &str = concat!("fsgreen-wml ", env!("CARGO_PKG_VERSION"), "\n");
const BYTE_ORDER_MARK: char = '\u{feff}';

const RUN_AGAIN: &str =
    "run it again to its end; where nobody stopped it, see what did (dmesg, free -h)";
const MEND_OR_ALLOW: &str =
    "mend what the note names (df -h, dmesg), or allow it: --max-errors 100%";
const MEND_OR_WAIT: &str =
    "mend what the files lack (prealloc, entries), or run it longer: --duration 60";

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let said = |exit| {
        move |failure: Failure| {
            complain(&failure);
            exit
        }
    };
    let asked = asked(lexopt::Parser::from_args(arguments));
    asked.map_or_else(said(Exit::Text), |asked| {
        execute(asked).unwrap_or_else(said(Exit::Failed))
    })
}

fn complain(failure: &Failure) {
    say!("fsgreen-wml: {failure}");
}

/// What the command line asks for.
enum Asked {
    Print(&'static str),
    Do(Command, Arguments),
}

/// Read the command line; what is wrong with it is a failure that says how it is right.
fn asked(mut parser: lexopt::Parser) -> Result<Asked, Failure> {
    use lexopt::prelude::*;
    let command = match parser.next()? {
        Some(Value(word)) => match word.to_str().and_then(Command::named) {
            Some(command) => command,
            None if Path::new(&word).exists() => {
                let file = word.to_string_lossy();
                let message = format!("what is to be done with {file}?");
                return Err(Failure::new(message, format!("fsgreen-wml run {file}")));
            }
            None => return Err(Value(word).unexpected().into()),
        },
        Some(Short('f')) => return Err(arguments::dashed("run", &mut parser)),
        Some(Short('V') | Long("version")) => {
            return Ok(Asked::Print(VERSION));
        }
        Some(Short('h') | Long("help")) | None => {
            return Ok(Asked::Print(help::HELP));
        }
        Some(other) => return Err(other.unexpected().into()),
    };
    let arguments = arguments::parse(command, &mut parser)?;
    if arguments.as_ref().is_some_and(Arguments::mixes) {
        let message = "with --turns the standard output has the answers: the results need a file";
        return Err(Failure::new(message, "the same with --json results.json"));
    }
    Ok(
        arguments.map_or(Asked::Print(help::of(command)), |arguments| {
            Asked::Do(command, arguments)
        }),
    )
}

fn execute(asked: Asked) -> Result<Exit, Failure> {
    let (command, mut arguments) = match asked {
        Asked::Do(command, arguments) => (command, arguments),
        Asked::Print(text) => return output::print(text).map(|()| Exit::Ok),
    };
    let file = arguments.file.display().to_string();
    let text = read(&arguments.file)?;
    if command == Command::Fmt {
        return format(&arguments, &file, &text);
    }
    let Some(program) = checked(command, &file, &text, &arguments) else {
        return Ok(Exit::Text);
    };
    if matches!(command, Command::Check | Command::Run) {
        for doubt in memory_doubts(&program) {
            warn(&file, &text, doubt);
        }
    }
    if command == Command::Check {
        let sets = program.filesets.iter().map(refuse_too_large);
        for failure in sets.chain([check_room(&program)]).filter_map(Result::err) {
            warn(&file, &text, format!("not on this machine: {failure}"));
        }
        output::print(&format!("{file}: {}: no errors\n", size(&program)))?;
        return Ok(Exit::Ok);
    }
    if command == Command::Run && program.does_nothing() {
        complain(&match arguments.options.duration_s {
            None => Failure::new(
                format!("{file} has no 'run', so that there is nothing to do"),
                format!("fsgreen-wml run {file} --duration 60"),
            ),
            Some(_) => Failure::new(
                format!("{file} defines no process, so that there is nothing to do"),
                "add a 'define process' with a thread and its flowops",
            ),
        });
        return Ok(Exit::Text);
    }
    if let Some(path) = &arguments.json {
        output::check(path)?;
    }
    signals::block();
    arguments.options.prepared |= command == Command::Verify;
    let done = match command {
        Command::Run => session::execute(&program, &arguments.options),
        _ => session::prepare(&program, &arguments.options),
    };
    finish(command, &arguments, file, program, done)
}

/// The text of a file. Where it is no UTF-8, it is Latin-1, which old comments are written in.
fn read(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::io(format!("cannot read {}", path.display()), &error))?;
    let latin = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect();
    let text = String::from_utf8(bytes).unwrap_or_else(|error| latin(error.into_bytes()));
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn format(arguments: &Arguments, file: &str, text: &str) -> Result<Exit, Failure> {
    match lang::format(text) {
        Ok(formatted) if !arguments.write => output::print(&formatted)?,
        Ok(formatted) if formatted == text => {}
        Ok(formatted) => output::replace(&arguments.file, &formatted)?,
        Err(diagnostic) => {
            say!("{}", diagnostic.render(file, text));
            return Ok(Exit::Text);
        }
    }
    Ok(Exit::Ok)
}

/// The program, unless the text is wrong; everything found is printed.
fn checked(command: Command, file: &str, text: &str, arguments: &Arguments) -> Option<Program> {
    // What asks for a run, or for its files, means one at the end of a text that has none.
    let runs_at_end = match command {
        Command::Check | Command::Fmt => false,
        Command::Run => arguments.options.duration_s.is_some(),
        Command::Prepare | Command::Verify => true,
    };
    let check = if runs_at_end {
        lang::check_to_run
    } else {
        lang::check
    };
    let Checked {
        program,
        diagnostics,
    } = check(text, &arguments.overrides);
    let source = Source::new(file, text);
    for diagnostic in &diagnostics {
        say!("{}", source.render(diagnostic));
    }
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let errors = diagnostics.iter().filter(is_error).count();
    if errors > 0 {
        let errors = counted(errors as u64, "error", "errors");
        let next = format!("correct the text, then: fsgreen-wml check {file}");
        complain(&Failure::new(format!("{errors} in {file}"), next));
    }
    program
}

/// Warn of a text as a whole.
fn warn(file: &str, text: &str, message: String) {
    let warning = Diagnostic::warning(Span::default(), message);
    say!("{}", warning.render(file, text));
}

/// What a text works with, in a line.
fn size(program: &Program) -> String {
    let runs: Vec<String> = program
        .runs()
        .map(|run| {
            let model = &run.model;
            [
                counted(model.filesets.len() as u64, "fileset", "filesets"),
                counted(model.process_count(), "process", "processes"),
                counted(model.thread_count(), "thread", "threads"),
                counted(model.flowops().count() as u64, "flowop", "flowops"),
            ]
            .join(", ")
        })
        .collect();
    match runs.as_slice() {
        [] => "no run".to_owned(),
        [run] => run.clone(),
        [first, ..] => format!("{} runs, the first with {first}", runs.len()),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

/// Write the results and say how it ended.
fn finish(
    command: Command,
    arguments: &Arguments,
    file: String,
    program: Program,
    done: Done,
) -> Result<Exit, Failure> {
    let reason = match done.halt {
        None => None,
        Some(Halt::Failed(failure)) if done.runs.is_empty() => return Err(failure),
        Some(Halt::Failed(failure)) => {
            complain(&failure);
            Some(failure.message().to_owned())
        }
        Some(Halt::Cut(reason)) => {
            let what = format!("{reason}: what was done is partial");
            complain(&Failure::new(what, RUN_AGAIN));
            Some(reason)
        }
    };
    if done.failing {
        complain(&Failure::new("too many operations failed", MEND_OR_ALLOW));
    }
    if done.idle {
        complain(&Failure::new("a run did nothing", MEND_OR_WAIT));
    }
    let exit = match reason {
        Some(_) => Exit::Partial,
        None if done.failing || done.idle => Exit::Failing,
        None => Exit::Ok,
    };
    if command == Command::Verify {
        if exit == Exit::Ok {
            let count = done.filesets.len() as u64;
            let filesets = counted(count, "fileset", "filesets");
            output::print(&format!("{file}: {filesets} as prepared\n"))?;
        }
        return Ok(exit);
    }
    let report = Report {
        schema: SCHEMA,
        engine: ENGINE,
        file,
        seed: arguments.options.seed,
        host: Host::here(),
        partial: reason.is_some(),
        reason,
        filesets: done.filesets,
        variables: program.variables,
        prepare: done.prepared,
        notes: done.notes,
        runs: done.runs,
    };
    output::report(&report, arguments.json.as_deref())?;
    Ok(exit)
}
