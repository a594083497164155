//! INT of the versions before 2.0 at source, transit hops and sink.
#![allow(clippy::unwrap_used, reason = "these are the helpers of tests")]

use inband_node::Outcome;
use inband_node::config::{EncapsulationKind, IntVersion, NodeConfig};
use inband_testkit::path::{DomainPlan, NodePlan};
use inband_testkit::strategies::{domain_plan_before_2, ip_packet, node_plan};
use inband_wire::int::earlier::{HopByHop, HopCounts, InstructionSet, Layout};
use inband_wire::int::{CodePoints, Deviation, Encapsulation, Location, TcpOptions};
use inband_wire::{Link, Strictness, dissect};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::Journey;
use crate::{MAX_PAYLOAD, many};

/// A header of a version before 2.0 as a reader finds it.
struct Seen {
    location: Location,
    counts: HopCounts,
    bitmap: u16,
    exceeded: bool,
    mtu_exceeded: Option<bool>,
    hop_bytes: usize,
    sequence: Option<u32>,
    stack: Vec<u8>,
}

/// Reads the first INT header of a whole frame by the code points of `config`, in the version it names.
fn seen(config: &NodeConfig, frame: &[u8]) -> Option<Seen> {
    let is_by_dscp = config.encapsulation.kind() == EncapsulationKind::Dscp;
    let mark = [config.encapsulation.mark()];
    let version = config.int_version();
    let tcp_options = match version {
        IntVersion::Host0_5 => TcpOptions::Before,
        _ => config.encapsulation.tcp_options(),
    };
    config.encapsulation.with_code_points(&[], |code_points| {
        let dscp = if is_by_dscp { &mark[..] } else { &[] };
        let code_points = CodePoints { dscp, tcp_options, ..code_points };
        let found = dissect(Link::Ethernet, frame, &code_points, Strictness::Whole);
        let Some((_, location)) = found.int().next() else {
            assert_eq!(found.error, None);
            return None;
        };
        // A tunnel in the payload may hold unreadable data.
        assert!(found.error.is_none_or(|error| error.at >= location.end), "{:?}", found.error);
        let location = Location { version: version.wire(), ..*location };
        let int = HopByHop::parse(frame, &location).unwrap();
        let stack_at = location.header + 8;
        Some(Seen {
            location,
            counts: int.hop_counts,
            bitmap: int.instruction_bitmap,
            exceeded: int.max_hop_count_exceeded,
            mtu_exceeded: int.mtu_exceeded,
            hop_bytes: int.hop_ml.bytes(),
            sequence: int.sequence,
            stack: frame[stack_at..stack_at + int.hop_count() * int.hop_ml.bytes()].to_vec(),
        })
    })
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn what_leaves_an_older_domain_is_what_entered_it(
        packet in ip_packet(MAX_PAYLOAD),
        domain in domain_plan_before_2(),
        plans in vec(node_plan(), 2..=6),
    ) {
        // int-2016/geneve-03, host-int-0.5/packet-04
        let journey = Journey::run(&domain, &plans, &packet.build());
        prop_assert!(!journey.any(Outcome::Malformed) || !journey.any(Outcome::Started));
        prop_assert_eq!(journey.any(Outcome::Started), journey.any(Outcome::Stripped));
        if !journey.any(Outcome::Remarked) {
            prop_assert_eq!(journey.last(), &journey.restored());
        }
    }

    #[test]
    fn a_hop_adds_what_is_asked_for_or_nothing_and_counts_itself(
        packet in ip_packet(300),
        domain in domain_plan_before_2(),
        plans in vec(node_plan(), 2..=7),
    ) {
        let journey = Journey::run(&domain, &plans, &packet.build());
        if !journey.any(Outcome::Started) {
            return Ok(());
        }
        let config = &journey.configs[0];
        let inside: Vec<_> = journey.inside().iter().map(|frame| seen(config, frame).expect("INT")).collect();
        for ((pair, config), node) in inside.windows(2).zip(&journey.configs[1..]).zip(&journey.nodes[1..]) {
            let (before, after) = (&pair[0], &pair[1]);
            let is_pushed = node.counters().get(Outcome::Pushed) == 1;
            let grown = after.stack.len() - before.stack.len();
            prop_assert_eq!(grown, if is_pushed { after.hop_bytes } else { 0 });
            prop_assert!(after.stack.ends_with(&before.stack));
            prop_assert_eq!((after.bitmap, after.sequence), (before.bitmap, before.sequence));
            let is_full = match (before.counts, after.counts) {
                (HopCounts::Remaining(was), HopCounts::Remaining(is)) => {
                    prop_assert_eq!(was - is, u8::from(is_pushed));
                    was == 0
                }
                (HopCounts::Total { most, total: was }, HopCounts::Total { most: same, total: is }) => {
                    prop_assert_eq!((most, is - was), (same, u8::from(is_pushed)));
                    most == was
                }
                other => panic!("one kind of counting became another: {other:?}"),
            };
            prop_assert_eq!(after.exceeded, before.exceeded || is_full);
            if after.mtu_exceeded == Some(true) && before.mtu_exceeded == Some(false) {
                prop_assert!(!is_pushed && config.interfaces[1].mtu < 9000);
            }
        }
    }

    #[test]
    fn a_hop_of_an_older_domain_says_what_its_device_measured(
        packet in ip_packet(300),
        domain in domain_plan_before_2(),
        missing in vec(any::<u8>(), 2..=4),
    ) {
        let plans: Vec<_> = missing.iter().map(|missing| NodePlan([0, *missing, 0, 0])).collect();
        let journey = Journey::run(&domain, &plans, &packet.build());
        for ((frame, plan), id) in journey.inside().iter().zip(&plans).zip(1..) {
            let node = &journey.nodes[usize::try_from(id).unwrap() - 1];
            let is_own = id == 1 && journey.configs[0].source.own_metadata && journey.any(Outcome::Started);
            if node.counters().get(Outcome::Pushed) == 0 && !is_own {
                continue;
            }
            let seen = seen(&journey.configs[0], frame).expect("INT inside");
            if seen.stack.is_empty() {
                continue;
            }
            let is_bottom = seen.stack.len() == seen.hop_bytes;
            let expected = said(&domain, &seen, id, plan, is_bottom);
            prop_assert_eq!(&seen.stack[..seen.hop_bytes], &expected[..]);
        }
    }

    #[test]
    fn the_tail_keeps_what_the_packet_said(packet in ip_packet(100), choice in any::<[u8; 8]>()) {
        let domain = DomainPlan([choice[0] % 2, 220, 0x90, 0, 0, choice[1] & 66, choice[2], 0]);
        let journey = Journey::run(&domain, &[NodePlan([0; 4]); 3], &packet.build());
        if !journey.any(Outcome::Started) {
            return Ok(());
        }
        let (before, after) = (&journey.frames[0], &journey.frames[2]);
        let location = seen(&journey.configs[0], after).expect("INT inside").location;
        let tail = &after[location.end - 4..location.end];
        let at = inband_testkit::oracle::anatomy(before).unwrap();
        let (l4, word) = (at.l3 + at.l3_length, |at: usize| before[at..at + 2].to_vec());
        let dscp = match at.version {
            4 => before[at.l3 + 1] >> 2,
            _ => u8::try_from((u16::from_be_bytes([before[at.l3], before[at.l3 + 1]]) >> 6) & 0x3f).unwrap(),
        };
        prop_assert_eq!(tail, [&[at.protocol][..], &word(l4 + 2), &[dscp]].concat());
        let is_by_port = location.encapsulation == Encapsulation::UdpPort;
        prop_assert!(!is_by_port || after[l4 + 2..l4 + 4] == 33122_u16.to_be_bytes());
    }
}

/// The metadata of node `id` of `plan`, written field by field.
fn said(domain: &DomainPlan, seen: &Seen, id: u32, plan: &NodePlan, is_bottom: bool) -> Vec<u8> {
    let mut device = plan.passage().metadata;
    let is_host = domain.version() == IntVersion::Host0_5 && id == 1;
    if is_host {
        device.egress_timestamp = device.ingress_timestamp;
    }
    let layout =
        Layout::of_dialect(domain.version().wire(), seen.location.deviations).unwrap().instructions();
    let has_wide_timestamps = seen.location.timestamp_bits() == 64;
    let none = if layout == InstructionSet::V2016 { 0x7fff_ffff } else { u32::MAX };
    let low = |time: Option<u64>| time.and_then(|time| u32::try_from(time & u64::from(none)).ok());
    let time = |time: Option<u64>| {
        let high = time.and_then(|time| u32::try_from(time >> 32).ok());
        if has_wide_timestamps {
            vec![high, time.map(|time| (time & 0xffff_ffff) as u32)]
        } else {
            vec![low(time)]
        }
    };
    let level2_words = if seen.location.deviations.contains(Deviation::ShortLevel2Ports) { 1 } else { 2 };
    let fields = match layout {
        InstructionSet::V2016 => [
            vec![Some(id)],
            vec![Some(1)],
            vec![device.hop_latency],
            vec![device.queue.map(|queue| queue.occupancy)],
            vec![low(device.ingress_timestamp)],
            vec![Some(2)],
            vec![None],
            vec![device.egress_utilization],
        ],
        InstructionSet::V1_0 | InstructionSet::V0_5 => [
            vec![Some(id)],
            vec![Some(if is_host { 0x0001_0001 } else { 0x0001_0002 })],
            vec![device.hop_latency],
            vec![device.queue.map(|_| 0x0300_0102)],
            time(device.ingress_timestamp),
            time(device.egress_timestamp),
            vec![None; if layout == InstructionSet::V1_0 { level2_words } else { 1 }],
            vec![device.egress_utilization],
        ],
    };
    let asked = fields.into_iter().enumerate().filter(|(bit, _)| seen.bitmap & 0x8000 >> bit != 0);
    let mut words: Vec<_> = asked.flat_map(|(_, field)| field).map(|value| value.unwrap_or(none)).collect();
    // The complement of 1.0 is not used here.
    words.resize(seen.hop_bytes / 4, none);
    if layout == InstructionSet::V2016 && is_bottom {
        *words.last_mut().unwrap() |= 0x8000_0000;
    }
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn every_version_starts_int_in_every_encapsulation_it_has() {
    use inband_testkit::packet;
    let geneve = packet().udp(7, 6081).payload(&[0, 0, 0x65, 0x58, 0, 0, 7, 0, 0xee]);
    let vxlan_gpe = packet().udp(7, 4790).payload(&[12, 0, 0, 3, 0, 0, 7, 0, 0xee]);
    let carriers = [geneve, vxlan_gpe, packet().tcp(1, 80).options(&[1; 4]), packet().udp(1, 53)];
    for (version, kinds, starts) in [(200, 4, 2 * 4 + 2), (214, 4, 2 * 4 + 2), (228, 2, 2), (242, 2, 2 * 4)] {
        let mut started = 0;
        for kind in 0..kinds {
            for carrier in &carriers {
                let domain = DomainPlan([kind, version, 0x90, 0, 0, 0, 0, 0]);
                let journey = Journey::run(&domain, &[NodePlan([0; 4]); 4], &carrier.build());
                if journey.any(Outcome::Started) {
                    started += 1;
                    let seen = seen(&journey.configs[0], &journey.frames[3]).unwrap();
                    let hops = if version == 242 { 2 } else { 3 };
                    assert_eq!(seen.stack.len(), hops * seen.hop_bytes, "{domain:?}");
                }
                assert_eq!(journey.last(), &journey.restored());
            }
        }
        assert_eq!(started, starts, "packets started with plan {version}");
    }
}
