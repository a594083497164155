//! The JSON keys of a description: the specification's nouns under their user-visible names.

use inband_model::Flow;
use inband_wire::FiveTuple;
use inband_wire::int::Original;
use inband_wire::int::earlier::HopCounts;
use inband_wire::report::earlier::DropSummary;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::hex::hex;
use crate::hop::{Field, Values};
use crate::names;
use crate::packet::{
    Body, Description, HopByHopBody, HopValues, IntHeader, IntPacket, MxBody, Report, ReportForm,
    ReportPacket, Stack,
};

impl Serialize for Description {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = match self {
            Self::Int(int) => Object::of_int(int),
            Self::Report(report) => Object::of_report(report),
            Self::Malformed { error, .. } => Object::Malformed { error: error.to_string() },
        };
        object.serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Object {
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
        /// `None` when only the sender's address or the stack in the packet identifies it.
        node_id: Option<u32>,
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

impl Object {
    fn of_int(packet: &IntPacket) -> Self {
        Self::Int {
            flow: flow(packet.flow),
            encapsulation: packet.encapsulation.name(),
            checksum: packet.checksum.name(),
            int: packet.headers.iter().map(Int::new).collect(),
            lenient: packet.deviations().collect(),
        }
    }

    fn of_report(packet: &ReportPacket) -> Self {
        Self::Report {
            version: names::report_version(packet.version),
            node_id: packet.node_id,
            hw_id: packet.hw_id,
            sequence: packet.sequence,
            reports: packet.reports.iter().map(ReportObject::new).collect(),
            lenient: packet.deviations().collect(),
        }
    }
}

/// One INT header. Keys that its type does not have are null or empty.
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
    /// Before 1.0: total number of hops that may add metadata, and number that have.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_hops: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_hops: Option<u8>,
    /// Before 2.0: Rep and C.
    #[serde(skip_serializing_if = "Option::is_none")]
    replication: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<bool>,
    instructions: Vec<String>,
    instruction_bitmap: Option<u16>,
    domain: Option<u16>,
    ds_instruction: Option<u16>,
    ds_flags: Option<u16>,
    original: OriginalObject,
    hops: Vec<HopObject>,
    /// Number of hops of the stack that are missing from the capture or report.
    #[serde(skip_serializing_if = "Option::is_none")]
    hops_missing: Option<usize>,
    /// The source-only metadata, hexadecimal: at the bottom of an MD stack, or after an MX header.
    source_only: String,
    /// Host-INT: number of the packet in its flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u32>,
    /// The data of a destination header, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl Int {
    fn new(header: &IntHeader) -> Self {
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
                hops: hops(&md.stack),
                hops_missing: missing(&md.stack),
                source_only: hex(&md.source_only),
                ..empty
            },
            Body::Mx(mx) => Self::of_mx(mx, empty),
            Body::HopByHop(header) => Self::of_hop_by_hop(header, empty),
            Body::Destination(data) => Self { data: Some(hex(data)), ..empty },
        }
    }

    fn of_mx(mx: &MxBody, empty: Self) -> Self {
        Self {
            discard: Some(mx.header.discard()),
            instructions: names::instructions(mx.header.instructions()),
            instruction_bitmap: Some(mx.header.instructions().0),
            domain: Some(mx.header.domain_specific_id()),
            ds_instruction: Some(mx.header.ds_instruction()),
            ds_flags: Some(mx.header.ds_flags()),
            hops: mx.hop.iter().map(|values| HopObject::new(values, &[])).collect(),
            source_only: hex(&mx.source_inserted),
            ..empty
        }
    }

    fn of_hop_by_hop(header: &HopByHopBody, empty: Self) -> Self {
        let (max_hops, total_hops) = match header.hop_counts {
            HopCounts::Remaining(_) => (None, None),
            HopCounts::Total { most, total } => (Some(most), Some(total)),
        };
        Self {
            max_hops_exceeded: Some(header.max_hop_count_exceeded),
            mtu_exceeded: header.mtu_exceeded,
            hop_ml: Some(header.hop_ml.count()),
            remaining_hops: Some(header.remaining_hop_count),
            max_hops,
            total_hops,
            replication: Some(header.replication),
            copy: Some(header.copy),
            instructions: names::earlier_instructions(header.layout, header.instruction_bitmap),
            instruction_bitmap: Some(header.instruction_bitmap),
            hops: hops(&header.stack),
            hops_missing: missing(&header.stack),
            sequence: header.sequence,
            ..empty
        }
    }

    fn empty(header: &IntHeader) -> Self {
        Self {
            version: header.location.version.name(),
            header_type: names::header_type(&header.location),
            discard: None,
            max_hops_exceeded: None,
            mtu_exceeded: None,
            hop_ml: None,
            remaining_hops: None,
            max_hops: None,
            total_hops: None,
            replication: None,
            copy: None,
            instructions: Vec::new(),
            instruction_bitmap: None,
            domain: None,
            ds_instruction: None,
            ds_flags: None,
            original: OriginalObject::new(header.original),
            hops: Vec::new(),
            hops_missing: None,
            source_only: String::new(),
            sequence: None,
            data: None,
        }
    }
}

fn hops(stack: &Stack) -> Vec<HopObject> {
    stack.hops.iter().map(|HopValues { values, domain }| HopObject::new(values, domain)).collect()
}

fn missing(stack: &Stack) -> Option<usize> {
    Some(stack.missing()).filter(|missing| *missing > 0)
}

/// The values kept in shim or tail; empty when there is neither.
#[derive(Default, Serialize)]
struct OriginalObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    dscp: Option<u8>,
    /// The L4 destination port; for TCP too, when a tail keeps it.
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
        let Original { dscp, destination_port, ip_protocol, ethertype, next_protocol } = original;
        Self { dscp, udp_port: destination_port, ip_protocol, ethertype, next_protocol }
    }
}

/// The metadata of one hop or report: the keys of the instruction bits that are set, null for all ones.
struct HopObject {
    fields: Values,
    /// `None` without domain-specific metadata.
    domain: Option<Option<String>>,
}

impl HopObject {
    fn new(fields: &Values, domain: &[u8]) -> Self {
        let available = domain.iter().any(|byte| *byte != 0xff);
        let domain = (!domain.is_empty()).then(|| available.then(|| hex(domain)));
        Self { fields: fields.clone(), domain }
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
        Field::CongestionQueueId => "congestion_queue_id",
        Field::QueueCongestion => "queue_congestion",
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
    /// The reason's name in the selected table.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_reason_name: Option<String>,
    /// The queue of the drop reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_queue_id: Option<u8>,
    /// Host-INT: the gap in a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_summary: Option<DropSummaryObject>,
    /// Host-INT: time of the report, seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_at: Option<u32>,
    flow: Option<Flow>,
    int: Vec<Int>,
    /// Why the INT of the reported packet could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_error: Option<String>,
}

impl ReportObject {
    fn new(report: &Report) -> Self {
        let (domain, domain_metadata, reported_at, summary) = match &report.form {
            ReportForm::Individual(individual) => {
                (individual.domain_specific_id, hex(&individual.domain_metadata), None, None)
            }
            ReportForm::Earlier(earlier) => {
                (0, String::new(), earlier.reported_at_s, earlier.drop_summary.as_ref())
            }
        };
        Self {
            report_type: names::report_type(&report.form),
            inner: report.inner.clone(),
            dropped: report.flags.dropped,
            queue: report.flags.congested_queue,
            flow_report: report.flags.tracked_flow,
            intermediate: report.flags.intermediate,
            metadata: HopObject::new(&report.metadata, &[]),
            domain,
            domain_metadata,
            drop_reason: report.drop.map(|drop| drop.reason),
            drop_reason_name: report.drop_reason.as_ref().map(|reason| reason.name.clone()),
            drop_queue_id: report.drop.map(|drop| drop.queue_id),
            drop_summary: summary.map(DropSummaryObject::new),
            reported_at,
            flow: report.packet.as_ref().and_then(|packet| packet.flow).map(flow),
            int: report.int().iter().map(Int::new).collect(),
            inner_error: report.inner_error.map(|error| error.to_string()),
        }
    }
}

/// Host-INT's summary of packets lost from a flow.
#[derive(Serialize)]
struct DropSummaryObject {
    source_node_id: u32,
    sink_node_id: u32,
    ingress_interface: u16,
    egress_interface: u16,
    /// When the gap was first observed, seconds since 1970.
    gap_time: u32,
    /// The last in-order sequence number before the gap.
    gap_sequence: u32,
    gap_count: u32,
}

impl DropSummaryObject {
    fn new(summary: &DropSummary) -> Self {
        let gap = summary.gap();
        Self {
            source_node_id: summary.source_node_id(),
            sink_node_id: summary.sink_node_id(),
            ingress_interface: summary.ingress_port(),
            egress_interface: summary.egress_port(),
            gap_time: gap.seen_at_s,
            gap_sequence: gap.sequence,
            gap_count: gap.count,
        }
    }
}

fn flow(flow: FiveTuple) -> Flow {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = flow;
    Flow { source, destination, protocol, source_port, destination_port }
}
