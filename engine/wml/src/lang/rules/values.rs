//! Whether the numbers of a flowop make sense together.

use crate::model::{Flowop, MAX_EVENTS, MAX_IN_FLIGHT, Model, Operation, Thread};
use crate::random::Amount;

/// The asynchronous requests that a thread makes.
pub struct Outstanding {
    aio: bool,
    uring: bool,
}

impl Outstanding {
    pub fn of(thread: &Thread) -> Self {
        use Operation as O;
        let has = |wanted: &[O]| {
            thread
                .flowops
                .iter()
                .any(|flowop| wanted.contains(&flowop.operation))
        };
        Self {
            aio: has(&[O::AioWrite]),
            uring: has(&[O::UringRead, O::UringWrite]),
        }
    }
}

/// What is wrong with the numbers of a flowop.
pub fn check(flowop: &Flowop, outstanding: &Outstanding) -> Option<String> {
    use Operation as O;
    let name = flowop.operation.name();
    let value = &flowop.value;
    match flowop.operation {
        O::Read
        | O::Write
        | O::AppendFile
        | O::AppendFileRand
        | O::Fallocate
        | O::MmapRead
        | O::MmapWrite
        | O::AioWrite
        | O::UringRead
        | O::UringWrite
            if flowop.iosize.mean() < 1.0 =>
        {
            Some(format!("{name} needs an iosize"))
        }
        _ if flowop.streams > 1
            && (flowop.random || !matches!(flowop.operation, O::Read | O::UringRead)) =>
        {
            Some("'streams' belongs to a sequential read".to_owned())
        }
        O::AioWrite if !flowop.random => {
            Some("aiowrite is random only: add the attribute 'random'".to_owned())
        }
        O::UringRead | O::UringWrite
            if value.mean() < 1.0 || value.usual_maximum() > MAX_IN_FLIGHT as f64 =>
        {
            Some(format!(
                "the value of {name} is how many may be in flight: from 1 to {MAX_IN_FLIGHT}"
            ))
        }
        O::AioWait if !outstanding.aio => {
            Some("aiowait has nothing to wait for: this thread has no aiowrite".to_owned())
        }
        O::UringWait if !outstanding.uring => Some(
            "uringwait has nothing to wait for: this thread has no uringread and no uringwrite"
                .to_owned(),
        ),
        O::SemPost | O::FinishOnCount | O::FinishOnBytes if value.mean() < 1.0 => {
            Some(format!("{name} needs a value of at least 1"))
        }
        O::SemBlock | O::SemPost if value.usual_maximum() > f64::from(MAX_EVENTS) => {
            Some(format!("the value of {name} is at most {MAX_EVENTS}"))
        }
        O::SemBlock => semblock(flowop),
        O::TestRandvar if matches!(value, Amount::Fixed(_)) => {
            Some("testrandvar needs a random variable as its value".to_owned())
        }
        _ => None,
    }
}

/// Whether a post that waits for room can wait for more than its targets ever have.
pub fn posts_too_much(flowop: &Flowop, model: &Model) -> Option<String> {
    let most = flowop.value.usual_maximum();
    let targets = flowop.targets.iter().map(|id| model.flowop(*id));
    let narrow = targets
        .filter(|_| flowop.operation == Operation::SemPost && flowop.blocking)
        .find(|target| room(target) < most)?;
    let (name, highwater) = (&narrow.name, narrow.highwater);
    Some(format!(
        "a blocking sempost of {most} waits for ever: the highwater of '{name}' is {highwater}"
    ))
}

/// The most that posts may be ahead of a semblock.
fn room(semblock: &Flowop) -> f64 {
    let given_back = match semblock.gives_back_first() {
        true => semblock.value.usual_maximum(),
        false => 0.0,
    };
    f64::from(semblock.highwater) + given_back
}

fn semblock(flowop: &Flowop) -> Option<String> {
    let lacks = flowop.value.usual_maximum() < 1.0;
    lacks.then(|| "semblock needs a value of at least 1".to_owned())
}

/// Whether a semblock waits for more than posts may be ahead.
pub fn is_narrow(flowop: &Flowop) -> bool {
    flowop.operation == Operation::SemBlock && flowop.gives_back_first()
}
