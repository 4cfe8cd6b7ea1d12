//! A run: threads that work for a time, and what each of them did in its measured part.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use wml::clock::{SECOND_NS, from_seconds, now_ns};
use wml::histogram::{BUCKETS, bucket_of};
use wml::random::Stream;
use wml::record::LatencyTotal;
use wml::signals;

use crate::cost::Cost;
use crate::mix::{MOST_SCANNED, Mix, Operation};
use crate::requests::Chooser;
use crate::rocksdb::Database;
use crate::table::{Records, key};

/// What a run is asked for.
pub struct Asked {
    pub mix: Mix,
    /// Records that were loaded, and the bytes of each.
    pub records: u64,
    pub record_b: usize,
    pub threads: usize,
    pub seed: u64,
    pub warmup_s: f64,
    pub duration_s: f64,
    /// Operations per second over all threads; as fast as it goes without.
    pub load_ops_s: Option<f64>,
    /// Whether an update reads the record before it replaces it, as YCSB's binding does.
    pub read_before_update: bool,
}

/// What was done of one operation.
#[derive(Clone, Default)]
pub struct Done {
    pub work_ops: u64,
    pub latency: LatencyTotal,
    /// Reads of records that were not there.
    pub missing: u64,
}

/// What one thread did in the measured part.
pub struct Worked {
    /// By the place in [`Operation::ALL`].
    pub done: Vec<Done>,
    /// Operations, bytes read and bytes written of each second.
    pub seconds: Vec<[u64; 3]>,
    /// When its last operation ended.
    pub last_ns: Option<u64>,
}

/// A run that has ended.
pub struct Ended {
    pub start_ns: u64,
    pub measure_ns: u64,
    pub end_ns: u64,
    pub threads: Vec<Worked>,
    pub cost: Cost,
    /// Why it ended early.
    pub cut: Option<String>,
}

/// Work on a database until the time is over, a signal comes, or an operation fails.
pub fn run(database: &Database, asked: &Asked) -> Result<Ended, String> {
    let start_ns = now_ns();
    let measure_ns = start_ns + from_seconds(asked.warmup_s);
    let until_ns = measure_ns + from_seconds(asked.duration_s);
    let shared = Shared {
        database,
        asked,
        records: Records::new(asked.records),
        start_ns,
        measure_ns,
        end_ns: AtomicU64::new(until_ns),
        failed: Mutex::new(None),
    };
    let (threads, cost, cut) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..asked.threads)
            .map(|number| {
                let shared = &shared;
                scope.spawn(move || Worker::new(shared, number).work())
            })
            .collect();
        let mut cut = shared.wait_until(measure_ns);
        let before = Cost::now();
        if cut.is_none() {
            cut = shared.wait_until(until_ns);
        }
        if cut.is_some() {
            shared.end_ns.fetch_min(now_ns(), SeqCst);
        }
        let cost = Cost::now().since(before);
        let join = |thread: std::thread::ScopedJoinHandle<Worked>| thread.join();
        let threads: Vec<_> = threads.into_iter().map(join).collect();
        (threads, cost, cut)
    });
    if let Some(said) = shared.failure() {
        return Err(said);
    }
    let end_ns = shared.end_ns.load(SeqCst);
    Ok(Ended {
        start_ns,
        measure_ns: measure_ns.min(end_ns),
        end_ns,
        threads: threads
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|_| "a thread failed")?,
        cost,
        cut,
    })
}

struct Shared<'a> {
    database: &'a Database<'a>,
    asked: &'a Asked,
    records: Records,
    start_ns: u64,
    measure_ns: u64,
    end_ns: AtomicU64,
    failed: Mutex<Option<String>>,
}

impl Shared<'_> {
    /// Wait for a time; why it was not reached.
    fn wait_until(&self, time_ns: u64) -> Option<String> {
        while now_ns() < time_ns {
            let next_ns = time_ns.min(now_ns() + SECOND_NS / 10);
            if let Err(signal) = signals::sleep_until(next_ns) {
                return Some(format!("stopped by {signal}"));
            }
            if let Some(said) = self.failure() {
                return Some(said);
            }
        }
        None
    }

    fn failure(&self) -> Option<String> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.clone()
    }

    fn fail(&self, said: String) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert(said);
        self.end_ns.fetch_min(now_ns(), SeqCst);
    }
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    stream: Stream,
    chooser: Chooser,
    /// What is written, and what was read.
    record: Vec<u8>,
    read: Vec<u8>,
    worked: Worked,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, number: usize) -> Self {
        let asked = shared.asked;
        let mut stream = Stream::new(asked.seed, &["thread", &number.to_string()]);
        let mut record = vec![0; asked.record_b];
        stream.fill(&mut record);
        let seconds = asked.duration_s.ceil() as usize;
        Self {
            shared,
            stream,
            chooser: Chooser::new(asked.mix.requests, asked.records),
            record,
            read: Vec::with_capacity(asked.record_b),
            worked: Worked {
                done: vec![Done::default(); Operation::ALL.len()],
                seconds: vec![[0; 3]; seconds],
                last_ns: None,
            },
        }
    }

    fn work(mut self) -> Worked {
        let asked = self.shared.asked;
        let pause_ns = asked
            .load_ops_s
            .map(|load| SECOND_NS as f64 * asked.threads as f64 / load);
        for nth in 0u64.. {
            if let Some(pause_ns) = pause_ns {
                let due_ns = self.shared.start_ns + (nth as f64 * pause_ns) as u64;
                let due_ns = due_ns.min(self.shared.end_ns.load(SeqCst));
                while now_ns() < due_ns {
                    std::thread::sleep(std::time::Duration::from_nanos(
                        due_ns - now_ns().min(due_ns),
                    ));
                }
            }
            let operation = asked.mix.next(&mut self.stream);
            let begin_ns = now_ns();
            if begin_ns >= self.shared.end_ns.load(SeqCst) {
                break;
            }
            match self.perform(operation) {
                Ok(bytes) => self.count(operation, begin_ns, bytes),
                Err(said) => {
                    self.shared.fail(said);
                    break;
                }
            }
        }
        self.worked
    }

    /// Do one operation; return the bytes read and written, None if the record was not there.
    fn perform(&mut self, operation: Operation) -> Result<Option<[u64; 2]>, String> {
        let (shared, asked) = (self.shared, self.shared.asked);
        let database = shared.database;
        if operation == Operation::Insert {
            let record = shared.records.new_one();
            self.renew();
            database.put(&key(record), &self.record)?;
            shared.records.written(record);
            return Ok(Some([0, self.record.len() as u64]));
        }
        let there = shared.records.there();
        let chosen = self.chooser.next(&mut self.stream, asked.records, there);
        let name = key(chosen);
        if operation == Operation::Scan {
            let count = 1 + self.stream.below(MOST_SCANNED);
            let read_b = database.scan(&name, count, &mut self.read)?;
            return Ok(Some([read_b, 0]));
        }
        let reads = match operation {
            Operation::Read => 1,
            Operation::Update => u64::from(asked.read_before_update),
            // Its write is an update: YCSB's binding reads the record twice.
            _ => 1 + u64::from(asked.read_before_update),
        };
        for _ in 0..reads {
            if database.get(&name, &mut self.read)?.is_none() {
                return Ok(None);
            }
        }
        let read_b = reads * self.read.len() as u64;
        if operation == Operation::Read {
            return Ok(Some([read_b, 0]));
        }
        self.renew();
        database.put(&name, &self.record)?;
        Ok(Some([read_b, self.record.len() as u64]))
    }

    /// Make another record: its first bytes are new, so that no two are the same.
    fn renew(&mut self) {
        let head = self.record.len().min(64);
        self.stream.fill(&mut self.record[..head]);
    }

    fn count(&mut self, operation: Operation, begin_ns: u64, bytes: Option<[u64; 2]>) {
        let end_ns = now_ns();
        if end_ns < self.shared.measure_ns || end_ns >= self.shared.end_ns.load(SeqCst) {
            return;
        }
        let done = &mut self.worked.done[operation as usize];
        let Some([read_b, write_b]) = bytes else {
            done.missing += 1;
            return;
        };
        let latency_ns = end_ns - begin_ns;
        done.work_ops += 1;
        done.latency.sum_ns += latency_ns;
        done.latency.max_ns = done.latency.max_ns.max(latency_ns);
        debug_assert_eq!(done.latency.buckets.len(), BUCKETS);
        done.latency.buckets[bucket_of(latency_ns)] += 1;
        self.worked.last_ns = Some(end_ns);
        let second = ((end_ns - self.shared.measure_ns) / SECOND_NS) as usize;
        for (sum, add) in self.worked.seconds[second]
            .iter_mut()
            .zip([1, read_b, write_b])
        {
            *sum += add;
        }
    }
}
