//! The demo's output to a file or a pipe, where nothing can be redrawn.

use std::io::{self, Write};
use std::time::Duration;

use inband_collector::Output;
use inband_model::Event;

use super::show::{Progress, Show};
use super::{table, words};

/// Prints events as they arrive, the ledger every second, and flows and queues at the end.
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
            for line in table::event(elapsed, &event, progress.scenario, usize::MAX) {
                writeln!(self.out, "{line}")?;
            }
        }
        if progress.elapsed >= self.next_ledger {
            self.next_ledger += EVERY;
            let reports = table::reports(&progress.monitor.ledger());
            writeln!(self.out, "{:>7}  {reports}", words::seconds(progress.elapsed))?;
        }
        self.out.flush()
    }

    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.next_ledger = Duration::ZERO;
        self.tick(progress)?;
        summary(&mut self.out, progress)
    }
}

/// The flows, the deepest queues, and what became of packets and reports, in 80 columns.
pub(super) fn summary(out: &mut dyn Write, progress: &Progress<'_>) -> io::Result<()> {
    let scenario = progress.scenario;
    writeln!(out, "\n{}", table::flow_heading())?;
    for flow in progress.monitor.flows() {
        writeln!(out, "{}", table::flow(&flow, scenario))?;
    }
    writeln!(out, "\nDeepest queues of the run")?;
    let mut queues = progress.monitor.queues();
    queues.retain(|queue| queue.max > 0);
    queues.sort_by_key(|queue| std::cmp::Reverse(queue.max));
    for queue in queues.iter().take(QUEUES) {
        writeln!(out, "{:<36} {:>10}", words::queue_name(queue, scenario), words::occupancy(queue.max))?;
    }
    if queues.is_empty() {
        writeln!(out, "All were empty whenever a packet came")?;
    }
    writeln!(out, "\n{}", table::packets(scenario))?;
    writeln!(
        out,
        "{}; {} were sent",
        table::reports(&progress.monitor.ledger()),
        words::count(progress.sent)
    )?;
    out.flush()
}
