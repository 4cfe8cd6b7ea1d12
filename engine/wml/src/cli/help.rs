//! What `--help` says.

use super::arguments::Command;

pub const HELP: &str = "\
fsgreen-wml runs workloads that are written in the Workload Model Language.

  fsgreen-wml check FILE.f      say what is wrong with a text
  fsgreen-wml fmt FILE.f        print it in the common format
  fsgreen-wml prepare FILE.f    create its files
  fsgreen-wml verify FILE.f     say whether its files are as they were created
  fsgreen-wml run FILE.f        do everything that it says

Each command has its own --help. Exit status: 0 done; 1 failed; 2 the text or the words are wrong;
3 it ended early and its results are partial; 4 more operations failed than --max-errors allows, or
a run did nothing.

Example: fsgreen-wml run webserver.f --set dir=/mnt/test --json results.json
";

const CHECK: &str = "\
fsgreen-wml check FILE.f [--set NAME=VALUE]...

Parse the text and check every name and value, and warn of what this machine has no room for: too
many threads, or files for which no file system has the space. Nothing is created.

Example: fsgreen-wml check webserver.f --set dir=/mnt/test --set scale=0.1
";

const FMT: &str = "\
fsgreen-wml fmt FILE.f [--write]

Print the text in the common format, with its comments; with --write the file is replaced.

Example: fsgreen-wml fmt mine.f --write
";

const PREPARE: &str = "\
fsgreen-wml prepare FILE.f [--set NAME=VALUE]... [--seed N] [--json OUT] [--die-with-parent]

Create all filesets of the text; trees that were made before are replaced. The same seed makes
the same trees. With --die-with-parent it ends when its caller does, however that ends.

Example: fsgreen-wml prepare webserver.f --set dir=/mnt/test --set scale=0.1 --seed 7
";

const VERIFY: &str = "\
fsgreen-wml verify FILE.f [--set NAME=VALUE]... [--seed N] [--die-with-parent]

Compare a sample of the files with what 'prepare' makes of the same text and seed. Exit status 1
if they differ.

Example: fsgreen-wml verify webserver.f --set dir=/mnt/test --set scale=0.1 --seed 7
";

const RUN: &str = "\
fsgreen-wml run FILE.f [--set NAME=VALUE]... [--seed N] [--prepared]
                [--warmup SECONDS] [--duration SECONDS] [--interval SECONDS]
                [--max-errors N|N%] [--overwrite DEVICE=IDENTITY]... [--turns] [--json OUT]
                [--die-with-parent]

Do all commands of the text. A table of each run goes to the standard error, all results as JSON
to OUT, of which '-' is the standard output; without --json there too, unless it is a terminal.
With --duration a text without a 'run' is done as if it ended with one.

  --prepared   the trees must be as 'prepare' left them with the same seed, and are not created
  --warmup     of every run, instead of what the text says (nothing)
  --duration   of every run, instead of what the text says; 60 s if it says nothing, or, in the
               quit modes firstdone and alldone, until that is so
  --interval   of the series in the results (1 s)
  --max-errors how many operations of a run, or which share of those of each flowop, may fail
               (50%); with more the exit status is 4
  --overwrite  everything on this block device may be destroyed; IDENTITY is its serial number
               (lsblk -o NAME,SERIAL), of a loop device the file behind it (losetup --list)
  --turns      work in turns: each line of the standard input is a length in seconds, answered by a
               line of JSON on the standard output; between turns the run and its clock stand still,
               and the end of the input ends it. The results go to a file, which --json names

Example: fsgreen-wml run webserver.f --set dir=/mnt/test --seed 7 --warmup 5 --duration 60 \\
             --json results.json
";

pub fn of(command: Command) -> &'static str {
    match command {
        Command::Check => CHECK,
        Command::Fmt => FMT,
        Command::Prepare => PREPARE,
        Command::Verify => VERIFY,
        Command::Run => RUN,
    }
}
