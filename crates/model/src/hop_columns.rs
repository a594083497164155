//! Hops of many reports in memory: columns, with the fields common to a report stored once.

mod field;

use std::ops::Range;

use crate::{HopRecord, ReportRecord};

use self::field::Adder;
pub use self::field::{HopField, HopFields, Values};

/// Hops of reports, in the order of arrival. Consecutive hops with equal report fields belong to the same
/// report.
///
/// A field that no hop has takes no memory.
#[derive(Debug, Clone, Default)]
pub struct HopColumns {
    reports: Vec<ReportRecord>,
    /// End of each report's hops.
    ends: Vec<u32>,
    /// Fields that each hop has, see [`HopField::bit`].
    present: Vec<u16>,
    /// Empty, or a value for each hop: 0 where it has none.
    narrow: [Vec<u32>; HopField::NARROW],
    /// Empty, or a value for each hop: 0 where it has none.
    wide: [Vec<u64>; HopField::WIDE],
}

impl HopColumns {
    /// Maximum number of hops.
    pub const MAX_HOPS: usize = 1 << 30;

    /// Creates columns from their parts; `None` when the parts are inconsistent.
    #[must_use]
    pub fn from_parts(
        reports: Vec<ReportRecord>,
        ends: Vec<u32>,
        present: Vec<u16>,
        narrow: [Vec<u32>; HopField::NARROW],
        wide: [Vec<u64>; HopField::WIDE],
    ) -> Option<HopColumns> {
        let hops = present.len();
        let last = ends.last().map_or(0, |end| *end as usize);
        let fits = |length: usize| length == 0 || length == hops;
        let is_whole = reports.len() == ends.len()
            && ends.is_sorted()
            && last == hops
            && hops <= HopColumns::MAX_HOPS
            && narrow.iter().all(|column| fits(column.len()))
            && wide.iter().all(|column| fits(column.len()));
        is_whole.then_some(HopColumns { reports, ends, present, narrow, wide })
    }

    /// The number of hops.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present.len()
    }

    /// Whether there are no hops.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// Approximate memory use, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.reports)
            + size_of_val(&*self.ends)
            + size_of_val(&*self.present)
            + self.narrow.iter().map(|column| size_of_val(&**column)).sum::<usize>()
            + self.wide.iter().map(|column| size_of_val(&**column)).sum::<usize>()
    }

    /// The reports that the hops belong to.
    #[must_use]
    pub fn reports(&self) -> &[ReportRecord] {
        &self.reports
    }

    /// End of each report's hops.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The hops of a report.
    #[must_use]
    #[inline]
    pub fn hops_of(&self, report: usize) -> Range<usize> {
        let start = report.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..self.ends[report] as usize
    }

    /// Fields that each hop has, see [`HopField::bit`].
    #[must_use]
    pub fn present(&self) -> &[u16] {
        &self.present
    }

    /// The values of a field, 0 where a hop has none; empty when no hop has one.
    #[must_use]
    #[inline]
    pub fn values(&self, field: HopField) -> Values<'_> {
        match field.place() {
            Ok(narrow) => Values::Narrow(&self.narrow[narrow]),
            Err(wide) => Values::Wide(&self.wide[wide]),
        }
    }

    /// The value of a field of a hop; `None` where it has none.
    #[must_use]
    #[inline]
    pub fn value(&self, field: HopField, hop: usize) -> Option<u64> {
        if !field.is_in(self.present[hop]) {
            return None;
        }
        match self.values(field) {
            Values::Narrow(values) => Some(values.get(hop).copied()?.into()),
            Values::Wide(values) => values.get(hop).copied(),
        }
    }

    /// Adds a hop.
    pub fn push(&mut self, hop: &HopRecord) {
        self.extend_from_slice(std::slice::from_ref(hop));
    }

    /// Adds hops; those of one report must be consecutive.
    ///
    /// # Panics
    /// There are more than [`HopColumns::MAX_HOPS`].
    pub fn extend_from_slice(&mut self, hops: &[HopRecord]) {
        let before = self.len();
        assert!(before + hops.len() <= HopColumns::MAX_HOPS, "hops of one log are fewer");
        let mut any = 0;
        for hop in hops {
            let report = ReportRecord::of(hop);
            let end = u32::try_from(self.present.len() + 1).unwrap_or(u32::MAX);
            if self.reports.last() == Some(&report) {
                self.ends.pop();
            } else {
                self.reports.push(report);
            }
            self.ends.push(end);
            let present = field::present(0, hop);
            any |= present;
            self.present.push(present);
        }
        let adder = Adder { before, hops, any };
        adder.add_narrow(&mut self.narrow);
        adder.add_wide(&mut self.wide);
    }

    /// Adds the hops of one report; does nothing if there are none.
    ///
    /// # Panics
    /// There are more than [`HopColumns::MAX_HOPS`].
    pub fn add_report<H: HopFields>(&mut self, report: ReportRecord, hops: &[H]) {
        if hops.is_empty() {
            return;
        }
        let before = self.len();
        let after = before + hops.len();
        assert!(after <= HopColumns::MAX_HOPS, "hops of one log are fewer");
        self.reports.push(report);
        self.ends.push(u32::try_from(after).unwrap_or(u32::MAX));
        self.present.extend(hops.iter().enumerate().map(|(place, hop)| field::present(place, hop)));
        let any = self.present[before..].iter().fold(0, |any, present| any | present);
        let adder = Adder { before, hops, any };
        adder.add_narrow(&mut self.narrow);
        adder.add_wide(&mut self.wide);
    }

    /// Adds the hops of other columns.
    ///
    /// # Panics
    /// There are more than [`HopColumns::MAX_HOPS`].
    pub fn append(&mut self, other: &HopColumns) {
        if other.is_empty() {
            return;
        }
        let (before, after) = (self.len(), self.len() + other.len());
        assert!(after <= HopColumns::MAX_HOPS, "hops of one log are fewer");
        let start = u32::try_from(before).unwrap_or(u32::MAX);
        self.reports.extend_from_slice(&other.reports);
        self.ends.extend(other.ends.iter().map(|end| end + start));
        self.present.extend_from_slice(&other.present);
        for (column, more) in self.narrow.iter_mut().zip(&other.narrow) {
            append(column, more, before, after);
        }
        for (column, more) in self.wide.iter_mut().zip(&other.wide) {
            append(column, more, before, after);
        }
    }

    /// Removes all but the first `reports` reports.
    pub fn truncate(&mut self, reports: usize) {
        self.reports.truncate(reports);
        self.ends.truncate(reports);
        let hops = self.ends.last().map_or(0, |end| *end as usize);
        self.present.truncate(hops);
        self.narrow.iter_mut().for_each(|column| column.truncate(hops));
        self.wide.iter_mut().for_each(|column| column.truncate(hops));
    }

    /// Moves the hops of `other` to the end of these; empty columns take over its memory.
    pub fn take_from(&mut self, other: &mut HopColumns) {
        if self.is_empty() {
            std::mem::swap(self, other);
        } else {
            self.append(other);
        }
        other.clear();
    }

    /// Removes all hops and keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// The hops as they were added.
    pub fn iter(&self) -> impl Iterator<Item = HopRecord> + '_ {
        (0..self.reports.len())
            .flat_map(move |report| self.hops_of(report).map(move |hop| self.record(report, hop)))
    }

    fn record(&self, report: usize, hop: usize) -> HopRecord {
        let mut record = self.reports[report].hop();
        for field in HopField::ALL {
            if let Some(value) = self.value(field, hop) {
                field.set(&mut record, value);
            }
        }
        record
    }
}

fn append<T: Copy + Default>(column: &mut Vec<T>, more: &[T], before: usize, after: usize) {
    if more.is_empty() && column.is_empty() {
        return;
    }
    column.resize(before, T::default());
    column.extend_from_slice(more);
    column.resize(after, T::default());
}

impl PartialEq for HopColumns {
    fn eq(&self, other: &HopColumns) -> bool {
        self.iter().eq(other.iter())
    }
}

impl FromIterator<HopRecord> for HopColumns {
    fn from_iter<I: IntoIterator<Item = HopRecord>>(hops: I) -> HopColumns {
        let mut columns = HopColumns::default();
        hops.into_iter().for_each(|hop| columns.push(&hop));
        columns
    }
}

impl From<&[HopRecord]> for HopColumns {
    fn from(hops: &[HopRecord]) -> HopColumns {
        let mut columns = HopColumns::default();
        columns.extend_from_slice(hops);
        columns
    }
}

#[cfg(test)]
mod tests;
