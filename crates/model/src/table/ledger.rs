//! The columns of a ledger snapshot.

use crate::table::{Cells, Column, Table};
use crate::{Ledger, LedgerView, Nanos, StreamLedger};

/// The totals, or one stream, at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// When the ledger was read.
    pub taken_at: Nanos,
    /// The totals, or one stream.
    pub scope: LedgerScope,
}

/// The scope of a ledger row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerScope {
    /// The totals.
    Total(Ledger),
    /// One stream.
    Stream(StreamLedger),
}

impl LedgerRow {
    /// The rows of a snapshot: the totals first, then each stream.
    pub fn of(taken_at: Nanos, view: &LedgerView) -> impl Iterator<Item = LedgerRow> {
        let streams = view.streams.iter().cloned().map(LedgerScope::Stream);
        std::iter::once(LedgerScope::Total(view.total))
            .chain(streams)
            .map(move |scope| LedgerRow { taken_at, scope })
    }

    fn stream(&self) -> Option<&StreamLedger> {
        match &self.scope {
            LedgerScope::Stream(stream) => Some(stream),
            LedgerScope::Total(_) => None,
        }
    }

    /// A count that only the totals have.
    fn total(&self, count: fn(&Ledger) -> u64) -> Option<u64> {
        match &self.scope {
            LedgerScope::Total(total) => Some(count(total)),
            LedgerScope::Stream(_) => None,
        }
    }

    /// A count that both the totals and each stream have.
    fn both(&self, total: fn(&Ledger) -> u64, stream: fn(&StreamLedger) -> u64) -> u64 {
        match &self.scope {
            LedgerScope::Total(ledger) => total(ledger),
            LedgerScope::Stream(ledger) => stream(ledger),
        }
    }
}

/// Snapshots of the ledger: a row for the totals, and one for each stream.
pub const LEDGER: Table<LedgerRow> = Table {
    name: "ledger",
    about: "counts at one time: the totals, where node_id is null, and each stream",
    columns: &[
        column("time", "when the counts were read", Cells::Time(|row| row.taken_at)),
        column(
            "node_id",
            "the reporting node",
            Cells::OptionalInteger(|row| Some(row.stream()?.node_id.0.into())),
        ),
        column(
            "hw_id",
            "the part of the node that numbers reports",
            Cells::OptionalInteger(|row| Some(row.stream()?.hw_id.into())),
        ),
        column(
            "session",
            "socket reports were sent to",
            Cells::OptionalText(|row| Some(row.stream()?.session.to_string())),
        ),
        column(
            "version",
            "version of the reports",
            Cells::OptionalText(|row| Some(row.stream()?.version.clone())),
        ),
        column("received", "datagrams", Cells::OptionalInteger(|row| row.total(|total| total.received))),
        column(
            "kernel_dropped",
            "datagrams",
            Cells::OptionalInteger(|row| row.total(|total| total.kernel_dropped)),
        ),
        column("malformed", "datagrams", Cells::OptionalInteger(|row| row.total(|total| total.malformed))),
        column("shed", "datagrams", Cells::OptionalInteger(|row| row.total(|total| total.shed))),
        column(
            "accepted",
            "datagrams",
            Cells::Integer(|row| row.both(|total| total.accepted, |stream| stream.accepted)),
        ),
        column(
            "duplicate",
            "datagrams",
            Cells::Integer(|row| row.both(|total| total.duplicate, |stream| stream.duplicate)),
        ),
        column(
            "reordered",
            "datagrams",
            Cells::Integer(|row| row.both(|total| total.reordered, |stream| stream.reordered)),
        ),
        column("late", "datagrams", Cells::Integer(|row| row.both(|total| total.late, |stream| stream.late))),
        column("lost", "datagrams", Cells::Integer(|row| row.both(|total| total.lost, |stream| stream.lost))),
        column(
            "lost_unknown",
            "losses of an unknown number of datagrams",
            Cells::Integer(|row| row.both(|total| total.lost_unknown, |stream| stream.lost_unknown)),
        ),
        column(
            "accepted_reports",
            "reports",
            Cells::Integer(|row| row.both(|total| total.accepted_reports, |stream| stream.accepted_reports)),
        ),
        column("stored", "reports", Cells::OptionalInteger(|row| row.total(|total| total.stored))),
        column(
            "store_failed",
            "reports",
            Cells::OptionalInteger(|row| row.total(|total| total.store_failed)),
        ),
        column("exported", "messages", Cells::OptionalInteger(|row| row.total(|total| total.exported))),
        column(
            "export_failed",
            "messages",
            Cells::OptionalInteger(|row| row.total(|total| total.export_failed)),
        ),
        column("refused", "datagrams", Cells::OptionalInteger(|row| row.total(|total| total.refused))),
    ],
};

const fn column(name: &'static str, about: &'static str, cells: Cells<LedgerRow>) -> Column<LedgerRow> {
    Column { name, about, cells }
}
