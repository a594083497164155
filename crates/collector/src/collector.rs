//! How a datagram becomes observations and events.

mod asked;
mod overflows;

use std::net::SocketAddr;

use inband_model::{HopColumns, Nanos, NodeId, ReportReference, Units};
use inband_wire::int::{CodePoints, Dialect, Reading};
use inband_wire::report::{AnyIndividual, AnyReport, Deviation, Leniency, ReportReading, ReportVersion};

use crate::correlate::Correlator;
use crate::detect::sequence_gap::NumberSettings;
use crate::ledger::{Arrival, LedgerSettings, PADDING_BITS, ReportLedger, Sender};
use crate::outbox::{Outbox, Output};
use crate::records::{Records, Told};
use crate::report::{self, Faults, Numbering, Reporter, Space};
use crate::settings::CollectorSettings;
use crate::sighting::Sighting;

pub use self::overflows::Overflows;

/// Takes telemetry reports in, and gives observations and events out.
///
/// It owns no socket and no clock: the caller hands in datagrams and the time, which neither jumps nor goes back, then
/// polls until there is nothing more.
#[derive(Debug)]
pub struct Collector {
    code_points: CodePoints<'static>,
    leniency: Leniency,
    ledger: ReportLedger,
    correlator: Correlator,
    /// Whether flows are followed.
    follow: bool,
    /// Where sources number packets, if they do.
    numbering: Option<Numbering>,
    summary_domain: u16,
    units: Units,
    malformed: Faults,
    unreadable: Faults,
    /// The report at hand; here so that its memory is used again.
    space: Space,
    outbox: Outbox,
    /// Hops for history; `None` when none is kept.
    records: Option<Records>,
    /// The latest time it was told of.
    told_at: Nanos,
}

impl Collector {
    /// Makes a collector that has seen nothing yet.
    #[must_use]
    pub fn new(settings: CollectorSettings) -> Collector {
        let (leniency, reading, dialect_marks): (_, _, &[Dialect]) = match settings.lenient {
            true => (Leniency::Lenient, Reading::Lenient, &Dialect::ALL),
            false => (Leniency::Strict, Reading::Strict, &[]),
        };
        Collector {
            code_points: CodePoints { reading, dialect_marks, ..CodePoints::DEFAULT },
            leniency,
            ledger: ReportLedger::new(
                LedgerSettings {
                    // A report that may be that late is not lost before.
                    confirm_after_ms: settings.ledger.confirm_after_ms.max(settings.paths.settle_ms),
                    ..settings.ledger
                },
                settings.events.report_loss.clone(),
                settings.events.health.clone(),
            ),
            follow: settings.paths.follow,
            numbering: numbering(&settings.events.sequence_gap),
            summary_domain: settings.events.sequence_gap.summary_domain,
            units: settings.events.units.clone(),
            correlator: Correlator::new(settings.paths, settings.ports, &settings.events),
            malformed: Faults::default(),
            unreadable: Faults::default(),
            space: Space::default(),
            outbox: Outbox::new(settings.max_outputs, settings.events.book()),
            records: None,
            told_at: Nanos::ZERO,
        }
    }

    /// Sets the code points by which INT is recognised in reported packets.
    #[must_use]
    pub fn with_code_points(self, code_points: CodePoints<'static>) -> Collector {
        Collector { code_points, ..self }
    }

    /// Has every hop of every report kept for `take_records`.
    #[must_use]
    pub fn with_records(self) -> Collector {
        Collector { records: Some(Records::default()), ..self }
    }

    /// Moves the hops of the reports since the last call to the end of `into`, and says of how many reports they
    /// are. Only with `with_records`, and best whenever some thousands wait: 65,536 hops may, and reports with more
    /// are dropped and counted in [`Overflows`].
    pub fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.records.as_mut().map_or(0, |records| records.take(into))
    }

    /// How many hops wait for `take_records`.
    #[must_use]
    pub fn waiting_hops(&self) -> usize {
        self.records.as_ref().map_or(0, Records::waiting)
    }

    /// Takes a datagram that arrived at `now` from one socket to another.
    ///
    /// A stream is named by the node id in it, not by where it comes from: addresses may change on the way. Only
    /// where version 0.5 leaves the node out, the address stands for it.
    pub fn handle_datagram(&mut self, now: Nanos, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        if now.since(self.told_at) >= MAX_UNSEEN {
            // Whoever has nothing else to do may not have called for a while; a capture leaves no time between its packets.
            self.catch_up(now);
        }
        self.told_at = now;
        self.ledger.receive();
        let reading = ReportReading { leniency: self.leniency, ..ReportReading::default() };
        let datagram = match AnyReport::parse_with(datagram, reading) {
            Ok(datagram) => datagram,
            Err(error) => {
                self.malformed.count(&error);
                return self.ledger.reject();
            }
        };
        let hw_id = datagram.hw_id();
        let sender = Sender { node_id: datagram.node_id().map(NodeId), hw_id, address: from.ip() };
        let mut stream = self.ledger.stream_of(sender, to, datagram.version());
        let mut sequence = datagram.sequence();
        if self.leniency == Leniency::Lenient && has_padded_number(&datagram) {
            stream.has_padded_numbers = true;
            sequence >>= PADDING_BITS;
        }
        let noted = self.ledger.note(now, stream, from.ip(), sequence, &mut self.outbox);
        let reports = match datagram.count_reports() {
            Ok(reports) => reports,
            Err(error) => {
                self.malformed.count(&error);
                return self.ledger.reject();
            }
        };
        self.ledger.count(now, noted, reports);
        if noted.arrival() != Arrival::Duplicate {
            let reference = ReportReference { node_id: stream.node_id, hw_id, sequence, received_at: now };
            let (arrival, version) = (noted.arrival(), datagram.version());
            let follow = self.follow && !noted.is_refused();
            let arrived = Arrived { from, session: to, reference, arrival, version, follow };
            self.handle_reports(&arrived, &datagram);
        }
    }

    /// Does what has become due, each at its time.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.told_at = now;
        self.catch_up(now);
        self.do_what_is_due(now);
    }

    /// Does what was due before now.
    fn catch_up(&mut self, now: Nanos) {
        for _ in 0..MAX_STEPS {
            let Some(due) = self.poll_timeout().filter(|due| *due < now) else { return };
            self.do_what_is_due(due);
        }
        self.do_what_is_due(now);
    }

    fn do_what_is_due(&mut self, now: Nanos) {
        self.ledger.handle_timeout(now, &mut self.outbox);
        self.correlator.handle_timeout(now, &mut self.outbox);
        self.outbox.handle_timeout(now);
    }

    /// Takes what keeps history from being written at `now`, in words; `None` while it is written. It is an event that
    /// goes on until history is written again.
    pub fn handle_history(&mut self, now: Nanos, trouble: Option<&str>) {
        self.correlator.handle_history(now, trouble, &mut self.outbox);
    }

    /// Notes that the time of day is `ahead` nanoseconds ahead of the times that are handed in, from `at` on.
    ///
    /// What is given out and answered carries the time of day; it is the time that is handed in until this is called.
    /// Nothing else depends on it: for silence, gaps and settling no time passes when a clock is set.
    pub fn handle_clock_step(&mut self, at: Nanos, ahead: i64) {
        self.outbox.book.timeline.step(at, ahead);
    }

    /// The time of day at a time that is handed in.
    #[must_use]
    pub fn time_of_day(&self, at: Nanos) -> Nanos {
        self.outbox.book.timeline.time_of_day(at)
    }

    /// Ends the run: what is due at `now` happens, and every event that goes on gets an end that says why.
    pub fn finish(&mut self, now: Nanos) {
        self.handle_timeout(now);
        self.outbox.end_run(now);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        let timeouts =
            [self.ledger.next_timeout(), self.correlator.next_timeout(), self.outbox.book.next_timeout()];
        timeouts.into_iter().flatten().min()
    }

    /// Gives out the next observation or event, oldest first; `None` when there is no more.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// Counts datagrams that came off the socket and were dropped there, because a queue was full.
    pub fn count_shed(&mut self, datagrams: u64) {
        self.ledger.shed(datagrams);
    }

    /// Counts datagrams the kernel dropped before the socket was read.
    pub fn count_kernel_dropped(&mut self, datagrams: u64) {
        self.ledger.kernel_dropped(datagrams);
    }

    /// What was dropped or forgotten because a table was full.
    #[must_use]
    pub fn overflows(&self) -> Overflows {
        let dropped_records = self.records.as_ref().map_or(0, Records::dropped);
        Overflows { dropped_records, ..Overflows::of(&self.ledger, &self.correlator, &self.outbox) }
    }

    // report-2.0/group-06: all of them, not only the first.
    fn handle_reports(&mut self, arrived: &Arrived, datagram: &AnyReport<'_>) {
        match datagram {
            AnyReport::Group(group) => {
                let (mut reports, mut index) = (group.reports(), 0);
                while let Some(Ok(report)) = reports.next() {
                    self.handle_report(arrived, index, &AnyIndividual::Individual(report));
                    index = index.saturating_add(1);
                }
            }
            AnyReport::Single(report) => self.handle_report(arrived, 0, &AnyIndividual::Single(*report)),
        }
    }

    #[inline]
    fn handle_report(&mut self, arrived: &Arrived, index: u16, report: &AnyIndividual<'_>) {
        let Arrived { from, session, reference, arrival, version, follow } = *arrived;
        let reporter = Reporter {
            node_id: reference.node_id,
            timestamp_bits: version.timestamp_bits(),
            numbering: self.numbering,
            summary_domain: self.summary_domain,
        };
        let reading =
            report::read(reporter, report, &self.code_points, &mut self.space, &mut self.unreadable);
        if self.units.has_ticks() {
            self.space.convert_times(&self.units);
        }
        let hops = self.space.hops();
        if let Some(records) = &mut self.records {
            let reference = self.outbox.book.timeline.reference(reference);
            records.add(&Told { reference, version, index, report }, &reading, hops);
        }
        if follow {
            let (now, reading) = (reference.received_at, &reading);
            let sighting = Sighting { now, report: reference, from, session, arrival, reading, hops };
            self.correlator.handle_report(&sighting, &mut self.outbox);
        }
    }
}

/// A datagram whose number has been noted.
#[derive(Clone, Copy)]
struct Arrived {
    from: SocketAddr,
    session: SocketAddr,
    reference: ReportReference,
    arrival: Arrival,
    version: ReportVersion,
    /// Whether flows are learned from it.
    follow: bool,
}

/// Whether a datagram is as CableLabs writes it: a constant Report Length, past the end of any of its datagrams, and a
/// number of 16 bits in front of 6 zeros.
fn has_padded_number(datagram: &AnyReport<'_>) -> bool {
    let AnyReport::Group(group) = datagram else { return false };
    let first = group.reports().next().and_then(Result::ok);
    first.is_some_and(|report| report.deviation == Some(Deviation::ReportLengthPastEnd))
        && datagram.sequence().trailing_zeros() >= PADDING_BITS
}

fn numbering(settings: &NumberSettings) -> Option<Numbering> {
    let offset_words = settings.offset_words;
    settings.domain.map(|domain| Numbering { domain, offset_words })
}

/// How long deadlines may have passed when the next datagram comes.
const MAX_UNSEEN: Nanos = Nanos::from_millis(20);
/// Most deadlines that are kept one by one after a silence; what is due then is done at once.
const MAX_STEPS: usize = 4_096;

#[cfg(test)]
mod tests;
