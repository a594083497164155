//! Whether every report arrived, and what became of it.

mod credit;
mod former;
mod gaps;
mod key;
mod rate;
mod run;
mod senders;
mod sequence;
mod settings;
mod sources;
mod space;
mod stream;
mod streams;
mod window;

use std::net::{IpAddr, SocketAddr};

use inband_model::{Ledger, LedgerView, Nanos, NodeId};
use inband_wire::report::ReportVersion;

use crate::detect::health::{self, HealthSettings};
use crate::detect::report_loss::LossSettings;
use crate::outbox::Outbox;

pub(crate) use self::key::{PADDING_BITS, StreamKey};
pub(crate) use self::senders::{Sender, Senders};
pub use self::sequence::{Arrival, Sequence};
pub use self::settings::LedgerSettings;
pub use self::space::SequenceSpace;
pub(crate) use self::stream::StreamReporter;

use self::stream::Stream;
use self::streams::{Opened, StreamIndex, Streams};

/// Counts every datagram once, and follows the sequence numbers of every stream.
#[derive(Debug)]
pub(crate) struct ReportLedger {
    settings: LedgerSettings,
    loss: LossSettings,
    health: HealthSettings,
    counts: Ledger,
    streams: Streams,
    senders: Senders,
}

/// A datagram whose sequence number has been recorded, and which is not counted yet.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(crate) struct Noted {
    stream: Option<StreamIndex>,
    arrival: Arrival,
    is_refused: bool,
}

impl Noted {
    /// What the sequence number turned out to be.
    pub(crate) fn arrival(self) -> Arrival {
        self.arrival
    }

    /// Whether the stream is refused to its source address, so that nothing is learned from its reports.
    pub(crate) fn is_refused(self) -> bool {
        self.is_refused
    }
}

impl ReportLedger {
    pub(crate) fn new(settings: LedgerSettings, loss: LossSettings, health: HealthSettings) -> ReportLedger {
        ReportLedger {
            streams: Streams::new(&settings),
            senders: Senders::new(settings.max_streams),
            counts: Ledger::default(),
            settings,
            loss,
            health,
        }
    }

    /// Counts a datagram that came off the socket.
    pub(crate) fn receive(&mut self) {
        self.counts.received += 1;
    }

    /// Counts datagrams that were read from the socket and then dropped, for lack of room in a queue.
    pub(crate) fn shed(&mut self, datagrams: u64) {
        self.counts.received += datagrams;
        self.counts.shed += datagrams;
    }

    /// Counts datagrams the kernel dropped before the socket was read.
    pub(crate) fn kernel_dropped(&mut self, datagrams: u64) {
        self.counts.kernel_dropped += datagrams;
    }

    /// Counts a received datagram that is not a telemetry report.
    pub(crate) fn reject(&mut self) {
        self.counts.malformed += 1;
    }

    /// The stream of a datagram that `sender` sent to `session`.
    pub(crate) fn stream_of(
        &mut self,
        now: Nanos,
        sender: Sender,
        session: SocketAddr,
        version: ReportVersion,
    ) -> StreamKey {
        let Sender { node_id, hw_id, address } = sender;
        // report-2.0/group-03: addresses may change on the way, so the node's own id comes first.
        let node_id = match version {
            ReportVersion::V1_0 | ReportVersion::V2_0 => node_id,
            ReportVersion::V0_5 | ReportVersion::HostInt => self.senders.node_of(now, sender, session),
        };
        // Reports of Host-INT start like those of 0.5, and a node numbers both together.
        let version = match version {
            ReportVersion::HostInt => ReportVersion::V0_5,
            version => version,
        };
        let source = if node_id.is_none() { Some(address) } else { None };
        let node_id = node_id.unwrap_or(NodeId::NOT_AVAILABLE);
        StreamKey { node_id, source, hw_id, session, version, has_padded_numbers: false }
    }

    /// Records the sequence number of a received datagram.
    ///
    /// This precedes all other checks: a datagram that turns out malformed was not lost.
    pub(crate) fn note(
        &mut self,
        now: Nanos,
        key: StreamKey,
        address: IpAddr,
        sequence: u32,
        outbox: &mut Outbox,
    ) -> Noted {
        let found = self.streams.find(&key).or_else(|| self.name_stream(now, key, address));
        let Some(index) = found else {
            let opened = self.streams.open(&self.settings, now, key, address, sequence);
            let stream = if let Opened::At(index) = opened { Some(index) } else { None };
            if let Some(index) = stream {
                self.streams[index].come_from(&self.health, now, address);
            }
            let is_refused = opened == Opened::Refused;
            return Noted { stream, arrival: Arrival::InOrder, is_refused };
        };
        let stream = &mut self.streams[index];
        if stream.come_from(&self.health, now, address) {
            let (addresses, report) = (stream.addresses, stream.reference(sequence, now));
            health::duplicate_node_id(&self.health, report, addresses, &mut stream.turns, outbox);
        }
        let arrival = stream.arrive(&self.settings, &self.loss, now, sequence);
        if let Arrival::Reset(expected) = arrival {
            let (key, report) = (stream.key, stream.reference(sequence, now));
            stream.resets.announce(&key, report, expected, outbox);
        }
        if arrival != Arrival::InOrder {
            self.streams.await_confirmation(index, &self.settings);
            self.alert(index, now, outbox);
        }
        Noted { stream: Some(index), arrival, is_refused: false }
    }

    /// Counts a recorded datagram with `reports` well-formed individual reports.
    pub(crate) fn count(&mut self, now: Nanos, noted: Noted, reports: u64) {
        if noted.arrival == Arrival::Duplicate {
            self.counts.duplicate += 1;
        } else {
            self.counts.accepted += 1;
            self.counts.accepted_reports += reports;
        }
        if let Some(index) = noted.stream {
            self.streams[index].count(&self.loss, now, noted.arrival, reports);
        }
    }

    /// Counts as lost what has been missing long enough.
    pub(crate) fn handle_timeout(&mut self, now: Nanos, outbox: &mut Outbox) {
        while let Some(index) = self.streams.next_confirmation(now) {
            self.streams[index].confirm(&self.settings, &self.loss, now);
            self.streams.await_confirmation(index, &self.settings);
            self.alert(index, now, outbox);
        }
        while let Some(index) = self.streams.next_full_window(now) {
            self.alert(index, now, outbox);
        }
    }

    /// When `handle_timeout` has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        self.streams.next_deadline()
    }

    /// The totals so far.
    pub(crate) fn total(&self) -> Ledger {
        let mut total = self.counts;
        self.streams.add_to(&mut total);
        total
    }

    /// The totals and every stream.
    pub(crate) fn view(&self) -> LedgerView {
        LedgerView {
            total: self.total(),
            streams: self.streams.iter().map(|stream| stream.ledger()).collect(),
            refused_sources: self.streams.sources().refused(),
            ..LedgerView::default()
        }
    }

    /// The streams by the nodes that send them.
    pub(crate) fn reporters(&self) -> impl Iterator<Item = StreamReporter> {
        self.streams.iter().map(Stream::reporter)
    }

    /// Streams evicted to make room for new ones.
    pub(crate) fn forgotten_streams(&self) -> u64 {
        self.streams.forgotten()
    }

    /// Datagrams of streams for which there was no room: accepted, but their losses are unknown.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.streams.unfollowed()
    }

    /// Datagrams of streams refused to their source address: accepted, but nothing is learned from them.
    pub(crate) fn refused_node_ids(&self) -> u64 {
        self.streams.sources().refused_datagrams()
    }

    /// Gives the stream of an address to the node that is named from there for the first time.
    #[cold]
    fn name_stream(&mut self, now: Nanos, key: StreamKey, address: IpAddr) -> Option<StreamIndex> {
        if key.version != ReportVersion::V0_5 || key.source.is_some() {
            return None;
        }
        let unnamed = Sender { node_id: None, hw_id: key.hw_id, address };
        if self.senders.node_of(now, unnamed, key.session) != Some(key.node_id) {
            return None;
        }
        let known_as = StreamKey { node_id: NodeId::NOT_AVAILABLE, source: Some(address), ..key };
        self.streams.rename(&known_as, key)
    }

    fn alert(&mut self, index: StreamIndex, now: Nanos, outbox: &mut Outbox) {
        let stream = &mut self.streams[index];
        if let Some(alert) = stream.loss_alert(&self.loss, now) {
            alert.announce(&self.loss, &stream.key, now, outbox);
        } else {
            self.streams.await_full_window(index, &self.loss, now);
        }
    }
}

#[cfg(test)]
mod tests;
