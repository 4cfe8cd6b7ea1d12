//! Readers, each of a file of its own, and the workers that ask for them.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Barrier, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use readahead::{Order, Reads, Request};
use serde::Serialize;

use super::link::Tally;
use super::session::{Handle, Session};
use crate::fault::Fault;
use crate::lock::locked;

/// What is read, and how.
#[derive(Clone, Debug)]
pub struct Load {
    /// Below the export, each by a reader of its own.
    pub files: Vec<String>,
    /// Of one file: of its first whole MiB those that are read, all if 0.
    pub mib: u32,
    pub read_kib: u32,
    /// Parts of a file that are read in turn.
    pub strides: u32,
    pub order: Order,
    /// Of the requests of a reader, those that it asks for late, behind so many others.
    pub late_percent: u32,
    pub late_places: u32,
    /// Requests of a reader beyond the one that it waits for.
    pub ahead: usize,
    /// Threads that each send a request and wait for its reply, as `nfsiod` does.
    pub workers: usize,
    /// Threads that compute all the time, beside.
    pub busy: usize,
}

/// How it went. Rates are in 10^6 B/s.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub read_b: u64,
    pub duration_s: f64,
    pub mb_s: f64,
    pub readers: Vec<Reading>,
    #[serde(flatten)]
    pub tally: Tally,
}

#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    pub file: String,
    pub read_b: u64,
    pub duration_s: f64,
}

/// A file and what is read of it.
struct Plan {
    file: String,
    handle: Handle,
    requests: Vec<Request>,
}

impl Plan {
    fn size_b(&self) -> u64 {
        self.requests.iter().map(|request| request.count_b).sum()
    }
}

struct Job<'a> {
    handle: &'a [u8],
    request: Request,
    /// Among those of its reader.
    nth: usize,
    done: Sender<(usize, io::Result<()>)>,
}

/// Jobs in the order in which readers asked for them.
#[derive(Default)]
struct Queue<'a> {
    jobs: Mutex<(VecDeque<Job<'a>>, bool)>,
    changed: Condvar,
}

impl<'a> Queue<'a> {
    fn put(&self, job: Job<'a>) {
        locked(&self.jobs).0.push_back(job);
        self.changed.notify_one();
    }

    /// The next job with the number of its call; none once all is over.
    fn take(&self, session: &Session) -> Option<(Job<'a>, u32)> {
        let mut jobs = locked(&self.jobs);
        loop {
            if let Some(job) = jobs.0.pop_front() {
                return Some((job, session.number()));
            }
            if jobs.1 {
                return None;
            }
            jobs = self.changed.wait(jobs).ok()?;
        }
    }

    fn close(&self) {
        locked(&self.jobs).1 = true;
        self.changed.notify_all();
    }
}

/// How far it is: bytes that were read, of all that are to be.
#[derive(Debug, Default)]
pub struct Progress {
    pub read_b: AtomicU64,
    pub all_b: AtomicU64,
}

/// Read all.
///
/// # Errors
/// If a file is not there or too small, a number is out of its bounds, or the server goes.
pub fn run(session: &Session, load: &Load, progress: &Progress) -> Result<Report, Fault> {
    let plans: Vec<Plan> = load
        .files
        .iter()
        .map(|file| plan(session, load, file))
        .collect::<Result<_, _>>()?;
    let all_b = plans.iter().map(Plan::size_b).sum();
    progress.all_b.store(all_b, Ordering::Relaxed);
    let (queue, is_over) = (Queue::default(), AtomicBool::new(false));
    let together = Barrier::new(plans.len());
    let read = |plan| {
        together.wait();
        read(plan, load.ahead, &queue)
    };
    let readings: Vec<Result<Reading, Fault>> = thread::scope(|scope| {
        for _ in 0..load.busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for _ in 0..load.workers.max(1) {
            scope.spawn(|| work(session, &queue, progress));
        }
        let read = &read;
        let readers: Vec<_> = plans
            .iter()
            .map(|plan| scope.spawn(move || read(plan)))
            .collect();
        let ended = readers.into_iter().map(|reader| {
            reader.join().unwrap_or_else(|_| {
                Err(Fault::new(
                    "a reader ended early",
                    "fsgreen-nfs",
                    "report it",
                ))
            })
        });
        let ended = ended.collect();
        is_over.store(true, Ordering::Relaxed);
        queue.close();
        ended
    });
    let readers = readings.into_iter().collect::<Result<Vec<_>, _>>()?;
    let duration_s = readers
        .iter()
        .map(|reading| reading.duration_s)
        .fold(0.0, f64::max);
    Ok(Report {
        read_b: all_b,
        duration_s,
        mb_s: all_b as f64 / duration_s / 1e6,
        readers,
        tally: session.tally(),
    })
}

fn plan(session: &Session, load: &Load, file: &str) -> Result<Plan, Fault> {
    let (handle, attributes) = session
        .look_up(file)
        .map_err(|error| Fault::of(file, &error, "name a file by its path below the export"))?;
    let wrong = |what: String| Fault::new(what, file, "fsgreen-nfs read --help");
    let whole_mib = u32::try_from(attributes.size_b >> 20).unwrap_or(u32::MAX);
    if !attributes.is_file || whole_mib < load.mib.max(1) {
        return Err(wrong(format!(
            "this is no file of {} MiB or more",
            load.mib.max(1)
        )));
    }
    let reads = Reads {
        files: 1,
        total_mib: if load.mib == 0 { whole_mib } else { load.mib },
        read_kib: load.read_kib,
        streams: load.strides,
        order: load.order,
        late_percent: load.late_percent,
        late_places: load.late_places,
        seed: 0,
    };
    let mut requests = reads.by_file().map_err(wrong)?;
    Ok(Plan {
        file: file.to_owned(),
        handle,
        requests: requests.remove(0),
    })
}

/// Ask for each request in turn, some ahead of the one that is waited for.
fn read<'a>(plan: &'a Plan, ahead: usize, queue: &Queue<'a>) -> Result<Reading, Fault> {
    let begin = Instant::now();
    let (done, answers) = channel();
    let mut is_done = vec![false; plan.requests.len()];
    let mut coming = plan.requests.iter().enumerate();
    for waited_for in 0..plan.requests.len() {
        let within = waited_for + 1 + ahead;
        let asked = plan.requests.len() - coming.len();
        for (nth, &request) in coming.by_ref().take(within.saturating_sub(asked)) {
            queue.put(Job {
                handle: &plan.handle,
                request,
                nth,
                done: done.clone(),
            });
        }
        while !is_done[waited_for] {
            let gone = |_| Fault::new("the workers ended", &plan.file, "report it");
            let (nth, answer) = answers.recv().map_err(gone)?;
            answer.map_err(|error| Fault::of(&plan.file, &error, "see whether the server runs"))?;
            is_done[nth] = true;
        }
    }
    Ok(Reading {
        file: plan.file.clone(),
        read_b: plan.size_b(),
        duration_s: begin.elapsed().as_secs_f64(),
    })
}

fn work(session: &Session, queue: &Queue<'_>, progress: &Progress) {
    while let Some((job, number)) = queue.take(session) {
        let answer = answer(session, &job, number);
        if answer.is_ok() {
            let count_b = job.request.count_b;
            progress.read_b.fetch_add(count_b, Ordering::Relaxed);
        }
        // A reader that met with an error waits no longer.
        let _ = job.done.send((job.nth, answer));
    }
}

/// Read all that is asked for: what a server does not send at once is asked for again.
fn answer(session: &Session, job: &Job<'_>, mut number: u32) -> io::Result<()> {
    let Request {
        mut offset_b,
        count_b,
        ..
    } = job.request;
    let end_b = offset_b + count_b;
    while offset_b < end_b {
        let data = session.read(number, job.handle, offset_b, (end_b - offset_b) as u32)?;
        if data.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset_b += data.len() as u64;
        number = session.number();
    }
    Ok(())
}
