//! The values of one hop's metadata, in display order.

use inband_wire::int::domain::set_bits;
use inband_wire::int::earlier::{self, InstructionSet, Layout, Metadata};
use inband_wire::int::{Hop, HopMetadata, Instructions};
use inband_wire::report::AnyIndividual;
use inband_wire::report::individual::DROP_BIT;

/// The values that instructions ask for; `None` when the node had no value.
pub type Values = Vec<(Field, Option<u64>)>;

/// One value of a hop's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Node ID.
    NodeId,
    /// Ingress interface, level 1.
    IngressInterface,
    /// Egress interface, level 1.
    EgressInterface,
    /// Hop latency.
    HopLatency,
    /// Queue ID.
    QueueId,
    /// Queue occupancy.
    QueueOccupancy,
    /// Ingress timestamp.
    IngressTimestamp,
    /// Egress timestamp.
    EgressTimestamp,
    /// Ingress interface, level 2.
    IngressInterfaceLevel2,
    /// Egress interface, level 2.
    EgressInterfaceLevel2,
    /// Egress interface utilization.
    EgressUtilization,
    /// Buffer ID.
    BufferId,
    /// Buffer occupancy.
    BufferOccupancy,
    /// Checksum complement.
    ChecksumComplement,
    /// The queue that [`Field::QueueCongestion`] is about.
    CongestionQueueId,
    /// Queue congestion status of 0.5 and 2016.
    QueueCongestion,
    /// A reserved instruction bit, 9 to 14.
    Reserved(usize),
}

/// The fields `instructions` ask for with their values; `None` when the node had no value.
pub(crate) fn fields(instructions: Instructions, metadata: &HopMetadata) -> Values {
    let reserved = instructions & Instructions::RESERVED;
    set_bits(instructions.without(reserved).0).flat_map(|bit| of_bit(bit, metadata)).flatten().collect()
}

/// Like [`fields`] for a hop on a metadata stack, with its reserved bits.
pub(crate) fn stack_fields(hop: &Hop<'_>) -> Values {
    let mut fields = fields(hop.instructions(), &hop.metadata());
    fields.extend(hop.reserved().map(|(bit, value)| (Field::Reserved(bit), value.map(u64::from))));
    fields
}

/// Like [`stack_fields`], for a hop of a version before 2.0.
pub(crate) fn earlier_fields(hop: &earlier::Hop<'_>) -> Values {
    let metadata = hop.metadata();
    let defined = hop.instruction_bitmap() & !hop.layout().reserved();
    let mut fields: Vec<_> =
        set_bits(defined).flat_map(|bit| of_earlier_bit(bit, hop.layout(), &metadata)).flatten().collect();
    fields.extend(hop.reserved().map(|(bit, value)| (Field::Reserved(bit), value.map(u64::from))));
    fields
}

/// Like [`fields`] for the metadata of a report, without its node id and drop reason.
pub(crate) fn report_fields(report: &AnyIndividual<'_>) -> Values {
    match report {
        AnyIndividual::Individual(report) => {
            let baseline = report.rep_md_bits().without(Instructions::NODE_ID | DROP_BIT);
            let mut fields = fields(baseline, &report.metadata());
            fields.extend(report.reserved().map(|(bit, value)| (Field::Reserved(bit), value.map(u64::from))));
            fields
        }
        AnyIndividual::Single(report) => fields(report.instructions, &report.metadata),
    }
}

/// The fields of one instruction bit of a version before 2.0, where they differ from those of 2.1.
fn of_earlier_bit(bit: usize, layout: Layout, hop: &Metadata) -> [Option<(Field, Option<u64>)>; 2] {
    let one = |field, value: Option<u32>| [Some((field, value.map(u64::from))), None];
    let status = hop.queue_congestion;
    match (layout.instructions(), bit) {
        (InstructionSet::V2016, 1) => one(Field::IngressInterface, hop.ingress_port),
        (InstructionSet::V2016, 3) => one(Field::QueueOccupancy, hop.hop.queue.map(|queue| queue.occupancy)),
        (InstructionSet::V2016, 5) => one(Field::EgressInterface, hop.egress_port),
        (InstructionSet::V2016, 6) => one(Field::QueueCongestion, status.map(|status| status.status)),
        (InstructionSet::V0_5, 6) => [
            Some((Field::CongestionQueueId, status.and_then(|status| status.queue_id).map(u64::from))),
            Some((Field::QueueCongestion, status.map(|status| status.status.into()))),
        ],
        _ => of_bit(bit, &hop.hop),
    }
}

/// The fields of one instruction bit; most bits have one, some have two.
fn of_bit(bit: usize, hop: &HopMetadata) -> [Option<(Field, Option<u64>)>; 2] {
    let one = |field, value: Option<u64>| [Some((field, value)), None];
    let two = |first, second, values: Option<(u64, u64)>| {
        [Some((first, values.map(|v| v.0))), Some((second, values.map(|v| v.1)))]
    };
    match bit {
        0 => one(Field::NodeId, hop.node_id.map(u64::from)),
        1 => [
            Some((Field::IngressInterface, half(hop.interfaces.map(|ids| ids.ingress)))),
            Some((Field::EgressInterface, half(hop.interfaces.map(|ids| ids.egress)))),
        ],
        2 => one(Field::HopLatency, hop.hop_latency.map(u64::from)),
        3 => two(
            Field::QueueId,
            Field::QueueOccupancy,
            hop.queue.map(|queue| (queue.id.into(), queue.occupancy.into())),
        ),
        4 => one(Field::IngressTimestamp, hop.ingress_timestamp),
        5 => one(Field::EgressTimestamp, hop.egress_timestamp),
        6 => [
            Some((Field::IngressInterfaceLevel2, hop.ingress_interface_level2.map(u64::from))),
            Some((Field::EgressInterfaceLevel2, hop.egress_interface_level2.map(u64::from))),
        ],
        7 => one(Field::EgressUtilization, hop.egress_utilization.map(u64::from)),
        8 => two(
            Field::BufferId,
            Field::BufferOccupancy,
            hop.buffer.map(|buffer| (buffer.id.into(), buffer.occupancy.into())),
        ),
        15 => one(Field::ChecksumComplement, hop.checksum_complement.map(u64::from)),
        _ => [None, None],
    }
}

/// A level 1 interface, which is half a word; all ones is not available, as in a whole word.
// int-2.1/md-24
fn half(id: Option<u16>) -> Option<u64> {
    id.filter(|id| *id != u16::MAX).map(u64::from)
}
