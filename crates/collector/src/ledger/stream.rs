//! What happened to the reports of one stream?

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use inband_model::{Nanos, NodeId, ReportReference, StreamLedger};
use inband_wire::report::ReportVersion;

use crate::book::Signs;
use crate::detect::health::{AddressTurns, HealthSettings};

use super::loss_window::{LossWindow, Slice};
use super::sequence::{Arrival, Sequence};
use super::settings::{LedgerSettings, LossSettings};
use super::space::SequenceSpace;

/// Names a stream: what counts its own sequence numbers.
// report-2.0/group-03: per node id and hw_id to one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamKey {
    /// The reporting node; [`NodeId::NOT_AVAILABLE`] where nothing names it.
    pub(crate) node_id: NodeId,
    /// The address the reports come from, where nothing names the node.
    pub(crate) source: Option<IpAddr>,
    /// The part of the node that numbers the reports.
    pub(crate) hw_id: u8,
    /// The socket the reports were sent to.
    pub(crate) session: SocketAddr,
    /// The format of the reports, which says how wide their numbers are; 0.5 for Host-INT's as well.
    pub(crate) version: ReportVersion,
    /// Whether the numbers are narrower, as padding stands behind them.
    pub(crate) has_padded_numbers: bool,
}

impl Hash for StreamKey {
    /// Hashes whole words: a stream is looked up for each datagram.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let port = u64::from(self.session.port()) << 32;
        state.write_u64(u64::from(self.node_id.0) | port | u64::from(self.hw_id) << 48);
        match self.session.ip() {
            IpAddr::V4(address) => state.write_u64(address.to_bits().into()),
            IpAddr::V6(address) => state.write_u128(address.to_bits()),
        }
        // Where the node is named there is no source, and nodes speak one version.
        if let Some(source) = self.source {
            source.hash(state);
        }
    }
}

impl StreamKey {
    /// The numbers the stream counts with.
    pub(super) const fn space(&self) -> SequenceSpace {
        let padding = if self.has_padded_numbers { PADDING_BITS } else { 0 };
        SequenceSpace::new(self.version.sequence_bits() - padding)
    }
}

/// One stream: its sequence numbers, and what became of its reports.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) key: StreamKey,
    pub(super) sequence: Sequence,
    pub(super) tally: Tally,
    opened_at: Nanos,
    /// Where its first report came from.
    pub(super) opened_from: IpAddr,
    /// Where its reports come from, the latest address first.
    pub(super) addresses: [Option<IpAddr>; 2],
    turns: AddressTurns,
    /// Whether a deadline for its open gaps has been set.
    pub(super) awaits_confirmation: bool,
    /// Whether its losses are looked at again when the window is full.
    pub(super) awaits_full_window: bool,
    recent: LossWindow,
    last_gap: Option<ReportReference>,
    loss_signs: Signs,
    reset_announced_at: Option<Nanos>,
}

/// Reports of a stream by what they turned out to be.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) accepted: u64,
    pub(super) accepted_reports: u64,
    pub(super) duplicate: u64,
    pub(super) reordered: u64,
    pub(super) late: u64,
}

/// A stream as a part of what its node does.
#[derive(Debug)]
pub(crate) struct StreamReporter {
    pub(crate) node_id: NodeId,
    /// The latest addresses first.
    pub(crate) addresses: [Option<IpAddr>; 2],
    pub(crate) reports: u64,
    pub(crate) lost: u64,
    pub(crate) lost_unknown: u64,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
}

/// A stream that loses more than it may.
#[derive(Debug)]
pub(super) struct LossAlert {
    pub(super) recent: Slice,
    pub(super) evidence: Option<ReportReference>,
}

impl Stream {
    pub(super) fn new(
        key: StreamKey,
        address: IpAddr,
        settings: &LedgerSettings,
        now: Nanos,
        sequence: u32,
    ) -> Stream {
        Stream {
            key,
            sequence: Sequence::new(key.space(), settings, now, sequence),
            tally: Tally::default(),
            opened_at: now,
            opened_from: address,
            addresses: [None; 2],
            turns: AddressTurns::default(),
            awaits_confirmation: false,
            awaits_full_window: false,
            recent: LossWindow::default(),
            last_gap: None,
            loss_signs: Signs::default(),
            reset_announced_at: None,
        }
    }

    /// Notes where a datagram comes from; gives the number of changes when they are too many for one node.
    #[inline]
    pub(super) fn come_from(&mut self, health: &HealthSettings, now: Nanos, address: IpAddr) -> Option<u64> {
        if self.addresses[0] == Some(address) {
            return None;
        }
        self.addresses = [Some(address), self.addresses[0]];
        self.addresses[1].and_then(|_| self.turns.change(health, now))
    }

    /// Takes a sequence number and says what it is.
    pub(super) fn arrive(
        &mut self,
        settings: &LedgerSettings,
        loss: &LossSettings,
        now: Nanos,
        number: u32,
    ) -> Arrival {
        let before = (self.sequence.lost(), self.sequence.lost_unknown());
        let arrival = self.sequence.arrive(settings, now, number);
        if matches!(arrival, Arrival::Gap(_) | Arrival::LossUnknown) {
            self.last_gap = Some(self.reference(number, now));
        }
        self.note_loss(loss, now, before);
        arrival
    }

    /// Counts the gaps that have been open long enough as lost.
    pub(super) fn confirm(&mut self, settings: &LedgerSettings, loss: &LossSettings, now: Nanos) {
        let before = (self.sequence.lost(), self.sequence.lost_unknown());
        self.sequence.confirm(settings, now);
        self.note_loss(loss, now, before);
    }

    /// Counts a well-formed datagram of `reports` individual reports by what its number is.
    pub(super) fn count(&mut self, loss: &LossSettings, now: Nanos, arrival: Arrival, reports: u64) {
        if arrival == Arrival::Duplicate {
            self.tally.duplicate += 1;
            return;
        }
        self.tally.accepted += 1;
        self.tally.accepted_reports += reports;
        self.tally.reordered += u64::from(arrival == Arrival::Reordered);
        self.tally.late += u64::from(arrival == Arrival::Late);
        self.recent.at(now, loss.window()).accepted += 1;
    }

    /// Tells once in a while when the stream loses more than it may.
    pub(super) fn loss_alert(&mut self, loss: &LossSettings, now: Nanos) -> Option<LossAlert> {
        let window = loss.window();
        if !self.loss_signs.are_due(now, loss.course()) {
            return None;
        }
        self.recent.at(now, window);
        let recent = self.recent.sum();
        let covered = now.since(self.opened_at).min(window);
        if !recent.exceeds(loss.share_ppm, covered, window) {
            return None;
        }
        self.loss_signs.announce(now);
        Some(LossAlert { recent, evidence: self.last_gap })
    }

    /// When the window is full for the first time, where that is still to come and something is lost.
    pub(super) fn full_window_at(&self, loss: &LossSettings, now: Nanos) -> Option<Nanos> {
        let full_at = self.opened_at + loss.window();
        (full_at > now && self.recent.sum().lost > 0).then_some(full_at)
    }

    /// Whether a restart is to be announced: once a second, in case somebody makes restarts up.
    pub(super) fn announces_reset(&mut self, now: Nanos) -> bool {
        if self.reset_announced_at.is_some_and(|announced_at| now.since(announced_at) < Nanos::from_secs(1)) {
            return false;
        }
        self.reset_announced_at = Some(now);
        true
    }

    /// The stream's ledger as users see it.
    pub(super) fn ledger(&self) -> StreamLedger {
        StreamLedger {
            node_id: self.key.node_id,
            source: self.key.source,
            hw_id: self.key.hw_id,
            session: self.key.session,
            version: self.key.version.name().to_owned(),
            accepted: self.tally.accepted,
            duplicate: self.tally.duplicate,
            reordered: self.tally.reordered,
            late: self.tally.late,
            lost: self.sequence.lost(),
            lost_unknown: self.sequence.lost_unknown(),
            accepted_reports: self.tally.accepted_reports,
        }
    }

    pub(super) fn reporter(&self) -> StreamReporter {
        StreamReporter {
            node_id: self.key.node_id,
            addresses: self.addresses,
            reports: self.tally.accepted_reports,
            lost: self.sequence.lost(),
            lost_unknown: self.sequence.lost_unknown(),
            first_seen: self.opened_at,
            last_seen: self.sequence.last_at(),
        }
    }

    /// Names a report of this stream.
    pub(super) fn reference(&self, sequence: u32, received_at: Nanos) -> ReportReference {
        ReportReference { node_id: self.key.node_id, hw_id: self.key.hw_id, sequence, received_at }
    }

    /// Notes how far the losses have moved; they fall when a report arrives that was given up.
    fn note_loss(&mut self, loss: &LossSettings, now: Nanos, (lost, unknown): (u64, u64)) {
        let (lost_now, unknown_now) = (self.sequence.lost(), self.sequence.lost_unknown());
        if (lost_now, unknown_now) == (lost, unknown) {
            return;
        }
        let slice = self.recent.at(now, loss.window());
        slice.lost = (slice.lost + lost_now).saturating_sub(lost);
        slice.lost_unknown += unknown_now - unknown;
    }
}

/// Bits behind the numbers of CableLabs' reports.
pub(crate) const PADDING_BITS: u32 = 6;
