//! The bit layouts of headers.

use inband_wire::int::Instructions;

use super::columns::Layout;

/// The meaning of a field's value; `None` for plain numbers.
pub(super) fn mean_field(name: &str, value: u64) -> Option<String> {
    let word = match (name, value) {
        ("RepType", 0) => "inner contents alone",
        ("RepType", 1) => "INT",
        ("RepType", 2) => "IOAM",
        ("InType", 0) => "none",
        ("InType", 1) => "TLVs",
        ("InType", 2) => "extension of a domain",
        ("InType", 3) => "Ethernet",
        ("InType", 4) => "IPv4",
        ("InType", 5) => "IPv6",
        ("Report Length", 0xff) => "to the end of the datagram",
        ("D", 1) => "a packet was dropped",
        ("Q", 1) => "the packet met a congested queue",
        ("F", 1) => "the packet belongs to a tracked flow",
        ("I", 1) => "a transit hop reports the stack collected so far",
        ("Discard", 1) => "the sink discards the packet",
        ("E", 1) => "a node could not add metadata as no hop was left",
        ("M", 1) => "a node could not add metadata because of its MTU",
        ("Report Length" | "MD Length" | "Length" | "Hop ML", words) => {
            return Some(format!("{words} words of 4 bytes"));
        }
        ("RepMdBits" | "Instruction Bitmap", bits) => return Some(format!("{bits:#06x}")),
        _ => return None,
    };
    Some(word.to_owned())
}

/// The meaning of a metadata value: all ones for not available.
pub(super) fn mean_metadata(name: &str, value: u64) -> Option<String> {
    let ones = METADATA.iter().flat_map(|(_, layout)| layout.iter()).find(|(known, ..)| *known == name);
    let is_all_ones = ones.is_some_and(|(_, bits, _)| value == u64::MAX >> (64 - bits));
    if is_all_ones {
        return Some("not available".to_owned());
    }
    (name == "hop latency").then(|| format!("{value} ns, or of the node's unit"))
}

pub(super) const GROUP: &[Layout] = &[
    ("Version", 4, Some("report-2.0/group-02")),
    ("hw_id", 6, None),
    ("Sequence Number", 22, None),
    ("Node ID", 32, None),
];

pub(super) const FIRST_WORD: &[Layout] = &[
    ("RepType", 4, None),
    ("InType", 4, Some("report-2.0/individual-03")),
    ("Report Length", 8, Some("report-2.0/individual-04")),
    ("MD Length", 8, Some("report-2.0/individual-06")),
    ("D", 1, Some("report-2.0/individual-08")),
    ("Q", 1, Some("report-2.0/individual-09")),
    ("F", 1, Some("report-2.0/individual-10")),
    ("I", 1, Some("report-2.0/individual-11")),
    ("Reserved", 4, Some("report-2.0/individual-12")),
];

pub(super) const MAIN_CONTENTS: &[Layout] = &[
    ("RepMdBits", 16, Some("report-2.0/metadata-01")),
    ("Domain Specific ID", 16, None),
    ("DSMdBits", 16, None),
    ("DSMdstatus", 16, None),
];

pub(super) const DROP: &[Layout] = &[
    ("queue id", 8, Some("report-2.0/metadata-03")),
    ("drop reason", 8, Some("report-2.0/metadata-03")),
    ("Reserved", 16, None),
];

pub(super) const SHIM: &[Layout] =
    &[("Type", 4, None), ("flags", 4, None), ("Length", 8, None), ("by the encapsulation", 16, None)];

pub(super) const MD_HEADER: &[Layout] = &[
    ("Version", 4, Some("int-2.1/md-01")),
    ("Discard", 1, None),
    ("E", 1, Some("int-2.1/md-07")),
    ("M", 1, None),
    ("Reserved", 12, Some("int-2.1/md-06")),
    ("Hop ML", 5, None),
    ("RemainingHopCnt", 8, Some("int-2.1/md-07")),
    ("Instruction Bitmap", 16, Some("int-2.1/md-12")),
    ("Domain Specific ID", 16, None),
    ("DS Instruction", 16, None),
    ("DS Flags", 16, None),
];

pub(super) const MX_HEADER: &[Layout] = &[
    ("Version", 4, None),
    ("Discard", 1, None),
    ("Reserved", 27, None),
    ("Instruction Bitmap", 16, None),
    ("Domain Specific ID", 16, None),
    ("DS Instruction", 16, None),
    ("DS Flags", 16, None),
];

/// The fields that each instruction bit asks for, in the order of the bits.
// int-2.1/md-12: one word for each bit, two for bits 4, 5 and 6.
pub(super) const METADATA: &[(Instructions, &[Layout])] = &[
    (Instructions::NODE_ID, &[("node id", 32, None)]),
    (Instructions::INTERFACES, &[("ingress interface", 16, None), ("egress interface", 16, None)]),
    (Instructions::HOP_LATENCY, &[("hop latency", 32, None)]),
    (Instructions::QUEUE, &[("queue id", 8, None), ("queue occupancy", 24, None)]),
    (Instructions::INGRESS_TIMESTAMP, &[("ingress timestamp", 64, None)]),
    (Instructions::EGRESS_TIMESTAMP, &[("egress timestamp", 64, None)]),
    (
        Instructions::LEVEL2_INTERFACES,
        &[("level 2 ingress interface", 32, None), ("level 2 egress interface", 32, None)],
    ),
    (Instructions::EGRESS_UTILIZATION, &[("egress interface tx utilization", 32, None)]),
    (Instructions::BUFFER, &[("buffer id", 8, None), ("buffer occupancy", 24, None)]),
    (Instructions(0x0040), &[("reserved bit 9", 32, None)]),
    (Instructions(0x0020), &[("reserved bit 10", 32, None)]),
    (Instructions(0x0010), &[("reserved bit 11", 32, None)]),
    (Instructions(0x0008), &[("reserved bit 12", 32, None)]),
    (Instructions(0x0004), &[("reserved bit 13", 32, None)]),
    (Instructions(0x0002), &[("reserved bit 14", 32, None)]),
    (Instructions::CHECKSUM_COMPLEMENT, &[("checksum complement", 32, None)]),
];
