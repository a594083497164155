//! The reports of one stream.

use std::net::IpAddr;

use inband_model::{Nanos, NodeId, ReportReference, StreamLedger};

use crate::detect::health::{AddressTurns, HealthSettings};
use crate::detect::report_loss::{Alert, LossSettings, StreamLosses};
use crate::detect::sequence_reset::StreamResets;

use super::key::StreamKey;
use super::sequence::{Arrival, Sequence};
use super::settings::LedgerSettings;

/// One stream: its sequence numbers, and the outcome of its reports.
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
    pub(super) turns: AddressTurns,
    /// Whether a deadline for its open gaps has been set.
    pub(super) awaits_confirmation: bool,
    /// Whether a check of its losses is scheduled for when the window is full.
    pub(super) awaits_full_window: bool,
    losses: StreamLosses,
    pub(super) resets: StreamResets,
}

/// Reports of a stream by outcome.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) accepted: u64,
    pub(super) accepted_reports: u64,
    pub(super) duplicate: u64,
    pub(super) reordered: u64,
    pub(super) late: u64,
}

/// The share of a stream in the activity of its node.
#[derive(Debug)]
pub(crate) struct StreamReporter {
    pub(crate) node_id: NodeId,
    /// Latest address first.
    pub(crate) addresses: [Option<IpAddr>; 2],
    pub(crate) reports: u64,
    pub(crate) lost: u64,
    pub(crate) lost_unknown: u64,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
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
            losses: StreamLosses::new(now),
            resets: StreamResets::default(),
        }
    }

    /// Records the source of a datagram; returns whether it changes too often for one node.
    #[inline]
    pub(super) fn come_from(&mut self, health: &HealthSettings, now: Nanos, address: IpAddr) -> bool {
        if self.addresses[0] == Some(address) {
            return false;
        }
        self.addresses = [Some(address), self.addresses[0]];
        self.addresses[1].is_some() && self.turns.change(health, now)
    }

    /// Classifies a sequence number.
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
            self.losses.note_gap(self.reference(number, now));
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

    /// Counts a well-formed datagram of `reports` individual reports by the classification of its number.
    pub(super) fn count(&mut self, loss: &LossSettings, now: Nanos, arrival: Arrival, reports: u64) {
        if arrival == Arrival::Duplicate {
            self.tally.duplicate += 1;
            return;
        }
        self.tally.accepted += 1;
        self.tally.accepted_reports += reports;
        self.tally.reordered += u64::from(arrival == Arrival::Reordered);
        self.tally.late += u64::from(arrival == Arrival::Late);
        self.losses.note_accepted(loss, now);
    }

    /// Returns an alert when the loss exceeds the limit, at a limited rate.
    pub(super) fn loss_alert(&mut self, loss: &LossSettings, now: Nanos) -> Option<Alert> {
        self.losses.alert(loss, now)
    }

    /// When the first window is full, if that is in the future and reports are lost.
    pub(super) fn full_window_at(&self, loss: &LossSettings, now: Nanos) -> Option<Nanos> {
        self.losses.full_window_at(loss, now)
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

    /// The reference of a report of this stream.
    pub(super) fn reference(&self, sequence: u32, received_at: Nanos) -> ReportReference {
        ReportReference { node_id: self.key.node_id, hw_id: self.key.hw_id, sequence, received_at }
    }

    /// Records the change of the losses; they fall when a report arrives that was given up.
    fn note_loss(&mut self, loss: &LossSettings, now: Nanos, before: (u64, u64)) {
        let after = (self.sequence.lost(), self.sequence.lost_unknown());
        if after != before {
            self.losses.note(loss, now, before, after);
        }
    }
}
