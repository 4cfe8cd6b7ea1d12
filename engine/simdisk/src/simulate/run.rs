//! The discrete-event loop: from one moment at which something happens to the next.

use crate::device::Device;
use crate::host::{Request, RequestQueue, Served};
use crate::time::{Ns, sooner};

/// Who issues requests in virtual time.
pub trait Source {
    /// When it issues something next without a further answer, if it does.
    fn next(&self) -> Option<Ns>;

    /// Append what it issues at a time.
    fn issue(&mut self, at: Ns, requests: &mut Vec<Request>);

    /// Hear of an answer. What it issues on that comes with the next `issue`, at the same time.
    fn answered(&mut self, served: &Served);

    /// It has issued everything and heard of every answer.
    fn is_finished(&self) -> bool;
}

/// Let a source have its requests served from a time on; when it has finished. `note` hears of each
/// answer.
///
/// # Panics
/// If the device stays silent though it has requests.
pub fn run<D: Device + ?Sized>(
    queue: &mut RequestQueue<D>,
    source: &mut impl Source,
    start: Ns,
    mut note: impl FnMut(&Served),
) -> Ns {
    let (mut events, mut answers, mut requests) = (Vec::new(), Vec::new(), Vec::new());
    let mut now = start;
    queue.keep_served();
    while !source.is_finished() {
        let soonest = sooner(queue.next(), source.next());
        now = soonest.expect("a device with requests answers one day");
        queue.step(now, &mut events);
        // No data are moved in virtual time.
        events.clear();
        answers.extend(queue.served());
        for served in answers.drain(..) {
            source.answered(&served);
            note(&served);
        }
        source.issue(now, &mut requests);
        for request in requests.drain(..) {
            queue.offer(now, request);
        }
    }
    now
}
