//! Reports written in an older version and read back.

use std::vec::Vec;

use proptest::prelude::*;

use crate::int::instruction::Instructions;
use crate::int::metadata::{HopMetadata, Interfaces, Queue};
use crate::layers::Link;
use crate::report::any::{AnyIndividual, AnyReport};
use crate::report::draft::Draft;
use crate::report::earlier::report::ReportKind;
use crate::report::first_word::InnerType;
use crate::report::individual::Drop;
use crate::report::version::ReportVersion;

use super::{DraftVersion, EarlierDraft};

const FULL: HopMetadata = HopMetadata {
    node_id: Some(7),
    interfaces: Some(Interfaces { ingress: 1, egress: 2 }),
    hop_latency: Some(900),
    queue: Some(Queue { id: 3, occupancy: 77 }),
    ingress_timestamp: Some(0x11_3b9a_ca00),
    egress_timestamp: Some(0x11_3b9a_cd84),
    ingress_interface_level2: Some(5),
    egress_interface_level2: Some(6),
    egress_utilization: Some(40),
    buffer: None,
    checksum_complement: None,
};

fn draft(version: DraftVersion) -> EarlierDraft<'static> {
    EarlierDraft {
        version,
        node_id: 7,
        hw_id: 5,
        sequence: 0x8000_0001,
        report: Draft {
            inner_type: InnerType::Ethernet,
            dropped: false,
            congested_queue: true,
            tracked_flow: false,
            intermediate: false,
            own_hop: false,
            metadata: FULL,
            instructions: Instructions(0xffff),
            drop: None,
            domain: None,
            inner: b"odd",
        },
    }
}

fn written(draft: &EarlierDraft<'_>) -> Vec<u8> {
    let mut out = [0xa5; 128];
    let length = draft.write(&mut out).unwrap();
    assert_eq!(length, draft.length());
    assert!(out[length..].iter().all(|byte| *byte == 0xa5));
    assert_eq!(draft.write(&mut out[..length - 1]), None, "a byte too small");
    out[..length].to_vec()
}

fn only<'a>(report: &AnyReport<'a>) -> AnyIndividual<'a> {
    let mut reports = report.reports();
    let first = reports.next().unwrap().unwrap();
    assert!(reports.next().is_none());
    first
}

#[test]
fn version_1_0_carries_all_but_level_2_and_leaves_out_the_node_id() {
    let bytes = written(&draft(DraftVersion::V1_0));
    assert_eq!(bytes[..4], [0x19, 0x1e, 0x80, 0x85]);
    let report = AnyReport::parse(&bytes).unwrap();
    assert_eq!((report.version(), report.node_id()), (ReportVersion::V1_0, Some(7)));
    assert_eq!((report.hw_id(), report.sequence()), (5, 0x8000_0001));
    let report = only(&report);
    assert_eq!((report.dropped(), report.congested_queue(), report.tracked_flow()), (false, true, false));
    let expected = HopMetadata {
        node_id: None,
        ingress_timestamp: Some(0x3b9a_ca00),
        egress_timestamp: Some(0x3b9a_cd84),
        ingress_interface_level2: None,
        egress_interface_level2: None,
        ..FULL
    };
    assert_eq!((report.metadata(), report.drop()), (expected, None));
    assert_eq!(report.packet(), Some((Link::Ethernet, &b"odd"[..], 36)));
}

#[test]
fn version_1_0_sets_the_bits_of_what_is_wanted_and_available() {
    // report-1.0/header-06
    let mut none = draft(DraftVersion::V1_0);
    none.report.instructions = Instructions::default();
    assert_eq!(written(&none)[0], 0x14);
    let mut drop = draft(DraftVersion::V1_0);
    drop.report.metadata = HopMetadata { hop_latency: Some(1), ..HopMetadata::default() };
    drop.report.drop = Some(Drop { queue_id: 3, reason: 71 });
    drop.report.dropped = true;
    let bytes = written(&drop);
    assert_eq!((bytes[0], &bytes[16..24]), (0x16, &[0, 0, 0, 1, 3, 71, 0, 0][..]));
    let report = AnyReport::parse(&bytes).unwrap();
    assert_eq!(only(&report).drop(), Some(Drop { queue_id: 3, reason: 71 }));
    assert!(matches!(report, AnyReport::Single(single) if single.kind == ReportKind::Drop && single.dropped));
}

#[test]
fn version_0_5_has_a_header_for_what_the_node_saw() {
    let bytes = written(&draft(DraftVersion::V0_5));
    assert_eq!(bytes[..4], [0x02, 0x40, 0, 5]);
    let report = AnyReport::parse(&bytes).unwrap();
    assert_eq!((report.version(), report.node_id()), (ReportVersion::V0_5, Some(7)));
    let report = only(&report);
    let expected = HopMetadata {
        interfaces: FULL.interfaces,
        queue: FULL.queue,
        ingress_timestamp: Some(0x3b9a_ca00),
        egress_timestamp: Some(0x3b9a_cd84),
        ..HopMetadata::default()
    };
    assert_eq!((report.metadata(), report.packet()), (expected, Some((Link::Ethernet, &b"odd"[..], 28))));
}

#[test]
fn version_0_5_leaves_out_what_is_not_wanted() {
    let mut some = draft(DraftVersion::V0_5);
    some.report.instructions = Instructions::INTERFACES;
    let bytes = written(&some);
    let metadata = only(&AnyReport::parse(&bytes).unwrap()).metadata();
    assert_eq!(
        (metadata.interfaces, metadata.queue, metadata.egress_timestamp),
        (FULL.interfaces, None, None)
    );
    some.report.instructions = Instructions::HOP_LATENCY;
    let bytes = written(&some);
    assert_eq!((bytes[0], bytes.len()), (0, 12 + 3));
    assert_eq!(AnyReport::parse(&bytes).unwrap().node_id(), None);
    some.report.own_hop = true;
    assert_eq!(written(&some)[0], 2);
}

#[test]
fn version_0_5_has_a_header_for_a_drop() {
    let mut drop = draft(DraftVersion::V0_5);
    drop.report.drop = Some(Drop { queue_id: 3, reason: 80 });
    drop.report.dropped = true;
    drop.report.inner_type = InnerType::None;
    drop.report.inner = &[];
    let bytes = written(&drop);
    assert_eq!((bytes[..4].to_vec(), bytes.len()), ([0x01, 0xc0, 0, 5].to_vec(), 24));
    let report = AnyReport::parse(&bytes).unwrap();
    let report = only(&report);
    assert_eq!((report.drop(), report.packet()), (Some(Drop { queue_id: 3, reason: 80 }), None));
    assert_eq!(report.metadata().interfaces, FULL.interfaces);
}

#[test]
fn inner_contents_without_a_number_are_not_written() {
    let mut out = [0xa5; 128];
    for (inner_type, in_0_5, in_1_0) in [
        (InnerType::Ethernet, true, true),
        (InnerType::Ipv4, false, true),
        (InnerType::Ipv6, false, true),
        (InnerType::None, false, false),
        (InnerType::Tlv, false, false),
        (InnerType::DomainExtension, false, false),
        (InnerType::Unknown(9), false, false),
    ] {
        for (version, expected) in [(DraftVersion::V0_5, in_0_5), (DraftVersion::V1_0, in_1_0)] {
            let mut draft = draft(version);
            draft.report.inner_type = inner_type;
            assert_eq!(draft.write(&mut out).is_some(), expected, "{inner_type:?} in {version:?}");
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        bits in any::<u16>(),
        flags in any::<[bool; 4]>(),
        numbers in any::<[u32; 3]>(),
        inner in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        // report-1.0/header-04
        for version in [DraftVersion::V0_5, DraftVersion::V1_0] {
            let mut draft = draft(version);
            let [node_id, sequence, latency] = numbers;
            let [dropped, congested_queue, tracked_flow, own_hop] = flags;
            draft.node_id = node_id;
            draft.sequence = sequence;
            draft.report = Draft {
                dropped, congested_queue, tracked_flow, own_hop,
                instructions: Instructions(bits),
                drop: dropped.then_some(Drop { queue_id: 1, reason: 2 }),
                inner: &inner,
                ..draft.report
            };
            draft.report.metadata.hop_latency = Some(latency % u32::MAX);
            let bytes = written(&draft);
            let report = AnyReport::parse(&bytes).unwrap();
            prop_assert_eq!(report.sequence(), sequence);
            prop_assert!(report.node_id().is_none_or(|id| id == node_id));
            let report = only(&report);
            prop_assert_eq!(&[report.dropped(), report.congested_queue(), report.tracked_flow()][..], &flags[..3]);
            prop_assert_eq!(report.packet().map(|(_, packet, _)| packet), Some(&inner[..]));
            prop_assert_eq!(report.drop(), draft.report.drop);
            let wants_latency = version == DraftVersion::V1_0 && bits & 0x2000 != 0;
            prop_assert_eq!(report.metadata().hop_latency, wants_latency.then_some(latency % u32::MAX));
        }
    }
}
