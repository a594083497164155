//! The columns of the evidence of an event.

use crate::ReportBytes;
use crate::table::{Cells, Column, Table};

/// A row for each report that an event is based on, with its bytes.
pub const REPORTS: Table<ReportBytes> = Table {
    name: "reports",
    about: "the bytes of reports that events rest on",
    columns: &[
        column("time", "when the report arrived", Cells::Time(|row| row.report.received_at)),
        column("event", "id of the event, in hexadecimal", Cells::Text(|row| row.event.to_string())),
        column("node_id", "the reporting node", Cells::Integer(|row| row.report.node_id.0.into())),
        column("hw_id", "the part of it that numbers reports", Cells::Integer(|row| row.report.hw_id.into())),
        column(
            "sequence",
            "sequence number of the datagram",
            Cells::Integer(|row| row.report.sequence.into()),
        ),
        column("version", "version of the report", Cells::Word(|row| row.version.name())),
        column("source", "sender of the datagram", Cells::Text(|row| row.from.to_string())),
        column("session", "socket the datagram was sent to", Cells::Text(|row| row.to.to_string())),
        column("length", "bytes of the datagram", Cells::Integer(|row| row.length.into())),
        column("bytes", "its first 1,536 bytes, in hexadecimal", Cells::Text(ReportBytes::hex)),
    ],
};

const fn column(name: &'static str, about: &'static str, cells: Cells<ReportBytes>) -> Column<ReportBytes> {
    Column { name, about, cells }
}
