//! What does the demo print where nobody can redraw: into a file or a pipe?

use std::io::{self, Write};
use std::time::Duration;

use inband_collector::Output;
use inband_model::Event;

use super::words;
use super::{Progress, Show};

/// Prints events as they come, the ledger every second, and flows and queues at the end.
pub(super) struct Lines<W> {
    out: W,
    next_ledger: Duration,
    events: Vec<(Duration, Event)>,
}

/// Time between two lines of the ledger.
const EVERY: Duration = Duration::from_secs(1);
/// Queues in the summary.
const QUEUES: usize = 3;

impl<W: Write> Lines<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, next_ledger: EVERY, events: Vec::new() }
    }
}

impl<W: Write> Show for Lines<W> {
    fn output(&mut self, output: &Output, elapsed: Duration) -> io::Result<()> {
        match output {
            Output::Event(event) => self.events.push((elapsed, event.clone())),
            Output::Observation(_) => {}
        }
        Ok(())
    }

    fn tick(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        for (elapsed, event) in self.events.drain(..) {
            let sentence = words::event(&event, progress.scenario);
            writeln!(self.out, "{:>7}  {}: {sentence}", words::seconds(elapsed), event.kind())?;
        }
        if progress.elapsed >= self.next_ledger {
            self.next_ledger += EVERY;
            writeln!(self.out, "{:>7}  {}", words::seconds(progress.elapsed), ledger(progress))?;
        }
        self.out.flush()
    }

    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.next_ledger = Duration::ZERO;
        self.tick(progress)?;
        summary(&mut self.out, progress)
    }
}

/// The ledger in one line.
fn ledger(progress: &Progress<'_>) -> String {
    let ledger = progress.monitor.ledger();
    let count = words::count;
    format!(
        "reports: {} received, {} accepted, {} malformed, {} duplicate, {} shed, {} lost",
        count(ledger.received),
        count(ledger.accepted),
        count(ledger.malformed),
        count(ledger.duplicate),
        count(ledger.shed),
        count(ledger.lost),
    )
}

/// The flows and the deepest queues, and what became of packets and reports, on 80 columns.
pub(super) fn summary(out: &mut dyn Write, progress: &Progress<'_>) -> io::Result<()> {
    let count = words::count;
    writeln!(out, "\n{:<36} {:<19} {:>12} {:>9}", "Flow", "Path", "Hops, us", "Reports")?;
    for flow in progress.monitor.flows() {
        let path = flow.path.map(|path| words::path(path, progress.scenario)).unwrap_or_default();
        let (latencies, reports) = (words::latencies(&flow), count(flow.reports));
        writeln!(out, "{:<36} {path:<19} {latencies:>12} {reports:>9}", flow.flow.to_string())?;
    }
    writeln!(out, "\nDeepest queues of the run")?;
    let mut queues = progress.monitor.deepest_queues(usize::MAX);
    queues.sort_by_key(|queue| std::cmp::Reverse(queue.max));
    for queue in queues.iter().take(QUEUES) {
        writeln!(out, "{:<36} {}", words::queue(queue, progress.scenario), words::bytes(queue.max))?;
    }
    let packets = progress.scenario.packets();
    let changed = packets.mismatched_total();
    writeln!(
        out,
        "\nPackets: {} sent, {} delivered as they were, {} changed, {} dropped",
        count(packets.sent),
        count(packets.delivered - changed),
        count(changed),
        count(packets.dropped_total()),
    )?;
    let ledger = progress.monitor.ledger();
    writeln!(
        out,
        "Reports: {} sent, {} received, {} accepted, {} malformed, {} shed, {} lost",
        count(progress.sent),
        count(ledger.received),
        count(ledger.accepted),
        count(ledger.malformed),
        count(ledger.shed),
        count(ledger.lost),
    )?;
    out.flush()
}
