//! Which keys does `decode --json` print? This file maps the specification's nouns to those users read.

use std::io::{self, Write};

use inband_model::Flow;
use inband_wire::FiveTuple;
use inband_wire::int::Mx;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::hex::hex;
use super::hop::{Field, fields, report_fields, stack_fields};
use super::names;
use super::packet::{Body, Content, IntHeader, IntPacket, Original, Packet, Report, ReportPacket};

/// Prints the packet as one line.
pub(super) fn write(packet: &Packet<'_>, out: &mut impl Write) -> io::Result<()> {
    let line = Line {
        packet: packet.record.number,
        time: packet.record.captured_at_ns,
        content: match &packet.content {
            Content::Int(int) => LineContent::of_int(int),
            Content::Report(report) => LineContent::of_report(report),
            Content::Malformed(error) => LineContent::Malformed { error: error.to_string() },
        },
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct Line {
    packet: u64,
    time: u64,
    #[serde(flatten)]
    content: LineContent,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum LineContent {
    Int {
        flow: Flow,
        encapsulation: &'static str,
        checksum: &'static str,
        int: Vec<Int>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        lenient: Vec<&'static str>,
    },
    Report {
        version: &'static str,
        node_id: u32,
        hw_id: u8,
        sequence: u32,
        reports: Vec<ReportObject>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        lenient: Vec<&'static str>,
    },
    Malformed {
        error: String,
    },
}

impl LineContent {
    fn of_int(packet: &IntPacket<'_>) -> Self {
        Self::Int {
            flow: flow(packet.flow),
            encapsulation: packet.encapsulation.name(),
            checksum: packet.checksum.name(),
            int: packet.headers.iter().map(Int::new).collect(),
            lenient: packet.deviations().collect(),
        }
    }

    fn of_report(packet: &ReportPacket<'_>) -> Self {
        let header = packet.group.header;
        Self::Report {
            version: "2.0",
            node_id: header.node_id(),
            hw_id: header.hw_id(),
            sequence: header.sequence(),
            reports: packet.reports.iter().map(ReportObject::new).collect(),
            lenient: packet.deviations().collect(),
        }
    }
}

/// One INT header. A key that its type does not have is null or empty.
#[derive(Serialize)]
struct Int {
    version: &'static str,
    #[serde(rename = "type")]
    header_type: &'static str,
    discard: Option<bool>,
    max_hops_exceeded: Option<bool>,
    mtu_exceeded: Option<bool>,
    hop_ml: Option<u8>,
    remaining_hops: Option<u8>,
    instructions: Vec<String>,
    instruction_bitmap: Option<u16>,
    domain: Option<u16>,
    ds_instruction: Option<u16>,
    ds_flags: Option<u16>,
    original: OriginalObject,
    hops: Vec<HopObject>,
    /// How many hops of the stack are not in the capture or report.
    #[serde(skip_serializing_if = "Option::is_none")]
    hops_missing: Option<usize>,
    /// What only the source inserted, hexadecimal: at the bottom of an MD stack, or behind an MX header.
    source_only: String,
    /// The data of a destination header, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl Int {
    fn new(header: &IntHeader<'_>) -> Self {
        let empty = Self::empty(header);
        match &header.body {
            Body::Md(md) => Self {
                discard: Some(md.header.discard()),
                max_hops_exceeded: Some(md.header.max_hop_count_exceeded()),
                mtu_exceeded: Some(md.header.mtu_exceeded()),
                hop_ml: Some(md.header.hop_ml().count()),
                remaining_hops: Some(md.header.remaining_hop_count()),
                instructions: names::instructions(md.header.instructions()),
                instruction_bitmap: Some(md.header.instructions().0),
                domain: Some(md.header.domain_specific_id()),
                ds_instruction: Some(md.header.ds_instruction()),
                ds_flags: Some(md.header.ds_flags()),
                hops: md.stack.hops().map(|hop| HopObject::new(stack_fields(&hop), hop.domain())).collect(),
                hops_missing: Some(md.stack.hop_count().saturating_sub(md.stack.hops().len()))
                    .filter(|missing| *missing > 0),
                source_only: hex(md.stack.source_only()),
                ..empty
            },
            Body::Mx(mx) => Self::of_mx(mx, empty),
            Body::MxWithHop(mx, hop) => Self {
                hops: vec![HopObject::new(fields(mx.header.instructions(), hop), &[])],
                ..Self::of_mx(mx, empty)
            },
            Body::Destination(data) => Self { data: Some(hex(data)), ..empty },
        }
    }

    fn of_mx(mx: &Mx<'_>, empty: Self) -> Self {
        Self {
            discard: Some(mx.header.discard()),
            instructions: names::instructions(mx.header.instructions()),
            instruction_bitmap: Some(mx.header.instructions().0),
            domain: Some(mx.header.domain_specific_id()),
            ds_instruction: Some(mx.header.ds_instruction()),
            ds_flags: Some(mx.header.ds_flags()),
            source_only: hex(mx.source_inserted),
            ..empty
        }
    }

    fn empty(header: &IntHeader<'_>) -> Self {
        Self {
            version: "2.1",
            header_type: names::header_type(header.location.header_type),
            discard: None,
            max_hops_exceeded: None,
            mtu_exceeded: None,
            hop_ml: None,
            remaining_hops: None,
            instructions: Vec::new(),
            instruction_bitmap: None,
            domain: None,
            ds_instruction: None,
            ds_flags: None,
            original: OriginalObject::new(header.original()),
            hops: Vec::new(),
            hops_missing: None,
            source_only: String::new(),
            data: None,
        }
    }
}

/// What the shim keeps; empty where there is no shim.
#[derive(Default, Serialize)]
struct OriginalObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    dscp: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    udp_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip_protocol: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ethertype: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_protocol: Option<u8>,
}

impl OriginalObject {
    fn new(original: Original) -> Self {
        let none = Self::default();
        match original {
            Original::Dscp(dscp) => Self { dscp: Some(dscp), ..none },
            Original::UdpPort(port) => Self { udp_port: Some(port), ..none },
            Original::IpProtocol(protocol) => Self { ip_protocol: Some(protocol), ..none },
            Original::Ethertype(ethertype) => Self { ethertype: Some(ethertype), ..none },
            Original::NextProtocol(next) => Self { next_protocol: Some(next), ..none },
            Original::Nothing => none,
        }
    }
}

/// The metadata of one hop or report: the keys of the instruction bits that are set, null where it was all ones.
struct HopObject {
    fields: Vec<(Field, Option<u64>)>,
    /// `None` where there is no domain-specific metadata.
    domain: Option<Option<String>>,
}

impl HopObject {
    fn new(fields: Vec<(Field, Option<u64>)>, domain: &[u8]) -> Self {
        let available = domain.iter().any(|byte| *byte != 0xff);
        let domain = (!domain.is_empty()).then(|| available.then(|| hex(domain)));
        Self { fields, domain }
    }
}

impl Serialize for HopObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in &self.fields {
            match field {
                Field::Reserved(bit) => map.serialize_entry(&format!("reserved_bit_{bit}"), value)?,
                field => map.serialize_entry(key(*field), value)?,
            }
        }
        if let Some(domain) = &self.domain {
            map.serialize_entry("domain", domain)?;
        }
        map.end()
    }
}

fn key(field: Field) -> &'static str {
    match field {
        Field::NodeId => "node_id",
        Field::IngressInterface => "ingress_interface",
        Field::EgressInterface => "egress_interface",
        Field::HopLatency => "hop_latency",
        Field::QueueId => "queue_id",
        Field::QueueOccupancy => "queue_occupancy",
        Field::IngressTimestamp => "ingress_timestamp",
        Field::EgressTimestamp => "egress_timestamp",
        Field::IngressInterfaceLevel2 => "ingress_interface_level2",
        Field::EgressInterfaceLevel2 => "egress_interface_level2",
        Field::EgressUtilization => "egress_utilization",
        Field::BufferId => "buffer_id",
        Field::BufferOccupancy => "buffer_occupancy",
        Field::ChecksumComplement => "checksum_complement",
        Field::Reserved(_) => "reserved",
    }
}

/// One individual report.
#[derive(Serialize)]
struct ReportObject {
    #[serde(rename = "type")]
    report_type: String,
    inner: String,
    dropped: bool,
    queue: bool,
    flow_report: bool,
    intermediate: bool,
    metadata: HopObject,
    domain: u16,
    domain_metadata: String,
    drop_reason: Option<u8>,
    /// The reason's name in the table in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_reason_name: Option<String>,
    /// The queue a drop reason is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_queue_id: Option<u8>,
    flow: Option<Flow>,
    int: Vec<Int>,
    /// Why the INT of the reported packet could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_error: Option<String>,
}

impl ReportObject {
    fn new(report: &Report<'_>) -> Self {
        let Report { report, flow: five_tuple, int, drop_reason, inner_error } = report;
        let drop = report.drop();
        Self {
            report_type: names::report_type(report.first_word.report_type()),
            inner: names::inner_type(report.first_word.inner_type()),
            dropped: report.dropped(),
            queue: report.congested_queue(),
            flow_report: report.tracked_flow(),
            intermediate: report.intermediate(),
            metadata: HopObject::new(report_fields(report), &[]),
            domain: report.domain_specific_id(),
            domain_metadata: hex(report.domain_metadata()),
            drop_reason: drop.map(|drop| drop.reason),
            drop_reason_name: drop_reason.as_ref().map(|reason| reason.name.clone()),
            drop_queue_id: drop.map(|drop| drop.queue_id),
            flow: five_tuple.map(flow),
            int: int.iter().map(Int::new).collect(),
            inner_error: inner_error.map(|error| error.to_string()),
        }
    }
}

fn flow(flow: FiveTuple) -> Flow {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = flow;
    Flow { source, destination, protocol, source_port, destination_port }
}
