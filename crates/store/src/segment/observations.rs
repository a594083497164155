//! Encoding of observations as a segment, column by column, directly from memory.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::ops::Range;

use inband_model::table::OBSERVATIONS;
use inband_model::{Flow, HopColumns, HopField, ReportRecord, Values};
use parquet::errors::ParquetError;

use super::clocks::{offset_of_egress, offset_of_ingress, stored};
use super::encode::ColumnEncoder;
use super::file::FileBuilder;
use super::format::ZSTD_LEVEL;
use super::schema::{pairs, schema};
use crate::order::Order;
use crate::source::Source;

/// Writes hops in the given order.
pub(super) fn write_hops(mut file: File, columns: &HopColumns, order: &Order) -> Result<(), ParquetError> {
    let shape = OBSERVATIONS.shape();
    let mut builder = FileBuilder::new(schema(&stored(&shape))?, ZSTD_LEVEL)?;
    let mut group = Group::new(columns, order);
    let are_noisy: Vec<bool> = shape.columns.iter().map(|(name, ..)| NOISY.contains(name)).collect();
    let level = |name| if LIGHT.contains(name) { LIGHT_LEVEL } else { ZSTD_LEVEL };
    let levels: Vec<i32> = shape.columns.iter().map(|(name, ..)| level(name)).collect();
    let sources: Vec<_> = (0..are_noisy.len()).map(Source::of).collect();
    // Constant columns need no lookup per row.
    let are_same: Vec<bool> = sources.iter().map(|source| group.is_same(*source)).collect();
    let numbers: Vec<Vec<u64>> = sources
        .iter()
        .zip(&are_same)
        .map(|(source, is_same)| group.numbers_of_reports(*source, *is_same))
        .collect();
    let mut start = 0;
    for end in &order.groups {
        group.begin(start..*end as usize);
        start = *end as usize;
        for (column, source) in sources.iter().enumerate() {
            builder.set_level(levels[column])?;
            group.encode(*source, are_noisy[column], are_same[column], &numbers[column]);
            builder.add_column(group.rows.len(), group.encoder.encoded())?;
        }
        builder.set_level(ZSTD_LEVEL)?;
        group.encode_delays();
        builder.add_column(group.rows.len(), group.encoder.encoded())?;
        builder.end_group(group.rows.len())?;
    }
    file.write_all(&builder.finish(pairs(&shape))?)?;
    Ok(())
}

/// The current row group.
struct Group<'a> {
    columns: &'a HopColumns,
    order: &'a Order,
    rows: Range<usize>,
    /// The flows of its rows, with the number of rows of each.
    flows: Vec<(Option<Flow>, u32)>,
    /// The fields that any hop has, and those that all have.
    any: u16,
    all: u16,
    encoder: ColumnEncoder,
    /// The timestamp to which each report's offsets refer.
    anchors: Vec<Option<i64>>,
    /// The numbers of the current column.
    numbers: Vec<u64>,
}

impl<'a> Group<'a> {
    fn new(columns: &'a HopColumns, order: &'a Order) -> Group<'a> {
        let (encoder, flows, numbers) = (ColumnEncoder::new(), Vec::new(), Vec::new());
        let present = columns.present().iter();
        let (any, all) = present.fold((0, u16::MAX), |(any, all), bits| (any | bits, all & bits));
        let anchors = anchors(columns, order);
        Group { columns, order, rows: 0..0, flows, any, all, encoder, anchors, numbers }
    }

    /// Whether a column is constant.
    fn is_same(&self, source: Source) -> bool {
        let reports = &self.order.reports;
        match source {
            Source::Report(of) => are_same(reports, of),
            Source::OptionalReport(of) => are_same(reports, of),
            Source::Flag(of) => are_same(reports, of),
            Source::Word(of) => are_same(reports, of),
            Source::Flow(_) | Source::Address(_) => false,
            Source::Hop(field) => match self.columns.values(field) {
                _ if field.is_in(self.any) != field.is_in(self.all) => false,
                Values::Narrow(values) => values.iter().all(|value| *value == values[0]),
                Values::Wide(values) => values.iter().all(|value| *value == values[0]),
            },
        }
    }

    /// The numbers of the reports, if they differ.
    fn numbers_of_reports(&self, source: Source, is_same: bool) -> Vec<u64> {
        match source {
            Source::Report(of) if !is_same => {
                self.order.reports.iter().map(|report| signed(of(report))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn begin(&mut self, rows: Range<usize>) {
        let order = self.order;
        self.flows.clear();
        let first = order.flows.partition_point(|(end, _)| *end as usize <= rows.start);
        let mut start = rows.start;
        for (end, report) in &order.flows[first..] {
            let end = (*end as usize).min(rows.end);
            self.flows.push((order.reports[*report as usize].flow, count(end - start)));
            start = end;
            if end == rows.end {
                break;
            }
        }
        self.rows = rows;
    }

    /// Encodes the next column; `numbers` are those of the reports, if not constant.
    fn encode(&mut self, source: Source, is_noisy: bool, is_same: bool, numbers: &[u64]) {
        self.encoder.begin();
        let order = self.order;
        let first = &order.reports[order.report_of[self.rows.start] as usize];
        let all = count(self.rows.len());
        let rows = order.report_of[self.rows.clone()].iter();
        let reports = rows.map(|report| &order.reports[*report as usize]);
        match source {
            Source::Report(of) if is_same => self.encoder.put_repeated(&[(signed(of(first)), all)]),
            Source::Report(_) => {
                self.numbers.clear();
                let reports = order.report_of[self.rows.clone()].iter();
                self.numbers.extend(reports.map(|report| numbers[*report as usize]));
                self.put(is_noisy);
            }
            Source::OptionalReport(of) if is_same => self.put_optional(&[(of(first), all)]),
            Source::OptionalReport(of) => {
                let numbers: Vec<_> = reports.map(|report| (of(report), 1)).collect();
                self.put_optional(&numbers);
            }
            Source::Flag(of) if is_same => self.encoder.put_flag(of(first), self.rows.len()),
            Source::Flag(of) => self.encoder.put_flags(reports.map(of)),
            Source::Word(of) if is_same => {
                self.encoder.put_texts([(of(first), all)].into_iter(), str::to_owned);
            }
            Source::Word(of) => self.encoder.put_texts(reports.map(|report| (of(report), 1)), str::to_owned),
            Source::Flow(of) => {
                let number = |(flow, length): &(Option<Flow>, u32)| (flow.as_ref().map(of), *length);
                let numbers: Vec<_> = self.flows.iter().map(number).collect();
                self.put_optional(&numbers);
            }
            Source::Address(of) => {
                let flows = self.flows.iter();
                self.encoder.put_levels(flows.clone().map(|(flow, length)| (flow.is_some(), *length)));
                let addresses = flows.filter_map(|(flow, length)| Some((of(flow.as_ref()?), *length)));
                self.encoder.put_texts(addresses, |address: IpAddr| address.to_string());
            }
            Source::Hop(HopField::IngressTimestamp) => self.put_offsets(HopField::IngressTimestamp),
            Source::Hop(HopField::EgressTimestamp) => self.put_offsets(HopField::EgressTimestamp),
            Source::Hop(field) if is_same => {
                let value = self.columns.value(field, order.hops[self.rows.start] as usize);
                match field.bit() {
                    0 => self.encoder.put_repeated(&[(signed(value.unwrap_or(0)), all)]),
                    _ => self.put_optional(&[(value, all)]),
                }
            }
            Source::Hop(field) => self.put_field(field, is_noisy),
        }
    }

    /// Adds optional numbers with their repetitions.
    fn put_optional(&mut self, numbers: &[(Option<u64>, u32)]) {
        self.encoder.put_levels(numbers.iter().map(|(number, length)| (number.is_some(), *length)));
        let present = numbers.iter().filter_map(|(number, length)| Some((signed((*number)?), *length)));
        self.encoder.put_repeated(&present.collect::<Vec<_>>());
    }

    fn put_field(&mut self, field: HopField, is_noisy: bool) {
        self.put_levels_of(field);
        let hops = &self.order.hops[self.rows.clone()];
        let present = self.columns.present();
        let all = field.is_in(self.all);
        self.numbers.clear();
        let hops = hops.iter().map(|hop| *hop as usize);
        let there = hops.clone().filter(|hop| field.is_in(present[*hop]));
        match self.columns.values(field) {
            Values::Narrow([]) | Values::Wide([]) => {}
            Values::Narrow(values) if all => self.numbers.extend(hops.map(|hop| u64::from(values[hop]))),
            Values::Narrow(values) => self.numbers.extend(there.map(|hop| u64::from(values[hop]))),
            Values::Wide(values) if all => self.numbers.extend(hops.map(|hop| signed(values[hop]))),
            Values::Wide(values) => self.numbers.extend(there.map(|hop| signed(values[hop]))),
        }
        self.put(is_noisy);
    }

    /// Adds a timestamp of the node's clock as an offset.
    fn put_offsets(&mut self, field: HopField) {
        self.put_levels_of(field);
        self.numbers.clear();
        let (columns, order) = (self.columns, self.order);
        let number = |field, hop| stamp(columns, field, hop);
        for row in self.rows.clone() {
            let hop = order.hops[row] as usize;
            let Some(stamp) = number(field, hop) else { continue };
            let anchor = self.anchors[order.report_of[row] as usize].unwrap_or(0);
            let offset = match field {
                HopField::EgressTimestamp => offset_of_egress(anchor, stamp),
                _ => {
                    let egress = number(HopField::EgressTimestamp, hop);
                    offset_of_ingress(anchor, egress, number(HopField::Latency, hop), stamp)
                }
            };
            self.numbers.push(offset.cast_unsigned());
        }
        self.put(field == HopField::EgressTimestamp);
    }

    /// Encodes the time from each report's anchor to its arrival.
    fn encode_delays(&mut self) {
        self.encoder.begin();
        let order = self.order;
        let reports = || order.report_of[self.rows.clone()].iter().map(|report| *report as usize);
        self.encoder.put_levels(reports().map(|report| (self.anchors[report].is_some(), 1)));
        self.numbers.clear();
        let delay = |report: usize| {
            let time = signed(order.reports[report].received_at.0).cast_signed();
            Some((time - self.anchors[report]?).cast_unsigned())
        };
        self.numbers.extend(reports().filter_map(delay));
        self.put(true);
    }

    fn put(&mut self, is_noisy: bool) {
        match is_noisy && !self.numbers.is_empty() {
            true => self.encoder.put_noisy(&self.numbers),
            false => self.encoder.put_numbers(&self.numbers),
        }
    }

    /// Sets which hops have an optional field.
    fn put_levels_of(&mut self, field: HopField) {
        let hops = &self.order.hops[self.rows.clone()];
        let present = self.columns.present();
        let (some, all) = (field.is_in(self.any), field.is_in(self.all));
        if field.bit() != 0 {
            let all_rows = [(all, count(hops.len()))];
            let levels = hops.iter().map(|hop| (field.is_in(present[*hop as usize]), 1));
            match some == all {
                true => self.encoder.put_levels(all_rows.into_iter()),
                false => self.encoder.put_levels(levels),
            }
        }
    }
}

/// The last timestamp of each report: of its last hop that has one, the egress or else the ingress timestamp.
fn anchors(columns: &HopColumns, order: &Order) -> Vec<Option<i64>> {
    let mut anchors = vec![None; order.reports.len()];
    // The hops of a report are in path order.
    for (hop, report) in order.hops.iter().zip(&order.report_of) {
        let of = |field| stamp(columns, field, *hop as usize);
        let last = of(HopField::EgressTimestamp).or_else(|| of(HopField::IngressTimestamp));
        if last.is_some() {
            anchors[*report as usize] = last;
        }
    }
    anchors
}

/// A number of a hop, limited to 63 bits.
fn stamp(columns: &HopColumns, field: HopField, hop: usize) -> Option<i64> {
    columns.value(field, hop).map(|number| signed(number).cast_signed())
}

/// Whether a property is the same for all reports.
fn are_same<T: PartialEq>(reports: &[ReportRecord], of: impl Fn(&ReportRecord) -> T) -> bool {
    let Some((first, rest)) = reports.split_first() else { return true };
    let first = of(first);
    rest.iter().all(|report| of(report) == first)
}

/// A number as stored in files, limited to 63 bits.
fn signed(number: u64) -> u64 {
    number.min(i64::MAX.cast_unsigned())
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// Columns whose values are nearly all distinct, without a pattern.
const NOISY: [&str; 6] =
    ["time", "hop_latency", "queue_occupancy", "egress_utilization", "buffer_occupancy", "sequence"];
/// Columns of small random numbers: matches found with a higher level take more space than they save.
const LIGHT: [&str; 3] = ["queue_occupancy", "egress_utilization", "buffer_occupancy"];
const LIGHT_LEVEL: i32 = 1;
