//! The sources in memory for the columns of `observations`.

use std::net::IpAddr;
use std::ops::Range;

use inband_model::table::OBSERVATIONS;
use inband_model::{Flow, HopColumns, HopField, ReportRecord, Values};

use crate::history::ColumnData;

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// A number of the report.
    Report(fn(&ReportRecord) -> u64),
    /// An optional number of the report.
    OptionalReport(fn(&ReportRecord) -> Option<u64>),
    /// A flag of the report.
    Flag(fn(&ReportRecord) -> bool),
    /// A string of the report.
    Word(fn(&ReportRecord) -> &'static str),
    /// A number of the flow; missing without a flow.
    Flow(fn(&Flow) -> u64),
    /// An address of the flow; missing without a flow.
    Address(fn(&Flow) -> IpAddr),
    /// A field of the hop.
    Hop(HopField),
}

impl Source {
    /// The source of a column of the observations.
    ///
    /// # Panics
    /// The table has no such column.
    pub(crate) fn of(column: usize) -> Source {
        SOURCES[column].1
    }

    /// The values of some hops.
    pub(crate) fn column(self, columns: &HopColumns, hops: Range<usize>) -> ColumnData {
        let reports = Reports::new(columns, hops.clone());
        match self {
            Source::Report(of) => ColumnData::of_integers(reports.map(|report| integer(of(report)))),
            Source::OptionalReport(of) => {
                ColumnData::of_optional_integers(reports.map(|report| of(report).map(integer)))
            }
            Source::Flag(of) => ColumnData::Flags(reports.map(of).collect()),
            Source::Word(of) => {
                ColumnData::of_texts(reports.map(|report| Some(of(report))), |word| word.to_owned())
            }
            Source::Flow(of) => {
                let value = |report: &ReportRecord| report.flow.as_ref().map(of).map(integer);
                ColumnData::of_optional_integers(reports.map(value))
            }
            Source::Address(of) => {
                let address = |report: &ReportRecord| report.flow.as_ref().map(of);
                ColumnData::of_texts(reports.map(address), |address: IpAddr| address.to_string())
            }
            Source::Hop(field) => hop_column(columns, field, hops),
        }
    }
}

fn hop_column(columns: &HopColumns, field: HopField, hops: Range<usize>) -> ColumnData {
    let values: Vec<i64> = match columns.values(field) {
        Values::Narrow([]) | Values::Wide([]) => vec![0; hops.len()],
        Values::Narrow(values) => values[hops.clone()].iter().map(|value| i64::from(*value)).collect(),
        Values::Wide(values) => values[hops.clone()].iter().map(|value| integer(*value)).collect(),
    };
    let valid = || columns.present()[hops].iter().map(|present| field.is_in(*present)).collect();
    let valid = (field.bit() != 0).then(valid);
    ColumnData::Integers { values, valid }
}

/// The report of each hop.
struct Reports<'a> {
    columns: &'a HopColumns,
    hops: Range<usize>,
    report: usize,
}

impl<'a> Reports<'a> {
    fn new(columns: &'a HopColumns, hops: Range<usize>) -> Reports<'a> {
        let report = columns.ends().partition_point(|end| *end as usize <= hops.start);
        Reports { columns, hops, report }
    }
}

impl<'a> Iterator for Reports<'a> {
    type Item = &'a ReportRecord;

    fn next(&mut self) -> Option<&'a ReportRecord> {
        let hop = self.hops.next()?;
        while self.columns.ends()[self.report] as usize <= hop {
            self.report += 1;
        }
        Some(&self.columns.reports()[self.report])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.hops.size_hint()
    }
}

/// A number as in files and SQL.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The columns of `observations` in order.
const SOURCES: [(&str, Source); 33] = [
    ("time", Source::Report(|report| report.received_at.0)),
    ("flow_id", Source::Flow(|flow| flow.id().0)),
    ("source", Source::Address(|flow| flow.source)),
    ("destination", Source::Address(|flow| flow.destination)),
    ("protocol", Source::Flow(|flow| flow.protocol.into())),
    ("source_port", Source::Flow(|flow| flow.source_port.into())),
    ("destination_port", Source::Flow(|flow| flow.destination_port.into())),
    ("hop_index", Source::Hop(HopField::HopIndex)),
    ("hop_count", Source::Report(|report| report.hop_count.into())),
    ("node_id", Source::Hop(HopField::NodeId)),
    ("ingress_interface", Source::Hop(HopField::IngressInterface)),
    ("egress_interface", Source::Hop(HopField::EgressInterface)),
    ("ingress_interface_level2", Source::Hop(HopField::IngressInterfaceLevel2)),
    ("egress_interface_level2", Source::Hop(HopField::EgressInterfaceLevel2)),
    ("hop_latency", Source::Hop(HopField::Latency)),
    ("queue_id", Source::Hop(HopField::QueueId)),
    ("queue_occupancy", Source::Hop(HopField::QueueOccupancy)),
    ("ingress_timestamp", Source::Hop(HopField::IngressTimestamp)),
    ("egress_timestamp", Source::Hop(HopField::EgressTimestamp)),
    ("egress_utilization", Source::Hop(HopField::EgressUtilization)),
    ("buffer_id", Source::Hop(HopField::BufferId)),
    ("buffer_occupancy", Source::Hop(HopField::BufferOccupancy)),
    ("origin", Source::Word(|report| report.origin.name())),
    ("dropped", Source::Flag(|report| report.dropped)),
    ("congested_queue", Source::Flag(|report| report.congested_queue)),
    ("tracked_flow", Source::Flag(|report| report.tracked_flow)),
    ("intermediate", Source::Flag(|report| report.intermediate)),
    ("drop_reason", Source::OptionalReport(|report| report.drop_reason.map(u64::from))),
    ("report_version", Source::Word(|report| report.version.name())),
    ("reporter", Source::Report(|report| report.reporter.0.into())),
    ("hw_id", Source::Report(|report| report.hw_id.into())),
    ("sequence", Source::Report(|report| report.sequence.into())),
    ("report_index", Source::Report(|report| report.report_index.into())),
];

const _: () = assert!(SOURCES.len() == OBSERVATIONS.columns.len(), "each column has a source");

#[cfg(test)]
mod tests;
