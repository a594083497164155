//! The hops in an INT packet's metadata stack.

use std::net::IpAddr;

use inband_model::Flow;
use inband_node::config::EncapsulationConfig;
use inband_wire::int::{AnyHeader, CodePoints, HeaderType, HopMetadata};
use inband_wire::{Link, Strictness, dissect};
use serde::Serialize;

/// A hop of a probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Hop {
    pub(super) node_id: u32,
    pub(super) node: Option<String>,
    pub(super) ingress_interface: Option<u16>,
    pub(super) egress_interface: Option<u16>,
    /// Nanoseconds.
    pub(super) hop_latency: Option<u64>,
    /// From the previous hop, nanoseconds; negative where clocks disagree.
    pub(super) link_latency: Option<i64>,
    /// Largest error of `link_latency`, nanoseconds; `None`: unknown.
    pub(super) link_uncertainty: Option<u64>,
    pub(super) queue_id: Option<u8>,
    pub(super) queue_occupancy: Option<u32>,
    pub(super) egress_utilization: Option<u32>,
    #[serde(skip)]
    pub(super) ingress_timestamp: Option<u64>,
    #[serde(skip)]
    pub(super) egress_timestamp: Option<u64>,
}

/// Where and why INT ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ended {
    /// A sink removed and reported it.
    Sink,
    /// E: no more hops were allowed.
    HopsExceeded,
    /// M: a link's MTU left no room for more.
    MtuExceeded,
    /// A node cleared the mark of INT.
    MarkCleared,
    /// It reached the destination with INT.
    NoSink,
    /// It was lost.
    Lost,
}

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// First hop first.
    pub(super) hops: Vec<Hop>,
    /// Number of hops before these, which a router's quote is too short to show.
    pub(super) hidden_hops: usize,
    /// Number of hops before the destination that added metadata; `None`: unknown, or one may have had no
    /// room for it.
    pub(super) added: Option<usize>,
    pub(super) ended: Ended,
    /// The last router that saw it, unless it ended at a sink.
    pub(super) at: Option<IpAddr>,
    /// Why that router could not deliver it; `None`: unknown, or it could.
    pub(super) reason: Option<&'static str>,
    /// Number of hops to that router by TTL; `None`: unknown.
    pub(super) distance: Option<u8>,
}

impl Seen {
    /// The result that a sink or a node that dropped the probe reports.
    pub(super) fn reported(mut hops: Vec<Hop>, ended: Ended) -> Self {
        if let (Ended::Lost, Some(last)) = (ended, hops.last_mut()) {
            // A node that drops a packet before it has chosen an egress interface reports 0.
            last.egress_interface = last.egress_interface.filter(|id| *id != 0);
        }
        let at_destination = usize::from(hops.last().is_some_and(Hop::is_destination));
        let added = (ended == Ended::Sink).then_some(hops.len() - at_destination);
        Self { added, ..Self::new(hops, ended) }
    }

    /// The result of a probe of which nothing more is known.
    pub(super) const fn new(hops: Vec<Hop>, ended: Ended) -> Self {
        Self { hops, hidden_hops: 0, added: None, ended, at: None, reason: None, distance: None }
    }

    /// Nodes and interfaces, which identify a path.
    pub(super) fn path(&self) -> Vec<(u32, Option<u16>, Option<u16>)> {
        self.hops.iter().map(|hop| (hop.node_id, hop.ingress_interface, hop.egress_interface)).collect()
    }

    /// Whether `path` is one through the network, and not only its first part.
    pub(super) fn has_path(&self) -> bool {
        !self.hops.is_empty() && self.ended != Ended::Lost
    }

    /// Whether a hop with INT has answered.
    pub(super) fn is_answer(&self) -> bool {
        let is_report = matches!(self.ended, Ended::Sink | Ended::HopsExceeded | Ended::MtuExceeded);
        is_report || !self.hops.is_empty()
    }

    /// From the ingress of the first hop to the egress of the last, nanoseconds.
    pub(super) fn total(&self) -> Option<u64> {
        self.hops.last()?.egress_timestamp?.checked_sub(self.hops.first()?.ingress_timestamp?)
    }
}

/// The contents of an IP packet with INT-MD.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) flow: Flow,
    /// The hops that are completely visible, first hop first.
    pub(super) hops: Vec<Hop>,
    /// Number of hops the packet carries, visible or not.
    pub(super) hop_count: usize,
    pub(super) remaining_hop_count: u8,
    pub(super) discard: bool,
    pub(super) max_hops_exceeded: bool,
    pub(super) mtu_exceeded: bool,
}

/// Reads a packet that begins with `link` and may be truncated, with the code points of an encapsulation, or
/// else the defaults; `None`: it carries no INT-MD.
pub(super) fn read(link: Link, packet: &[u8], encapsulation: Option<&EncapsulationConfig>) -> Option<Read> {
    match encapsulation {
        Some(encapsulation) => {
            encapsulation.with_code_points(&[], |code_points| read_with(link, packet, &code_points))
        }
        None => read_with(link, packet, &CodePoints::default()),
    }
}

fn read_with(link: Link, packet: &[u8], code_points: &CodePoints<'_>) -> Option<Read> {
    let dissection = dissect(link, packet, code_points, Strictness::Truncated);
    let (_, location) = dissection.int().find(|(_, location)| location.header_type == HeaderType::Md)?;
    let AnyHeader::Md(md) = AnyHeader::parse(packet, location, &[]).ok()? else { return None };
    let tuple = dissection.flow?;
    let mut hops: Vec<Hop> = md.stack.hops().map(|hop| Hop::new(None, &hop.metadata())).collect();
    hops.reverse();
    link_up(&mut hops);
    Some(Read {
        flow: Flow {
            source: tuple.source,
            destination: tuple.destination,
            protocol: tuple.protocol,
            source_port: tuple.source_port,
            destination_port: tuple.destination_port,
        },
        hops,
        hop_count: md.stack.hop_count(),
        remaining_hop_count: md.header.remaining_hop_count(),
        discard: md.header.discard(),
        max_hops_exceeded: md.header.max_hop_count_exceeded(),
        mtu_exceeded: md.header.mtu_exceeded(),
    })
}

impl Hop {
    /// The hop with this metadata; `node_id` is used when the metadata has none.
    pub(super) fn new(node_id: Option<u32>, metadata: &HopMetadata) -> Self {
        let interface = |id: u16| (id != u16::MAX).then_some(id);
        Self {
            node_id: metadata.node_id.or(node_id).unwrap_or(u32::MAX),
            node: None,
            ingress_interface: metadata.interfaces.and_then(|both| interface(both.ingress)),
            egress_interface: metadata.interfaces.and_then(|both| interface(both.egress)),
            hop_latency: metadata.hop_latency.map(u64::from),
            link_latency: None,
            link_uncertainty: None,
            queue_id: metadata.queue.map(|queue| queue.id),
            queue_occupancy: metadata.queue.map(|queue| queue.occupancy),
            egress_utilization: metadata.egress_utilization,
            ingress_timestamp: metadata.ingress_timestamp,
            egress_timestamp: metadata.egress_timestamp,
        }
    }

    /// Whether this is the destination itself: a host's interface towards its applications is 0.
    const fn is_destination(&self) -> bool {
        matches!(self.egress_interface, Some(0))
    }
}

/// Computes the link latencies.
pub(super) fn link_up(hops: &mut [Hop]) {
    for at in 1..hops.len() {
        let (Some(left), Some(came)) = (hops[at - 1].egress_timestamp, hops[at].ingress_timestamp) else {
            continue;
        };
        hops[at].link_latency = i64::try_from(i128::from(came) - i128::from(left)).ok();
    }
}
