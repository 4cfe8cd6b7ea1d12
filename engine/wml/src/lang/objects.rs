//! Filesets, processes and threads, each from its attributes.

use std::collections::HashSet;

use super::ast::{self, Span};
use super::attributes::AttributeReader;
use super::attributes::lenient::Names;
use super::diagnostic::Diagnostic;
use super::flowops::Place;
use super::resolve::{Defined, Resolver};
use super::vocabulary;
use crate::model::{ArrivalProcess, Arrivals, Fileset, MAX_ENTRIES, MAX_TASKS, Process, Thread};
use crate::random::{Amount, Distribution, Shape};

const MAX_INSTANCES: u64 = 1_000_000;
/// The longest file that the kernel has.
const MAX_FILE_B: u64 = i64::MAX as u64;
const MAX_MEMORY_B: u64 = 1 << 40;
/// Best-effort I/O priorities are 0 to 7; this one leaves a thread what it has.
const LEAVE_PRIORITY: i32 = 8;

impl<'a> Resolver<'a> {
    pub(super) fn fileset(&mut self, fileset: &'a ast::Fileset, span: Span) -> Fileset {
        let single = fileset.single;
        let mut read = self.reader(&fileset.attributes, &vocabulary::FILESET, span);
        let name = read.required_text("name");
        if read.has("name") && !is_plain(&name) {
            let message = "a fileset's name is one folder: letters, digits, . _ -";
            read.error("name", message);
        }
        let path = read.required_text("path");
        if read.has("path") && path.is_empty() {
            read.error("path", "the path of a fileset must not be empty");
        }
        let dirwidth = dirwidth(&mut read, single, span.end);
        let is_flat = matches!(dirwidth, Amount::Fixed(width) if width <= 1.0);
        let leafdirs = read.count("leafdirs", 0, 0..=MAX_ENTRIES);
        let least = u64::from(leafdirs == 0);
        let size = read.bytes("size", 1024.0, MAX_FILE_B);
        let shape = read.number("filesizegamma", 0.0) / 1000.0;
        let fileset = Fileset {
            name,
            path,
            size: match size {
                Amount::Fixed(mean) if shape > 0.0 => Amount::Random(Distribution {
                    shape: Shape::Gamma(shape),
                    mean,
                    ..Distribution::default()
                }),
                size => size,
            },
            entries: read.count("entries", u64::from(single), least..=MAX_ENTRIES),
            leafdirs,
            dirwidth,
            dirgamma: read.number("dirgamma", if single { 0.0 } else { 1500.0 }) / 1000.0,
            dirdepth: read.distribution("dirdepthrv").filter(|_| !is_flat),
            prealloc_percent: read.percentage("prealloc"),
            paralloc: read.flag("paralloc"),
            reuse: read.flag("reuse"),
            trusttree: read.flag("trusttree"),
            compress_percent: read.percentage("compress"),
            readonly: read.flag("readonly"),
            writeonly: read.flag("writeonly"),
        };
        if fileset.readonly && fileset.writeonly {
            read.error("writeonly", "a fileset is readonly or writeonly, not both");
        }
        read.warn_if_present(
            "cached",
            "version 1.4's 'cached' has no effect; 'dropcaches' empties the page cache",
        );
        read.warn_if_present(
            "filesizegamma",
            "version 1.4's 'filesizegamma' makes the sizes gamma variates around a fixed 'size'; \
             write size=$size with set $size=randvar(type=gamma, mean=..., gamma=...)",
        );
        fileset
    }

    pub(super) fn processes(&mut self) -> Vec<Process> {
        let mut processes = Vec::new();
        let mut names = HashSet::new();
        let mut tasks = 0;
        for nth in 0..self.definitions.processes.len() {
            let Defined { node, span, scope } = self.definitions.processes[nth].clone();
            if !self.spend(span) {
                break;
            }
            self.variables.enter(scope);
            let process = self.process(node, span);
            self.variables.leave();
            if !process.name.is_empty() && !names.insert(process.name.clone()) {
                let message = format!("there are two processes '{}'", process.name);
                self.diagnostics.push(Diagnostic::error(span, message));
            }
            let before = tasks;
            tasks += process.instances + process.thread_count();
            if before <= MAX_TASKS && tasks > MAX_TASKS {
                let message = format!(
                    "with '{}' these are {tasks} processes and threads, and Linux has at most \
                     {MAX_TASKS}",
                    process.name
                );
                self.diagnostics.push(Diagnostic::error(span, message));
            }
            processes.push(process);
        }
        processes
    }

    fn process(&mut self, process: &'a ast::Process, span: Span) -> Process {
        let mut read = self.reader(&process.attributes, &vocabulary::PROCESS, span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 0..=MAX_INSTANCES);
        if instances == 0 && !read.is_faulty("instances") {
            read.warn_if_present(
                "instances",
                "a process of which there is none is not started",
            );
        }
        let nice = read.integer("nice", 0, -20..=19);
        if process.threads.is_empty() {
            read.error("name", format!("process '{name}' has no thread"));
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut names = Names::default();
        for thread in &process.threads {
            if !self.spend(thread.span) {
                break;
            }
            let of = format!("process '{name}' has two threads");
            threads.push(self.thread(thread, &of, &mut names));
        }
        Process {
            name,
            instances,
            nice,
            threads,
        }
    }

    /// `of` says where the names of its neighbours are taken.
    fn thread(&mut self, thread: &'a ast::Thread, of: &str, taken: &mut Names) -> Thread {
        let mut read = self.reader(&thread.attributes, &vocabulary::THREAD, thread.span);
        let name = read.unique_name(taken, "", of);
        let instances = read.at_least_one("instances", MAX_INSTANCES);
        let memsize = read.count("memsize", 0, 0..=MAX_MEMORY_B);
        let ioprio = read.integer("ioprio", LEAVE_PRIORITY, 0..=LEAVE_PRIORITY);
        let rate = read.number("rate", 0.0);
        let arrivals = read.choice("arrivals", vocabulary::ARRIVALS);
        if read.has("arrivals") && !read.has("rate") {
            read.error("arrivals", "'arrivals' needs a 'rate'");
        }
        read.flag("useism");
        read.warn_if_present(
            "useism",
            "'useism' has no effect: each thread has a buffer of its own",
        );
        if thread.flowops.is_empty() {
            read.error("name", format!("thread '{name}' has no flowop"));
        }
        let mut flowops = Vec::new();
        self.taken = Names::default();
        let body = self.nodes(&thread.flowops, &Place::outside(self), &mut flowops);
        Thread {
            name,
            instances,
            memsize,
            ioprio: (ioprio != LEAVE_PRIORITY).then_some(ioprio as u8),
            arrivals: (rate > 0.0).then(|| Arrivals {
                rate,
                process: arrivals.unwrap_or(ArrivalProcess::Poisson),
            }),
            flowops,
            body,
        }
    }
}

/// The width of a fileset's directories. Up to 1, each directory has one file.
fn dirwidth(read: &mut AttributeReader, single: bool, end: usize) -> Amount {
    let width = read.amount("dirwidth", if single { 10.0 } else { 0.0 });
    let mean = width.mean();
    if read.is_faulty("dirwidth") || mean >= 2.0 {
        return width;
    }
    let one_each = "each directory has one file, as dirwidth=1 says";
    if mean > 1.0 {
        let message = "'dirwidth' is at least 2, or 1 for one file in each directory";
        read.error("dirwidth", message);
    } else if !read.has("dirwidth") {
        let message = format!("a fileset without 'dirwidth': {one_each}");
        read.warn_of_missing(&message, end, "dirwidth=1");
    } else if width != Amount::Fixed(1.0) {
        read.warn("dirwidth", format!("with this 'dirwidth', {one_each}"), "1");
    }
    Amount::Fixed(1.0)
}

/// Whether a name is one folder.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().all(allowed) && name.chars().any(|c| c.is_ascii_alphanumeric())
}
