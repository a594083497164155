//! Construction of reports for tests.
#![allow(dead_code, reason = "every test file uses another part of it")]

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use inband_collector::{Collector, CollectorSettings, FlowView, Output};
use inband_model::{Event, EventKind, Flow, Nanos, PathObservation, Phase};
use inband_wire::Words;
use inband_wire::int::shim::Shim;
use inband_wire::int::{HopMetadata, Instructions, Interfaces, MdHeader, MxHeader, Queue};
use inband_wire::ipv4::Ipv4Header;
use inband_wire::report::earlier::{DraftVersion, EarlierDraft};
use inband_wire::report::{Draft, Drop, GroupHeader, InnerType};
use inband_wire::udp::UdpHeader;
use zerocopy::IntoBytes;

/// The metadata that a transit hop adds in these tests.
pub(crate) const INSTRUCTIONS: Instructions = Instructions(0xf000);

/// A collector with a clock, and nodes that number their reports.
pub(crate) struct Lab {
    pub(crate) collector: Collector,
    pub(crate) now: Nanos,
    sequences: HashMap<u32, u32>,
    /// Nodes and sequence numbers of the reports that were sent.
    sent: HashSet<(u32, u32)>,
    outputs: Vec<Output>,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        Lab::with(CollectorSettings::default())
    }

    pub(crate) fn with(settings: CollectorSettings) -> Lab {
        Lab {
            collector: Collector::new(settings),
            now: Nanos::from_secs(1_700_000_000),
            sequences: HashMap::new(),
            sent: HashSet::new(),
            outputs: Vec::new(),
        }
    }

    /// Passes a datagram with one report of a node.
    pub(crate) fn report(&mut self, node_id: u32, draft: &Draft<'_>) {
        let sequence = self.next_sequence(node_id);
        self.numbered(node_id, sequence, draft);
    }

    /// Passes a datagram with one report of a node and an explicit sequence number.
    pub(crate) fn numbered(&mut self, node_id: u32, sequence: u32, draft: &Draft<'_>) {
        self.note_sent(node_id, sequence);
        self.datagram(&datagram(node_id, sequence, &[draft]));
    }

    /// Records that a node sends a report.
    pub(crate) fn note_sent(&mut self, node_id: u32, sequence: u32) {
        self.sent.insert((node_id, sequence));
    }

    /// Whether a node sent a report with a sequence number.
    pub(crate) fn has_sent(&self, node_id: u32, sequence: u32) -> bool {
        self.sent.contains(&(node_id, sequence))
    }

    /// Passes a report that follows the next one of the node.
    pub(crate) fn overtake(&mut self, node_id: u32, first: &Draft<'_>, second: &Draft<'_>) {
        let (early, late) = (self.next_sequence(node_id), self.next_sequence(node_id));
        self.datagram(&datagram(node_id, late, &[first]));
        self.datagram(&datagram(node_id, early, &[second]));
    }

    /// Passes arbitrary bytes.
    pub(crate) fn datagram(&mut self, bytes: &[u8]) {
        self.datagram_from(sender(), bytes);
    }

    /// Passes arbitrary bytes from an address.
    pub(crate) fn datagram_from(&mut self, sender: SocketAddr, bytes: &[u8]) {
        self.now = self.now + Nanos(1_000);
        self.collector.handle_datagram(self.now, sender, session(), bytes);
        self.drain();
    }

    /// Lets time pass, and does everything that becomes due.
    pub(crate) fn wait(&mut self, span: Nanos) {
        let end = self.now + span;
        while let Some(due) = self.collector.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.collector.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    /// The paths reported since the last call, as lists of node ids.
    pub(crate) fn paths(&mut self) -> Vec<Vec<u32>> {
        self.path_observations().iter().map(nodes).collect()
    }

    pub(crate) fn path_observations(&mut self) -> Vec<PathObservation> {
        let (paths, rest) = self
            .outputs
            .drain(..)
            .partition(|output| matches!(output, Output::Observation(inband_model::Observation::Path(_))));
        self.outputs = rest;
        let paths: Vec<Output> = paths;
        paths
            .into_iter()
            .filter_map(|output| match output {
                Output::Observation(inband_model::Observation::Path(path)) => Some(path),
                _ => None,
            })
            .collect()
    }

    /// The events of a kind announced since the last call.
    pub(crate) fn events(&mut self, kind: EventKind) -> Vec<Event> {
        let is_wanted = |output: &Output| matches!(output, Output::Event(event) if event.kind() == kind);
        let (events, rest): (Vec<Output>, Vec<Output>) = self.outputs.drain(..).partition(is_wanted);
        self.outputs = rest;
        events
            .into_iter()
            .filter_map(|output| match output {
                Output::Event(event) => Some(event),
                Output::Observation(_) => None,
            })
            .collect()
    }

    /// All outputs since the last call.
    pub(crate) fn outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// The only flow.
    pub(crate) fn only_flow(&self) -> FlowView<'_> {
        let mut flows = self.collector.flows();
        let flow = flows.next().expect("a flow");
        assert!(flows.next().is_none(), "only one flow");
        flow
    }

    fn next_sequence(&mut self, node_id: u32) -> u32 {
        let sequence = self.sequences.entry(node_id).or_default();
        *sequence += 1;
        *sequence
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.collector.poll_output() {
            self.outputs.push(output);
        }
    }
}

/// A packet that carries INT-MD.
#[derive(Clone)]
pub(crate) struct MdPacket {
    pub(crate) flow: Flow,
    pub(crate) instructions: Instructions,
    /// First hop first.
    pub(crate) hops: Vec<HopMetadata>,
    pub(crate) max_hop_count_exceeded: bool,
    pub(crate) mtu_exceeded: bool,
    /// Remaining Hop Count at the end of the stack.
    pub(crate) remaining_hop_count: u8,
}

impl MdPacket {
    pub(crate) fn new(hops: &[HopMetadata]) -> MdPacket {
        MdPacket {
            flow: flow(1),
            instructions: INSTRUCTIONS,
            hops: hops.to_vec(),
            max_hop_count_exceeded: false,
            mtu_exceeded: false,
            remaining_hop_count: 8,
        }
    }

    /// The packet from its IPv4 header on.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let hop_ml = self.instructions.words();
        let mut header = MdHeader::new(self.instructions, hop_ml, self.remaining_hop_count);
        if self.max_hop_count_exceeded {
            header.set_max_hop_count_exceeded();
        }
        if self.mtu_exceeded {
            header.set_mtu_exceeded();
        }
        let stack_bytes = self.hops.len() * hop_ml.bytes();
        let length = Words::new(u8::try_from(3 + stack_bytes / 4).expect("stacks of tests are short"));
        let mut int = Shim::payload(1, length, 0).as_bytes().to_vec();
        int.extend_from_slice(header.as_bytes());
        for hop in self.hops.iter().rev() {
            let at = int.len();
            int.resize(at + hop_ml.bytes(), 0xa5);
            assert_eq!(hop.write(self.instructions, &mut int[at..]), hop_ml.bytes());
        }
        packet(&self.flow, 64, 0x17, &int)
    }
}

/// A packet that carries INT-MX, as seen with this TTL, from its IPv4 header on.
pub(crate) fn mx_packet(flow: &Flow, ttl: u8) -> Vec<u8> {
    let mut int = Shim::payload(3, Words::new(3), 0).as_bytes().to_vec();
    int.extend_from_slice(MxHeader::new(INSTRUCTIONS).as_bytes());
    packet(flow, ttl, 0x17, &int)
}

/// A packet without INT, as seen with this TTL, from its IPv4 header on.
pub(crate) fn plain_packet(flow: &Flow, ttl: u8) -> Vec<u8> {
    packet(flow, ttl, 0, b"payload.")
}

/// An IPv4 packet as a later fragment, at offset 185 in units of 8 bytes.
pub(crate) fn later_fragment(mut packet: Vec<u8>) -> Vec<u8> {
    packet[6..8].copy_from_slice(&185_u16.to_be_bytes());
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    packet[10..12].copy_from_slice(&checksum.wrapping_sub(185).to_be_bytes());
    packet
}

/// The report of a sink whose own metadata is in the stack, or nowhere.
pub(crate) fn sink_report(packet: &[u8]) -> Draft<'_> {
    Draft {
        inner_type: InnerType::Ipv4,
        dropped: false,
        congested_queue: false,
        tracked_flow: true,
        intermediate: false,
        own_hop: false,
        metadata: HopMetadata::default(),
        instructions: Instructions::default(),
        drop: None,
        domain: None,
        inner: packet,
    }
}

/// The report of a node with its own metadata in the report.
pub(crate) fn node_report(packet: &[u8], metadata: HopMetadata) -> Draft<'_> {
    Draft { metadata, instructions: Instructions(0xfc00), ..sink_report(packet) }
}

/// `draft` of a packet that the node dropped.
pub(crate) fn dropped<'a>(draft: &Draft<'a>, drop: Option<Drop>) -> Draft<'a> {
    Draft { dropped: true, tracked_flow: false, instructions: Instructions(0xfc01), drop, ..*draft }
}

/// Node 5 reports that it dropped a packet of a flow in a queue, without further metadata.
pub(crate) fn drop_of_queue(lab: &mut Lab, number: u32, reason: u8, queue_id: u8) {
    let packet = plain_packet(&flow(number), 64);
    let drop = Some(Drop { queue_id, reason });
    lab.report(5, &dropped(&node_report(&packet, HopMetadata { queue: None, ..hop(5, 900, 0) }), drop));
}

/// Whether events are announced once, begin or end.
pub(crate) fn phases(events: &[Event]) -> Vec<Phase> {
    events.iter().map(|event| event.phase).collect()
}

/// A hop with interfaces 1 and 2, this latency in nanoseconds and this depth of queue 0.
pub(crate) fn hop(node_id: u32, latency: u32, occupancy: u32) -> HopMetadata {
    hop_via(node_id, 1, 2, latency, occupancy)
}

/// A hop with these interfaces.
pub(crate) fn hop_via(node_id: u32, ingress: u16, egress: u16, latency: u32, occupancy: u32) -> HopMetadata {
    HopMetadata {
        node_id: Some(node_id),
        interfaces: Some(Interfaces { ingress, egress }),
        hop_latency: Some(latency),
        queue: Some(Queue { id: 0, occupancy }),
        ..HopMetadata::default()
    }
}

/// The hops of these nodes, with small latencies and empty queues.
pub(crate) fn hops(node_ids: &[u32]) -> Vec<HopMetadata> {
    node_ids.iter().map(|node_id| hop(*node_id, 900, 0)).collect()
}

/// The n-th flow.
pub(crate) fn flow(number: u32) -> Flow {
    Flow {
        source: IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + number)),
        destination: IpAddr::V4(Ipv4Addr::new(10, 255, 0, 1)),
        protocol: 17,
        source_port: 1234,
        destination_port: 4321,
    }
}

/// A report datagram.
pub(crate) fn datagram(node_id: u32, sequence: u32, reports: &[&Draft<'_>]) -> Vec<u8> {
    let mut bytes = GroupHeader::new(0, sequence, node_id).as_bytes().to_vec();
    for report in reports {
        let at = bytes.len();
        bytes.resize(at + report.length(), 0xa5);
        assert_eq!(report.write(&mut bytes[at..]), Some(report.length()));
    }
    bytes
}

/// A report datagram of an older version; its packet is wrapped in an Ethernet frame.
pub(crate) fn older_datagram(
    node_id: u32,
    version: DraftVersion,
    sequence: u32,
    report: &Draft<'_>,
) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0x00]);
    frame.extend(report.inner);
    let report = Draft { inner_type: InnerType::Ethernet, inner: &frame, ..*report };
    let draft = EarlierDraft { version, node_id, hw_id: 0, sequence, report };
    let mut bytes = vec![0xa5; draft.length()];
    assert_eq!(draft.write(&mut bytes), Some(bytes.len()));
    bytes
}

pub(crate) fn sender() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 6000))
}

pub(crate) fn session() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 32766))
}

pub(crate) fn nodes(observation: &PathObservation) -> Vec<u32> {
    observation.path.hops().iter().map(|hop| hop.node_id.0).collect()
}

/// A packet, as seen with this TTL, from its IPv4 header on.
pub(crate) fn packet(flow: &Flow, ttl: u8, dscp: u8, payload: &[u8]) -> Vec<u8> {
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (flow.source, flow.destination) else {
        panic!("these packets are IPv4")
    };
    let udp_length = u16::try_from(8 + payload.len()).expect("packets of tests are short");
    let mut ip = Ipv4Header::new(source, destination, flow.protocol, 20 + udp_length);
    ip.set_dscp(dscp);
    ip.ttl = ttl;
    let udp = UdpHeader {
        source_port: flow.source_port.into(),
        destination_port: flow.destination_port.into(),
        length: udp_length.into(),
        checksum: 0.into(),
    };
    [ip.as_bytes(), udp.as_bytes(), payload].concat()
}
