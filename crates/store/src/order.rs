//! The order of hops in a segment: reports by flow, as many as fit a row group; within a row group by
//! reporter, flow and time, all first hops, then all second hops, and so on.
//!
//! Values of the reports thus repeat in the same order for each hop index, which compresses well, and a flow
//! is in few row groups.

use inband_model::{HopColumns, ReportRecord};

/// The order of some hops.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The reports, flow by flow.
    pub(crate) reports: Vec<ReportRecord>,
    /// The hop in each row.
    pub(crate) hops: Vec<u32>,
    /// The index into `reports` of each row.
    pub(crate) report_of: Vec<u32>,
    /// The end row of each run of hops with the same flow, and one of its reports.
    pub(crate) flows: Vec<(u32, u32)>,
    /// The end row of each row group.
    pub(crate) groups: Vec<u32>,
}

impl Order {
    /// Orders the hops of some reports, at most `most` hops per row group.
    pub(crate) fn of(columns: &HopColumns, reports: impl Iterator<Item = usize>, most: usize) -> Order {
        let all = columns.reports();
        let key = |report: usize| Key {
            flow: all[report].flow.map_or(0, |flow| flow.id().0 << 1 | 1),
            report: u32::try_from(report).unwrap_or(u32::MAX),
        };
        let mut keys: Vec<Key> = reports.map(key).collect();
        sort(&mut keys);
        let rows = keys.iter().map(|key| columns.hops_of(key.report as usize).len()).sum();
        let mut order = Order {
            reports: keys.iter().map(|key| all[key.report as usize]).collect(),
            hops: Vec::with_capacity(rows),
            report_of: Vec::with_capacity(rows),
            flows: Vec::new(),
            groups: Vec::new(),
        };
        let mut begin = 0;
        while begin < keys.len() {
            let flow = order.reports[begin].flow;
            let same = order.reports[begin..].iter().take_while(|report| report.flow == flow).count();
            let (reports, those) = (&mut order.reports[begin..begin + same], &mut keys[begin..begin + same]);
            // Reports mostly arrive in order of time.
            if !reports.is_sorted_by_key(|report| report.received_at) {
                those.sort_by_key(|key| all[key.report as usize].received_at);
                for (report, key) in reports.iter_mut().zip(those) {
                    *report = all[key.report as usize];
                }
            }
            begin += same;
        }
        let mut start = 0;
        while start < keys.len() {
            let mut rows = 0;
            let fits = |key: &&Key| {
                rows += columns.hops_of(key.report as usize).len();
                rows <= most
            };
            let end = start + keys[start..].iter().take_while(fits).count().max(1);
            order.add_group(columns, &keys, start..end);
            start = end;
        }
        order
    }

    /// Adds the hops of some reports as a row group: all first ones, then all second ones, and so on.
    fn add_group(&mut self, columns: &HopColumns, keys: &[Key], reports: std::ops::Range<usize>) {
        let first_report = u32::try_from(reports.start).unwrap_or(u32::MAX);
        // Reports of one reporter have much in common: its id, the last hop, the destination.
        let mut by_reporter: Vec<u32> = (0..u32::try_from(reports.len()).unwrap_or(u32::MAX)).collect();
        let all = &self.reports[reports.clone()];
        by_reporter.sort_by_key(|report| {
            let report = &all[*report as usize];
            (report.reporter, report.hw_id)
        });
        let keys: Vec<Key> =
            by_reporter.iter().map(|report| keys[reports.start + *report as usize]).collect();
        let sorted: Vec<ReportRecord> = by_reporter.iter().map(|report| all[*report as usize]).collect();
        self.reports[reports].copy_from_slice(&sorted);
        let mut last = None;
        let mut more = true;
        for index in 0.. {
            if !more {
                break;
            }
            more = false;
            for (report, key) in (first_report..).zip(&keys) {
                let hops = columns.hops_of(key.report as usize);
                if index < hops.len() {
                    more |= index + 1 < hops.len();
                    let flow = self.reports[report as usize].flow;
                    if let Some((same, of)) = last.replace((flow, report))
                        && same != flow
                    {
                        self.flows.push((self.rows(), of));
                    }
                    self.hops.push(u32::try_from(hops.start + index).unwrap_or(u32::MAX));
                    self.report_of.push(report);
                }
            }
        }
        if let Some((_, of)) = last {
            self.flows.push((self.rows(), of));
            self.groups.push(self.rows());
        }
    }

    /// Rows so far.
    fn rows(&self) -> u32 {
        u32::try_from(self.hops.len()).unwrap_or(u32::MAX)
    }
}

/// The sort key of a report; the order within a flow is kept.
#[derive(Debug, Clone, Copy, Default)]
struct Key {
    flow: u64,
    report: u32,
}

/// Sorts by flow: first by the leading bits, which are as good as random, then exactly where necessary.
fn sort(keys: &mut Vec<Key>) {
    let mut other = vec![Key::default(); keys.len()];
    for shift in (u64::BITS - SORTED_BITS..u64::BITS).step_by(DIGIT_BITS as usize) {
        let digit = |key: &Key| usize::try_from(key.flow >> shift & (DIGITS as u64 - 1)).unwrap_or(0);
        let mut places = [0_usize; DIGITS];
        for key in keys.iter() {
            places[digit(key)] += 1;
        }
        let mut place = 0;
        for count in &mut places {
            place += std::mem::replace(count, place);
        }
        for key in keys.iter() {
            let place = &mut places[digit(key)];
            other[*place] = *key;
            *place += 1;
        }
        std::mem::swap(keys, &mut other);
    }
    let leading = |key: &Key| key.flow >> (u64::BITS - SORTED_BITS);
    for alike in keys.chunk_by_mut(|one, next| leading(one) == leading(next)) {
        if !alike.is_sorted_by_key(|key| key.flow) {
            alike.sort_by_key(|key| key.flow);
        }
    }
}

/// Leading bits of the first sort.
const SORTED_BITS: u32 = 22;
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

#[cfg(test)]
mod tests;
