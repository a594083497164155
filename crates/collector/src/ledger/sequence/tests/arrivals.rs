//! The arrivals of a stream in time, and how many of each kind they were found to be.

use std::collections::BTreeSet;

use inband_model::Nanos;

use crate::ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};

/// Reports on their way: when each arrives, in microseconds, the run of the node it belongs to, and its
/// number.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    reports: Vec<(u64, u32, u32)>,
}

/// How many reports were found to be what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) accepted: u64,
    pub(super) duplicate: u64,
    pub(super) reordered: u64,
    pub(super) late: u64,
    pub(super) resets: u64,
    pub(super) lost: u64,
}

/// What of a run of a node arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truth {
    /// Different reports.
    pub(super) reports: u64,
    /// Numbers that are missing between the lowest and the highest of their run.
    pub(super) lost: u64,
}

impl Arrivals {
    pub(super) fn add(&mut self, at_us: u64, run: u32, number: u32) {
        self.reports.push((at_us, run, number));
    }

    pub(super) fn truth(&self) -> Truth {
        let sent: BTreeSet<(u32, u32)> =
            self.reports.iter().map(|(_, run, number)| (*run, *number)).collect();
        let mut lost = 0;
        for run in self.reports.iter().map(|(_, run, _)| *run).collect::<BTreeSet<_>>() {
            let numbers = || sent.range((run, 0)..=(run, u32::MAX)).map(|(_, number)| u64::from(*number));
            let extent = numbers().max().zip(numbers().min()).map_or(0, |(last, first)| last - first + 1);
            lost += extent - numbers().count() as u64;
        }
        Truth { reports: sent.len() as u64, lost }
    }

    /// Passes all reports to a sequence, in the order of their arrival.
    pub(super) fn found(&self) -> Found {
        self.found_by(&settings(), SequenceSpace::REPORT_2_0)
    }

    pub(super) fn found_by(&self, settings: &LedgerSettings, space: SequenceSpace) -> Found {
        let mut reports = self.reports.clone();
        reports.sort_by_key(|(at, ..)| *at);
        let at = |us: u64| Nanos::from_secs(1_700_000_000) + Nanos::from_micros(us);
        let (first_at, _, first) = reports[0];
        let mut sequence = Sequence::new(space, settings, at(first_at), first);
        let mut found = Found { accepted: 1, ..Found::default() };
        for (us, _, number) in &reports[1..] {
            match sequence.arrive(settings, at(*us), *number) {
                Arrival::InOrder | Arrival::Gap(_) => {}
                Arrival::Reordered => found.reordered += 1,
                Arrival::Late => found.late += 1,
                Arrival::Reset(_) => found.resets += 1,
                Arrival::Duplicate => {
                    found.duplicate += 1;
                    continue;
                }
                Arrival::LossUnknown => panic!("nothing is unknown"),
            }
            found.accepted += 1;
        }
        sequence.give_up();
        Found { lost: sequence.lost(), ..found }
    }
}

/// The settings of a collector where reports may be 500 ms late.
pub(super) fn settings() -> LedgerSettings {
    LedgerSettings { confirm_after_ms: 500, ..LedgerSettings::default() }
}

/// Numbers that look random.
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
