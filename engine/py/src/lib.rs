//! The Python module `fsgreen_engine`: checking texts, disks in virtual time, and read-ahead. Runs
//! go through the program `fsgreen-wml`, so that their processor time and their end are apart from
//! Python's.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use readahead::{Count, Decide, Reads, Request, Settings};
use serde_json::{Value, json};
use simdisk::profile::Profile;
use simdisk::simulate::Experiment;
use wml::lang::{self, Diagnostic, Source};
use wml::model::{Program, Run};

/// Return the version of the engine.
#[pyfunction]
fn version() -> &'static str {
    wml::ENGINE
}

/// Check a text in the Workload Model Language.
///
/// Parameters
/// ----------
/// text : str
///     The text.
/// variables : dict of str to str, optional
///     Values that override the text's own `set` commands, as on the command line.
///
/// Returns
/// -------
/// dict
///     `diagnostics`: a list of dicts with severity, line, column and message.
///     `model`: None if there was an error or the text has no run; else the filesets with their
///     size in bytes, the processes, the rate in ops/s and the variables of the first run.
#[pyfunction]
#[pyo3(signature = (text, variables=None))]
fn check<'py>(
    py: Python<'py>,
    text: &str,
    variables: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyAny>> {
    let variables = variables.unwrap_or_default();
    let overrides = variables
        .into_iter()
        .map(|(name, value)| (name, lang::parse_value(&value)));
    let checked = lang::check(text, &overrides.collect());
    let source = Source::new("", text);
    let found = json!({
        "diagnostics":
            checked.diagnostics.iter().map(|found| diagnostic(found, &source)).collect::<Vec<_>>(),
        "model": checked.program.as_ref().and_then(summary),
    });
    loads(py, found.to_string())
}

/// Simulate a device in virtual time: concurrent readers, random writes, the requests of a trace, or
/// an NFS server.
///
/// Nothing is measured: `basis` in what is returned is `simulated`. The same text gives the same
/// result to the last digit.
///
/// Parameters
/// ----------
/// experiment : str
///     What is to be simulated, in JSON: `disk` (the name of a profile, or the path of one),
///     `work` (`{"readers": {...}}`, `{"writes": {...}}`, `{"replay": {"file": PATH}}` or
///     `{"nfs": {"reads": {...}, "read_ahead": {...}, ...}}`) and, if they are not the defaults,
///     `scheduler`, `overrides`, `state`, `power` and `log`. The options of the commands
///     `fsgreen-simdisk readers`, `writes`, `replay` and `nfs` have the same names.
/// heuristic : callable, optional
///     What an NFS server asks at each read, in the place of the heuristic in `read_ahead`: it gets
///     file, offset and count (bytes), and returns the sequential count, 0 for no read-ahead.
///
/// Returns
/// -------
/// dict
///     Times in ns, energies in fJ by part of the device, counters, when each reader was done,
///     how far the scheduler and the device changed the order of the requests, and what an NFS
///     server did for its clients (`nfs`).
///
/// Raises
/// ------
/// ValueError
///     If the text, the profile, the trace or a number is wrong: what, where, and the next step.
///     What `heuristic` raises is raised.
#[pyfunction]
#[pyo3(signature = (experiment, heuristic=None))]
fn simulate<'py>(
    py: Python<'py>,
    experiment: &str,
    heuristic: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let raised = Rc::new(RefCell::new(None));
    let done = match heuristic {
        None => py.detach(|| Experiment::parse(experiment)?.run()),
        Some(heuristic) => {
            let count = asking(heuristic, Rc::clone(&raised));
            Experiment::parse(experiment).and_then(|parsed| parsed.run_by(Some(count)))
        }
    };
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let report = done.map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    let text = serde_json::to_string(&report).expect("a report is plain data");
    loads(py, text)
}

/// A function of Python as a heuristic; once it has raised something it is not asked again.
fn asking(heuristic: Py<PyAny>, raised: Rc<RefCell<Option<PyErr>>>) -> Count {
    Box::new(move |request| {
        let Request {
            file,
            offset_b,
            count_b,
        } = request;
        if raised.borrow().is_some() {
            return 0;
        }
        Python::attach(|py| {
            let answer = heuristic.bind(py).call1((file, offset_b, count_b));
            answer.and_then(|count| count.extract::<u32>())
        })
        .unwrap_or_else(|error| {
            raised.replace(Some(error));
            0
        })
    })
}

/// Return how far a file server would read ahead at each of some reads, and why.
///
/// Parameters
/// ----------
/// read_ahead : str
///     The heuristic and its table, in JSON: `heuristic` (default, always, slowdown or cursors),
///     `cursors`, `slots`, `probes`, `window_kib`; what is left out is as in FreeBSD 4.
/// reads : str, optional
///     What is read, in JSON: `files`, `total_mib`, `read_kib`, `streams`, `order` (in-turn or random),
///     `late_percent`, `late_places`, `seed`. Files are read in turn.
/// requests : list of (file, offset_b, count_b), optional
///     The reads themselves, in place of `reads`.
///
/// Returns
/// -------
/// dict
///     Columns: `file`, `offset_b`, `count_b`, `slot` of the table, `evicted` (the file that was
///     forgotten, or None), `sequential_count`, `ahead_b`.
///
/// Raises
/// ------
/// ValueError
///     If a text is no JSON, or a number is out of its bounds.
#[pyfunction]
#[pyo3(signature = (read_ahead, reads=None, requests=None))]
fn decisions<'py>(
    py: Python<'py>,
    read_ahead: &str,
    reads: Option<&str>,
    requests: Option<Vec<(u64, u64, u64)>>,
) -> PyResult<Bound<'py, PyAny>> {
    let refused = |what: String| PyValueError::new_err(what);
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let settings: Settings = serde_json::from_str(read_ahead).map_err(wrong)?;
    let mut read_ahead = settings.read_ahead().map_err(refused)?;
    let request = |(file, offset_b, count_b)| Request {
        file,
        offset_b,
        count_b,
    };
    let requests = match requests {
        Some(requests) => requests.into_iter().map(request).collect(),
        None => {
            let reads: Reads = serde_json::from_str(reads.unwrap_or("{}")).map_err(wrong)?;
            reads.round_robin().map_err(refused)?
        }
    };
    let decided: Vec<_> = requests
        .into_iter()
        .map(|request| read_ahead.decide(request))
        .collect();
    let columns = json!({
        "file": decided.iter().map(|one| one.request.file).collect::<Vec<_>>(),
        "offset_b": decided.iter().map(|one| one.request.offset_b).collect::<Vec<_>>(),
        "count_b": decided.iter().map(|one| one.request.count_b).collect::<Vec<_>>(),
        "slot": decided.iter().map(|one| one.slot).collect::<Vec<_>>(),
        "evicted": decided.iter().map(|one| one.evicted).collect::<Vec<_>>(),
        "sequential_count": decided.iter().map(|one| one.sequential_count).collect::<Vec<_>>(),
        "ahead_b": decided.iter().map(|one| one.ahead_b).collect::<Vec<_>>(),
    });
    loads(py, columns.to_string())
}

/// Return the files of the built-in profiles of disks and SSDs, by name.
#[pyfunction]
fn profiles() -> BTreeMap<&'static str, &'static str> {
    let names = Profile::names();
    names
        .filter_map(|name| Some((name, Profile::text(name)?)))
        .collect()
}

fn loads(py: Python<'_>, text: String) -> PyResult<Bound<'_, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

fn diagnostic(diagnostic: &Diagnostic, source: &Source) -> Value {
    let (line, column) = source.position(diagnostic);
    let severity = diagnostic.severity.name();
    json!({ "severity": severity, "line": line, "column": column, "message": diagnostic.message })
}

/// What the first run of a program works with.
fn summary(program: &Program) -> Option<Value> {
    let Run {
        model, variables, ..
    } = program.runs().next()?;
    let processes = model.processes.iter().map(|process| {
        let threads = process.threads.iter().map(|thread| {
            json!({
                "name": thread.name,
                "instances": thread.instances,
                "flowops": thread.flowops.iter().map(|f| f.operation.name()).collect::<Vec<_>>(),
            })
        });
        json!({
            "name": process.name,
            "instances": process.instances,
            "threads": threads.collect::<Vec<_>>(),
        })
    });
    Some(json!({
        "filesets": model.filesets,
        "processes": processes.collect::<Vec<_>>(),
        "rate_ops_s": model.rate,
        "variables": variables,
        "size_b": model.filesets.iter().map(wml::model::Fileset::mean_size_b).sum::<f64>().ceil(),
    }))
}

#[pymodule]
fn fsgreen_engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(decisions, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)
}
