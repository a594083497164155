//! The intake of datagrams: each is counted once, and read.

use std::net::SocketAddr;

use inband_model::{HopColumns, Nanos, NodeId, ReportReference, Units};
use inband_wire::int::{CodePoints, Dialect, Reading};
use inband_wire::report::{AnyIndividual, AnyReport, Deviation, Leniency, ReportReading, ReportVersion};

use crate::detect::sequence_gap::NumberSettings;
use crate::ledger::{Arrival, LedgerSettings, PADDING_BITS, ReportLedger, Sender};
use crate::outbox::Outbox;
use crate::records::{Records, Told};
use crate::report::{self, Faults, Numbering, Reporter, Space};
use crate::settings::CollectorSettings;
use crate::share::Share;
use crate::sighting::Sighting;

/// Counts datagrams, follows the streams of nodes, and reads reports.
///
/// All its state belongs to one stream each, so the streams of different nodes may be handled separately.
#[derive(Debug)]
pub(crate) struct Intake {
    code_points: CodePoints<'static>,
    leniency: Leniency,
    pub(crate) ledger: ReportLedger,
    /// Whether flows are followed.
    follow: bool,
    /// Where sources number packets, if they do.
    numbering: Option<Numbering>,
    summary_domain: u16,
    units: Units,
    pub(crate) malformed: Faults,
    pub(crate) unreadable: Faults,
    /// The current report; kept here to reuse its memory.
    space: Space,
    /// Hops for history; `None` when none are kept.
    records: Option<Records>,
}

impl Intake {
    pub(crate) fn new(settings: &CollectorSettings) -> Self {
        let (leniency, reading, dialect_marks): (_, _, &[Dialect]) = match settings.lenient {
            true => (Leniency::Lenient, Reading::Lenient, &Dialect::ALL),
            false => (Leniency::Strict, Reading::Strict, &[]),
        };
        Self {
            code_points: CodePoints { reading, dialect_marks, ..CodePoints::DEFAULT },
            leniency,
            ledger: ReportLedger::new(
                LedgerSettings {
                    // A report may be that late, so it is not lost before.
                    confirm_after_ms: settings.ledger.confirm_after_ms.max(settings.paths.settle_ms),
                    ..settings.ledger.clone()
                },
                settings.events.report_loss.clone(),
                settings.events.health.clone(),
            ),
            follow: settings.paths.follow,
            numbering: numbering(&settings.events.sequence_gap),
            summary_domain: settings.events.sequence_gap.summary_domain,
            units: settings.events.units.clone(),
            malformed: Faults::default(),
            unreadable: Faults::default(),
            space: Space::default(),
            records: None,
        }
    }

    /// Sets the code points by which INT is recognised in reported packets.
    pub(crate) fn set_code_points(&mut self, code_points: CodePoints<'static>) {
        self.code_points = code_points;
    }

    /// Keeps every hop of every report for `take_records`.
    pub(crate) fn keep_records(&mut self) {
        self.records = Some(Records::default());
    }

    /// Appends the pending hops to `into`; returns how many reports they came from.
    pub(crate) fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.records.as_mut().map_or(0, |records| records.take(into))
    }

    /// Hops pending for `take_records`.
    pub(crate) fn waiting_hops(&self) -> usize {
        self.records.as_ref().map_or(0, Records::waiting)
    }

    /// Reports whose hops were not taken in time.
    pub(crate) fn dropped_records(&self) -> u64 {
        self.records.as_ref().map_or(0, Records::dropped)
    }

    /// The units of nodes' metadata.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// Handles a datagram that arrived at `now` from one socket to another, and passes each report whose flow
    /// is followed to `give`.
    ///
    /// A stream is identified by the node id in it, not by its source: addresses may change. Only where
    /// version 0.5 omits the node does the address identify it.
    #[inline]
    pub(crate) fn handle_datagram(
        &mut self,
        now: Nanos,
        (from, to): (SocketAddr, SocketAddr),
        datagram: &[u8],
        outbox: &mut Outbox,
        mut give: impl FnMut(&Sighting<'_>, &mut Outbox),
    ) {
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
        let mut stream = self.ledger.stream_of(now, sender, to, datagram.version());
        let mut sequence = datagram.sequence();
        if self.leniency == Leniency::Lenient && has_padded_number(&datagram) {
            stream.has_padded_numbers = true;
            sequence >>= PADDING_BITS;
        }
        let noted = self.ledger.note(now, stream, from.ip(), sequence, outbox);
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
            self.handle_reports(&arrived, &datagram, outbox, &mut give);
        }
    }

    // report-2.0/group-06: all of them, not only the first.
    fn handle_reports(
        &mut self,
        arrived: &Arrived,
        datagram: &AnyReport<'_>,
        outbox: &mut Outbox,
        give: &mut impl FnMut(&Sighting<'_>, &mut Outbox),
    ) {
        match datagram {
            AnyReport::Group(group) => {
                let (mut reports, mut index) = (group.reports(), 0);
                while let Some(Ok(report)) = reports.next() {
                    self.handle_report(arrived, index, &AnyIndividual::Individual(report), outbox, give);
                    index = index.saturating_add(1);
                }
            }
            AnyReport::Single(report) => {
                self.handle_report(arrived, 0, &AnyIndividual::Single(*report), outbox, give);
            }
        }
    }

    #[inline]
    fn handle_report(
        &mut self,
        arrived: &Arrived,
        index: u16,
        report: &AnyIndividual<'_>,
        outbox: &mut Outbox,
        give: &mut impl FnMut(&Sighting<'_>, &mut Outbox),
    ) {
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
            let reference = outbox.book.timeline.reference(reference);
            records.add(&Told { reference, version, index, report }, &reading, hops);
        }
        if follow {
            let (now, reading) = (reference.received_at, &reading);
            let sighting = Sighting {
                now,
                report: reference,
                from,
                session,
                arrival,
                reading,
                hops,
                share: Share::WHOLE,
            };
            give(&sighting, outbox);
        }
    }
}

/// A datagram whose sequence number has been recorded.
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

/// Whether a datagram has CableLabs' format: a constant Report Length, past the end of any of its datagrams,
/// and a number of 16 bits followed by 6 zeros.
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
