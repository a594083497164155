//! What is a node, and how is it driven?

mod drops;
mod earlier;
mod inner;
mod losses;
mod plain;
mod probing;
mod replicate;
mod report;
mod roles;
mod smart;
mod too_big;
mod visit;
mod watch;

use std::net::SocketAddr;
use std::num::NonZeroU32;

use inband_wire::int::Instructions;
use inband_wire::layers::Link;

use crate::clones::Clones;
use crate::config::{ChecksumUpdate, NodeConfig, ReportFilter, SinkMetadata, WatchEntry};
use crate::congestion::CongestionFilter;
use crate::copies::PacketCopy;
use crate::counters::{Counters, Outcome};
use crate::domains::KnownDomains;
use crate::drop_reasons::DropReasons;
use crate::earlier::EarlierSource;
use crate::encapsulation::Carriage;
use crate::error::ConfigError;
use crate::flow_sequences::FlowSequences;
use crate::frame::Frame;
use crate::interfaces::Interfaces;
use crate::latency::Latency;
use crate::own_packet::OwnPacket;
use crate::passage::{Identity, Passage};
use crate::path_mtu::PathMtu;
use crate::probes::Probes;
use crate::sessions::{ReportDatagram, Sessions};
use crate::smart::Smart;
use crate::source::SourcePlan;
use crate::support;
use crate::transit::Choices;
use crate::waiting::Waiting;
use crate::watchlist::Watchlist;
pub use drops::FlowDrops;
use losses::Losses;

/// One INT node: source, transit hop and sink, per packet and as its interfaces say.
///
/// A packet that enters on an edge interface without INT and is on the watchlist starts INT; one with INT
/// gets this node's metadata; one that leaves by an edge interface is stripped.
// int-2.1/domain-05
#[derive(Clone, Debug)]
pub struct Node {
    identity: Identity,
    interfaces: Interfaces,
    carriage: Carriage,
    watchlist: Watchlist,
    /// Where reports go; what is sent there is not watched.
    collectors: Vec<SocketAddr>,
    domains: KnownDomains,
    plan: SourcePlan,
    /// What a source of a version before 2.0 does; `None` in domains of 2.1.
    earlier_source: Option<Box<EarlierSource>>,
    sink_metadata: SinkMetadata,
    restore_dscp: bool,
    choices: Choices,
    sequence_number: u32,
    /// The numbers of flows, where packets get them as domain-specific metadata.
    flow_sequences: Option<Box<FlowSequences>>,
    congestion: CongestionFilter,
    clones: Clones,
    copies: Waiting<PacketCopy>,
    path_mtu: PathMtu,
    probes: Probes,
    /// What the node answers as not available.
    withheld: Instructions,
    /// Filters and triggers, where reports are filtered.
    smart: Option<Box<Smart>>,
    /// Whether the packet at hand met a congested queue and no report says so yet.
    congested: bool,
    /// What Host-INT tells of the packet at hand, where this node is its sink.
    latency: Option<Box<Latency>>,
    drop_reasons: DropReasons,
    /// What a sink knows of the numbers of flows.
    losses: Option<Box<Losses>>,
    /// Domain Specific ID of reports 2.0 about losses.
    loss_domain: u16,
    sessions: Sessions,
    counters: Counters,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// It goes on, changed or not.
    Forward,
    /// It ends here: its D bit was set, or C, which marks a copy.
    Consume,
    /// It is dropped: it may not enter the domain with INT, or INT cannot be taken out of it at its end.
    Drop,
}

impl Node {
    /// Creates the node that `config` describes.
    ///
    /// # Errors
    /// The first setting that is out of range, contradicts another one, or is not supported.
    pub fn new(config: &NodeConfig) -> Result<Self, ConfigError> {
        support::check(config)?;
        let domains = KnownDomains::new(&config.domains)?;
        let carriage = Carriage::new(config);
        let plan = SourcePlan::new(config, &domains)?;
        Ok(Self {
            identity: Identity { node_id: Some(config.node.id), interfaces: true, level2_interfaces: true },
            interfaces: Interfaces::new(&config.interfaces)?,
            probes: Probes::new(config, &carriage)?,
            withheld: Instructions::default(),
            carriage,
            watchlist: Watchlist::new(&config.watchlist),
            collectors: config.report.sessions().iter().map(|session| session.collector).collect(),
            flow_sequences: plan.numbers_flows(&domains).then(Box::default),
            plan,
            earlier_source: EarlierSource::new(config)?.map(Box::new),
            domains,
            sink_metadata: config.sink.own_metadata,
            restore_dscp: config.sink.restore_dscp,
            choices: Choices {
                unknown_instructions: config.node.unknown_instructions,
                checksum_update: config.checksum.update,
                mtu_action: config.mtu.action,
            },
            sequence_number: 0,
            copies: Waiting::default(),
            congestion: CongestionFilter::new(&config.source),
            clones: Clones::new(NonZeroU32::new(config.source.clone)),
            path_mtu: PathMtu::new(&config.mtu),
            smart: match config.report.filter {
                ReportFilter::None => None,
                ReportFilter::Smart => Some(Box::new(Smart::new(config)?)),
            },
            congested: false,
            latency: None,
            drop_reasons: DropReasons::new(&config.drop_reasons)?,
            losses: Losses::new(&config.loss)?.map(Box::new),
            loss_domain: config.loss.domain,
            sessions: Sessions::new(config),
            counters: Counters::default(),
        })
    }

    /// Does this node's INT work on one frame, in place.
    ///
    /// The frame may be cut behind its headers, as in a capture with a snap length. Give it at least
    /// [`MOST_GROWTH`](crate::frame::MOST_GROWTH) bytes of headroom, or INT is not added where it is short.
    #[inline]
    pub fn handle_frame(&mut self, link: Link, frame: &mut Frame<'_>, passage: &Passage) -> Verdict {
        let fate = match self.smart {
            None => self.fate(link, frame, passage),
            Some(_) => self.fate_with_queue(link, frame, passage),
        };
        self.counters.count(fate);
        match fate {
            Outcome::Discarded | Outcome::CopyDiscarded => Verdict::Consume,
            fate if fate.is_drop() => Verdict::Drop,
            _ => Verdict::Forward,
        }
    }

    /// Takes the oldest report, the payload of one UDP datagram to the collector.
    pub fn poll_report(&mut self) -> Option<&[u8]> {
        self.sessions.poll().map(|datagram| datagram.payload)
    }

    /// Takes the oldest report of the first session that has one, with what its packet needs.
    pub fn poll_datagram(&mut self) -> Option<ReportDatagram<'_>> {
        self.sessions.poll()
    }

    /// Takes the oldest packet this node made itself, a copy of one it forwarded; it leaves by the same interface.
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.clones.waiting.poll()
    }

    /// Takes the oldest message of this node to the sender of a packet; it leaves by the interface the packet came
    /// in by.
    pub fn poll_reply(&mut self) -> Option<OwnPacket> {
        self.path_mtu.poll()
    }

    /// Takes the oldest probe this node made, a packet in an Ethernet frame.
    pub fn poll_probe(&mut self) -> Option<OwnPacket> {
        self.probes.poll()
    }

    /// When [`Node::handle_timeout`] has a probe to make, nanoseconds of the device's clock; `None` without probes, or
    /// before it was called for the first time.
    #[must_use]
    pub fn next_probe_at(&self) -> Option<u64> {
        self.probes.next_at()
    }

    /// Makes the probes that are due at `now`, nanoseconds of the device's clock, and completes a datagram that has
    /// waited for more reports for its time.
    pub fn handle_timeout(&mut self, now: u64) {
        self.path_mtu.advance(now);
        if !self.probes.is_empty() {
            self.make_probes(now);
        }
        if let Some(smart) = &mut self.smart {
            smart.handle_timeout(now);
        }
        self.close_gaps(now);
        self.sessions.handle_timeout(now);
    }

    /// Tells of every packet that is missing, and completes a datagram that waits for more reports, as at the end of
    /// a run.
    pub fn flush_reports(&mut self) {
        self.close_all_gaps();
        self.sessions.flush();
    }

    /// Replaces the flow watchlist from the next packet on; everything else goes on as it was.
    pub fn set_watchlist(&mut self, entries: &[WatchEntry]) {
        self.watchlist = Watchlist::new(entries);
    }

    /// Takes over the flow watchlist, the filters and triggers, and the drop reasons of `config` from the next packet
    /// on; everything else goes on as it was: what is known of flows, quotas, numbers, counters, reports that wait.
    ///
    /// # Errors
    /// As [`Node::new`]; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), ConfigError> {
        support::check(config)?;
        let drop_reasons = DropReasons::new(&config.drop_reasons)?;
        match (config.report.filter, &mut self.smart) {
            (ReportFilter::None, smart) => *smart = None,
            (ReportFilter::Smart, Some(smart)) => smart.reload(&config.smart)?,
            (ReportFilter::Smart, smart) => *smart = Some(Box::new(Smart::new(config)?)),
        }
        self.drop_reasons = drop_reasons;
        self.set_watchlist(&config.watchlist);
        Ok(())
    }

    /// Makes the node answer `instructions` about itself as not available from here on; what the device
    /// measures is left out of a [`Passage`] by [`DeviceMetadata::without`](crate::DeviceMetadata::without).
    ///
    /// Without the checksum complement it updates the L4 checksum itself.
    pub fn withhold(&mut self, instructions: Instructions) {
        self.withheld = self.withheld | instructions;
        if instructions.intersects(Instructions::NODE_ID) {
            self.identity.node_id = None;
        }
        self.identity.interfaces = !instructions.intersects(Instructions::INTERFACES);
        self.identity.level2_interfaces = !instructions.intersects(Instructions::LEVEL2_INTERFACES);
        if instructions.intersects(Instructions::CHECKSUM_COMPLEMENT) {
            self.choices.checksum_update = ChecksumUpdate::L4;
        }
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}
