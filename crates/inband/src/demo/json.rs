//! The output of `inband demo --json`.

use std::io::{self, Write};
use std::time::Duration;

use inband_collector::Output;
use inband_model::{Event, EventDetail, Flow, Ledger, Observation};
use serde::Serialize;

use super::show::{Progress, Show};

/// Prints one JSON object per line.
pub(super) struct Json<W> {
    out: W,
    next_ledger: Duration,
}

/// Time between two ledger lines.
const EVERY: Duration = Duration::from_secs(1);

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Line<'a> {
    Ledger { received: u64, accepted: u64, malformed: u64, duplicate: u64, shed: u64, lost: u64 },
    Path { flow: Flow, path: Vec<u32>, hop_latency: &'a [Option<u64>] },
    Event(EventLine<'a>),
}

#[derive(Serialize)]
struct EventLine<'a> {
    // The event's name, and after its key the `detail`: the order in which people read.
    event: String,
    key: &'a str,
    detail: serde_json::Value,
    phase: inband_model::Phase,
    severity: inband_model::Severity,
    confidence: inband_model::Confidence,
    first: u64,
    last: u64,
    count: u64,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, next_ledger: EVERY }
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    fn ledger(&mut self, ledger: &Ledger) -> io::Result<()> {
        self.line(&Line::Ledger {
            received: ledger.received,
            accepted: ledger.accepted,
            malformed: ledger.malformed,
            duplicate: ledger.duplicate,
            shed: ledger.shed,
            lost: ledger.lost,
        })
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.line(&Line::Event(EventLine {
            event: event.kind().to_string(),
            key: &event.key,
            detail: detail(&event.detail)?,
            phase: event.phase,
            severity: event.severity,
            confidence: event.confidence,
            first: event.first.0,
            last: event.last.0,
            count: event.count,
        }))
    }
}

/// The detail of an event without its name, which is printed separately.
fn detail(detail: &EventDetail) -> serde_json::Result<serde_json::Value> {
    let mut value = serde_json::to_value(detail)?;
    Ok(value.get_mut("detail").map(serde_json::Value::take).unwrap_or_default())
}

impl<W: Write> Show for Json<W> {
    fn output(&mut self, output: &Output, _elapsed: Duration) -> io::Result<()> {
        match output {
            Output::Observation(Observation::Path(observed)) => self.line(&Line::Path {
                flow: observed.flow,
                path: observed.path.hops().iter().map(|hop| hop.node_id.0).collect(),
                hop_latency: &observed.hop_latency,
            }),
            Output::Event(event) => self.event(event),
            Output::Observation(_) => Ok(()),
        }
    }

    fn tick(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        if progress.elapsed < self.next_ledger {
            return Ok(());
        }
        self.next_ledger += EVERY;
        self.ledger(&progress.monitor.ledger())
    }

    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.ledger(&progress.monitor.ledger())
    }
}
