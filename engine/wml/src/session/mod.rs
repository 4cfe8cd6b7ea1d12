//! Executing a text: one command after the other, until its end or a signal.

mod peers;
mod shell;
mod trees;
mod watch;

use std::fs;

use crate::clock::from_seconds;
use crate::failure::Failure;
use crate::fileset::{Prepared, sync};
use crate::model::{Program, Run, Step};
use crate::ops::hold_devices;
use crate::report::{FilesetReport, RunResult, failing, idle, notes, octaves, summary};
use crate::run::{Arena, Ending, Halt, Options, Timing, check_room, supervise};
use crate::signals;
use crate::stderr::{say, show};
use peers::Peers;
use trees::Trees;
use watch::Console;

/// What a text has done.
pub struct Done {
    pub filesets: Vec<FilesetReport>,
    pub prepared: Vec<Prepared>,
    pub notes: Vec<String>,
    pub runs: Vec<RunResult>,
    /// More operations of some run failed than may.
    pub failing: bool,
    /// In some run that went to its end nothing was done.
    pub idle: bool,
    /// What ended it early.
    pub halt: Option<Halt>,
}

struct Session<'a> {
    program: &'a Program,
    options: &'a Options,
    trees: Trees,
    peers: Option<Peers>,
    notes: Vec<String>,
    runs: Vec<RunResult>,
    failing: bool,
    idle: bool,
}

/// Do all commands of a text, if this machine has room for its runs.
pub fn execute(program: &Program, options: &Options) -> Done {
    let mut session = Session::new(program, options);
    let room = check_room(program).map_err(Halt::from);
    let halt = room.and_then(|()| session.steps()).err();
    session.done(halt)
}

/// Create the filesets of a text, or verify them if they have been created before.
pub fn prepare(program: &Program, options: &Options) -> Done {
    let mut session = Session::new(program, options);
    let steps = program.steps.iter();
    let needed: Vec<_> = steps
        .filter_map(|step| match step {
            Step::Create(filesets) => Some(filesets),
            Step::Run(run) => Some(&run.model.filesets),
            _ => None,
        })
        .collect();
    let provided = if needed.is_empty() {
        let message = "the text has no 'run' and no 'create files', so it needs no files";
        Err(Failure::new(message, "end it with: run").into())
    } else {
        let mut needed = needed.into_iter();
        needed.try_for_each(|filesets| session.trees.provide(filesets, options))
    };
    session.done(provided.err())
}

impl<'a> Session<'a> {
    fn new(program: &'a Program, options: &'a Options) -> Self {
        Self {
            program,
            options,
            trees: Trees::default(),
            peers: None,
            notes: Vec::new(),
            runs: Vec::new(),
            failing: false,
            idle: false,
        }
    }

    fn done(self, halt: Option<Halt>) -> Done {
        Done {
            filesets: self.trees.files().iter().map(FilesetReport::new).collect(),
            prepared: self.trees.into_prepared(),
            notes: self.notes,
            runs: self.runs,
            failing: self.failing,
            idle: self.idle,
            halt,
        }
    }

    fn steps(&mut self) -> Result<(), Halt> {
        for step in &self.program.steps {
            if let Some(name) = signals::pending() {
                return Err(Halt::by_signal(name));
            }
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Halt> {
        match step {
            Step::Say(text) => say!("{text}"),
            Step::Create(filesets) => self.trees.provide(filesets, self.options)?,
            Step::Sync => self.sync()?,
            Step::DropCaches => self.drop_caches()?,
            Step::Verify => self.trees.verify()?,
            Step::Sleep { duration_s } => watch::sleep(from_seconds(*duration_s))?,
            Step::System(command) => {
                if let Some(ended) = shell::run(command)? {
                    self.note(format!("system \"{command}\" {ended}"));
                }
            }
            Step::Meet { value } => self.peers()?.meet(*value)?,
            Step::Run(run) => self.run(run)?,
        }
        Ok(())
    }

    fn note(&mut self, note: String) {
        say!("fsgreen-wml: note: {note}");
        self.notes.push(note);
    }

    fn sync(&self) -> Result<(), Failure> {
        let mut files = self.trees.files().iter();
        files.try_for_each(sync)
    }

    /// Written data must be on the disk before the kernel can forget them.
    fn drop_caches(&mut self) -> Result<(), Failure> {
        self.sync()?;
        if let Err(error) = fs::write("/proc/sys/vm/drop_caches", "3") {
            self.note(format!("caches were not dropped: {error}"));
        }
        Ok(())
    }

    fn peers(&mut self) -> Result<&mut Peers, Failure> {
        if self.peers.is_none() {
            let multi = self.program.multi.as_ref();
            let multi = multi.ok_or_else(|| {
                Failure::new(
                    "domultisync needs 'enable multi'",
                    "leave it out, or add that above it",
                )
            })?;
            self.peers = Some(Peers::connect(multi)?);
        }
        Ok(self.peers.as_mut().expect("connected above"))
    }

    fn run(&mut self, run: &Run) -> Result<(), Halt> {
        let filesets = &run.model.filesets;
        self.trees.provide(filesets, self.options)?;
        self.trees.begin_run(run.model.claims_files());
        let nth = self.runs.len() + 1;
        let name = format!("run {nth}");
        let timing = Timing::new(run, self.options);
        let files = &self.trees.files()[..filesets.len()];
        let _held = hold_devices(&run.model, files, &self.options.overwrite)?;
        let arena = Arena::new(&run.model, files, self.options, &timing, nth)?;
        let mut console = Console::new(&name, &arena, run.statistics, &timing);
        let (ending, turns) = supervise(&arena, &timing, &mut console)?;
        console.clear();
        let result = RunResult::new(name, run, &timing, &arena, &ending, turns);
        show!("{}", summary(&result));
        if self.program.lathist {
            show!("{}", octaves(&result));
        }
        for note in notes(&arena, &result) {
            self.note(format!("{}: {note}", result.name));
        }
        if let Some(note) = idle(&result) {
            self.note(format!("{}: {note}", result.name));
            self.idle |= !result.partial;
        }
        for note in failing(&result, self.options.max_errors) {
            self.note(format!("{}: {note}", result.name));
            self.failing = true;
        }
        self.runs.push(result);
        match ending {
            Ending::Complete | Ending::Finished | Ending::Asked => Ok(()),
            Ending::Cut(reason) => Err(Halt::Cut(reason)),
        }
    }
}
