//! The columns of an event.

use crate::table::{Cells, Column, Table};
use crate::{Confidence, EndReason, EventId, Nanos, Phase, Severity};

/// An event as stored; its detail and its evidence are JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Name of the kind, in kebab case.
    pub kind: String,
    /// How severe it is.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// Events with the same kind and key have the same subject.
    pub key: String,
    /// When the first report it is based on arrived here.
    pub first: Nanos,
    /// When the last report it is based on arrived here.
    pub last: Nanos,
    /// Number of reports it is based on.
    pub count: u64,
    /// What only this kind of event has, as JSON.
    pub detail: String,
    /// References to reports, as JSON.
    pub evidence: String,
    /// Whether it begins, ends, or happened once.
    pub phase: Phase,
    /// Whether a silence covers it.
    pub silenced: bool,
    /// Why it has ended; `None` while it has not.
    pub end_reason: Option<EndReason>,
    /// Its id.
    pub id: EventId,
    /// The nodes it names or whose reports it is based on, in ascending order: a blank, then each id followed
    /// by a blank.
    pub nodes: String,
}

/// A row for each event.
pub const EVENTS: Table<EventRow> = Table {
    name: "events",
    about: "what the collector announced",
    columns: &[
        column("time", "when the last report it is based on arrived", Cells::Time(|row| row.last)),
        column("first", "when the first report it is based on arrived", Cells::Time(|row| row.first)),
        column("kind", "path-change, queue-congestion, report-loss ...", Cells::Text(|row| row.kind.clone())),
        column("severity", "info, warning or critical", Cells::Word(|row| severity(row.severity))),
        column("confidence", "possible, probable or certain", Cells::Word(|row| confidence(row.confidence))),
        column("key", "the subject of the event", Cells::Text(|row| row.key.clone())),
        column("count", "number of reports it is based on", Cells::Integer(|row| row.count)),
        column("detail", "fields of this kind of event, JSON", Cells::Text(|row| row.detail.clone())),
        column(
            "evidence",
            "references to some of its reports, JSON",
            Cells::Text(|row| row.evidence.clone()),
        ),
        column("phase", "once, begin or end", Cells::Word(|row| phase(row.phase))),
        column("silenced", "whether a silence covers it", Cells::Flag(|row| row.silenced)),
        column(
            "end_reason",
            "over, quiet or run-ended for phase end; empty otherwise",
            Cells::Word(|row| row.end_reason.map_or("", EndReason::name)),
        ),
        // Segments of earlier versions do not have these.
        column("id", "id of the event, in hexadecimal", Cells::OptionalText(|row| Some(row.id.to_string()))),
        column(
            "nodes",
            "nodes it names or whose reports it is based on: ' 3 11 '",
            Cells::OptionalText(|row| Some(row.nodes.clone())),
        ),
    ],
};

const fn column(name: &'static str, about: &'static str, cells: Cells<EventRow>) -> Column<EventRow> {
    Column { name, about, cells }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Once => "once",
        Phase::Begin => "begin",
        Phase::End => "end",
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Possible => "possible",
        Confidence::Probable => "probable",
        Confidence::Certain => "certain",
    }
}
