//! The metadata an INT-MD transit hop adds, and when it adds none.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{
    ChecksumUpdate, EncapsulationKind, Instruction, InstructionList, Mode, NodeConfig, UnknownInstructions,
};
use inband_node::{Node, Outcome};
use inband_wire::Words;

use support::{
    checksum_is_right, ip_checksum_is_right, layers, md, node_config, path, stack, tcp_frame, through,
    with_header,
};

const NO_EDGE: (bool, bool) = (false, false);

fn config(id: u32) -> NodeConfig {
    node_config(id, NO_EDGE, EncapsulationKind::Dscp, Mode::Md)
}

fn transit(id: u32) -> Node {
    Node::new(&config(id)).unwrap()
}

/// A packet as sent by its source, node 1, which requested `instructions`.
fn started(instructions: &[Instruction]) -> Vec<u8> {
    let mut config = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    config.source.instructions = instructions.iter().copied().collect::<InstructionList>();
    through(&mut Node::new(&config).unwrap(), &tcp_frame(b"payload")).unwrap()
}

fn node_and_queue() -> Vec<u8> {
    started(&[Instruction::NodeId, Instruction::QueueOccupancy])
}

#[test]
fn transit_puts_its_metadata_in_front_of_the_older_ones() {
    // int-2.1/transit-01, int-2.1/md-22, int-2.1/md-23, int-2.1/headers-03, int-2.1/l4-25
    let before = node_and_queue();

    let after = through(&mut transit(7), &before).unwrap();

    assert_eq!(stack(&after)[..8], [0, 0, 0, 7, 3, 0, 1, 2]);
    assert_eq!(stack(&after)[8..], *stack(&before));
    assert_eq!(after[after.len() - 7..], *b"payload");
    assert!(checksum_is_right(&after) && ip_checksum_is_right(&after));
}

#[test]
fn transit_counts_down_the_remaining_hops_when_it_adds_metadata() {
    // int-2.1/transit-02, int-2.1/md-09
    let before = node_and_queue();
    let after = through(&mut transit(7), &before).unwrap();
    assert_eq!(md(&before).0.remaining_hop_count(), 7);
    assert_eq!(md(&after).0.remaining_hop_count(), 6);
}

#[test]
fn transit_changes_nothing_else_in_the_header() {
    // int-2.1/transit-05, int-2.1/md-40, int-2.1/md-39
    let before = node_and_queue();
    let after = through(&mut transit(7), &before).unwrap();
    let (mut expected, _) = md(&before);
    expected.set_remaining_hop_count(6);
    assert_eq!(md(&after).0, expected);
}

#[test]
fn transit_updates_the_lengths_of_shim_and_ip() {
    // int-2.1/l4-29, int-2.1/md-10
    let before = node_and_queue();
    let after = through(&mut transit(7), &before).unwrap();
    let (_, location) = md(&after);
    assert_eq!(after[location.shim + 1], 3 + 2 + 2);
    assert_eq!(layers(&after).ip_length(), layers(&before).ip_length() + 8);
}

#[test]
fn transit_without_hops_left_sets_e_and_leaves_the_stack_alone() {
    // int-2.1/md-07, int-2.1/md-03, int-2.1/md-29
    let before = with_header(&node_and_queue(), 3, &[0]);
    let mut node = transit(7);

    let after = through(&mut node, &before).unwrap();

    assert!(md(&after).0.max_hop_count_exceeded());
    assert_eq!(md(&after).0.remaining_hop_count(), 0);
    assert_eq!(stack(&after), stack(&before));
    assert!(checksum_is_right(&after));
    assert_eq!(node.counters().get(Outcome::HopsExceeded), 1);
}

#[test]
fn transit_with_one_hop_left_uses_it_and_leaves_e_clear() {
    // int-2.1/md-07
    let before = with_header(&node_and_queue(), 3, &[1]);
    let after = through(&mut transit(7), &before).unwrap();
    assert!(!md(&after).0.max_hop_count_exceeded());
    assert_eq!(md(&after).0.remaining_hop_count(), 0);
    assert_eq!(stack(&after).len(), stack(&before).len() + 8);
}

#[test]
fn transit_adds_metadata_up_to_the_egress_mtu_and_sets_m_beyond() {
    // int-2.1/mtu-05, int-2.1/md-29: 7 bytes of room would fit one of two words; none is added, and M is set.
    // int-2.1/md-05: M is set then, and only then. int-2.1/mtu-09: the packet stays one packet.
    let before = node_and_queue();
    let grown = u32::try_from(layers(&before).ip_length() + 8).unwrap();
    for (mtu, fits) in [(grown, true), (grown - 1, false)] {
        let mut config = config(7);
        config.interfaces[1].mtu = mtu;
        let mut node = Node::new(&config).unwrap();

        let after = through(&mut node, &before).unwrap();

        assert_eq!(md(&after).0.mtu_exceeded(), !fits, "mtu {mtu}");
        assert_eq!(stack(&after).len(), stack(&before).len() + if fits { 8 } else { 0 });
        assert_eq!(md(&after).0.remaining_hop_count(), if fits { 6 } else { 7 });
        assert_eq!(node.counters().get(Outcome::MtuExceeded), u64::from(!fits));
        assert!(checksum_is_right(&after) && ip_checksum_is_right(&after));
    }
}

#[test]
fn transit_writes_all_ones_for_what_it_does_not_know() {
    // int-2.1/md-24, int-2.1/md-27
    let before = started(&[Instruction::NodeId, Instruction::Level2Interfaces, Instruction::BufferOccupancy]);
    let after = through(&mut transit(7), &before).unwrap();
    let mut expected = vec![0, 0, 0, 7];
    expected.extend([0xff; 12]);
    assert_eq!(stack(&after)[..16], expected);
}

#[test]
fn transit_answers_every_baseline_instruction_in_the_order_of_the_bits() {
    // int-2.1/md-12, int-2.1/md-23: one value for each bit, in bit order.
    // int-2.1/metadata-01: at level 2 the hop reports other interfaces than at level 1, as configured.
    let before = started(&Instruction::OF_2_1);
    let mut config = config(7);
    config.interfaces[0].level2_id = 0x0a0b_0c0d;
    config.interfaces[1].level2_id = 0x0102_0304;
    let after = through(&mut Node::new(&config).unwrap(), &before).unwrap();
    let mut expected = Vec::new();
    expected.extend(7_u32.to_be_bytes());
    expected.extend([0, 1, 0, 2]);
    expected.extend(1000_u32.to_be_bytes());
    expected.extend([3, 0, 1, 2]);
    expected.extend(1_700_000_000_000_000_000_u64.to_be_bytes());
    expected.extend(1_700_000_000_000_001_000_u64.to_be_bytes());
    expected.extend([0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4]);
    expected.extend(42_u32.to_be_bytes());
    expected.extend([0xff; 4]);
    // int-2.1/checksum-06: the L4 checksum was updated, so the complement is not used.
    expected.extend([0xff; 4]);
    assert_eq!(stack(&after)[..expected.len()], expected);
    assert_eq!(md(&after).0.hop_ml(), Words::new(13));
}

#[test]
fn transit_pads_reserved_instructions_or_adds_nothing_as_configured() {
    // int-2.1/md-25: bit 9 is reserved; the source that set it requests 3 words a hop.
    let mut before = node_and_queue();
    let (_, location) = md(&before);
    before[location.header + 2] = 3;
    before[location.header + 5] = 0x40;
    before[location.header - 3] += 1;
    before.splice(location.end..location.end, [0xff; 4]);
    let length = u16::from_be_bytes([before[16], before[17]]) + 4;
    before[16..18].copy_from_slice(&length.to_be_bytes());
    support::repair_tcp_checksum(&mut before);

    let padded = through(&mut transit(7), &before).unwrap();
    let mut config = config(7);
    config.node.unknown_instructions = UnknownInstructions::Skip;
    let mut skipping = Node::new(&config).unwrap();
    let skipped = through(&mut skipping, &before).unwrap();

    assert_eq!(stack(&padded)[..12], [0, 0, 0, 7, 3, 0, 1, 2, 0xff, 0xff, 0xff, 0xff]);
    // int-2.1/md-28, int-2.1/md-29
    assert_eq!(skipped, before);
    assert_eq!(skipping.counters().get(Outcome::ReservedInstruction), 1);
}

#[test]
fn transit_adds_nothing_when_the_shim_length_is_full() {
    // int-2.1/md-28: 3 + 31 * 8 words fill 251 of 255; one more hop of 31 words cannot be counted.
    let mut config = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    config.source.instructions = Instruction::OF_2_1.into_iter().collect();
    config.source.remaining_hops = 255;
    let mut packet = through(&mut Node::new(&config).unwrap(), &tcp_frame(b"")).unwrap();
    let mut node = transit(7);
    let mut hops = 1;
    while 3 + 13 * (hops + 1) <= 255 {
        packet = through(&mut node, &packet).unwrap();
        hops += 1;
    }

    let after = through(&mut node, &packet).unwrap();

    assert_eq!(node.counters().get(Outcome::Pushed), hops - 1);
    assert_eq!(node.counters().get(Outcome::StackFull), 1);
    assert_eq!(after, packet);
}

#[test]
fn checksum_complement_keeps_the_tcp_checksum_as_it_is() {
    // int-2.1/checksum-04, int-2.1/checksum-05
    let before = started(&[Instruction::NodeId, Instruction::ChecksumComplement]);
    let mut config = config(7);
    config.checksum.update = ChecksumUpdate::Complement;

    let after = through(&mut Node::new(&config).unwrap(), &before).unwrap();

    assert_eq!(after[50..52], before[50..52], "TCP checksum field");
    assert!(checksum_is_right(&after));
    assert_eq!(stack(&after)[4..6], [0, 0]);
    assert_ne!(stack(&after)[4..8], [0xff; 4]);
}

#[test]
fn a_wrong_checksum_stays_wrong_by_the_same_difference() {
    // int-2.1/checksum-03, int-2.1/checksum-08
    let mut wrong = tcp_frame(b"payload");
    wrong[50] ^= 0x12;
    let right = tcp_frame(b"payload");
    let (mut a, mut b) =
        (path(4, EncapsulationKind::Dscp, Mode::Md), path(4, EncapsulationKind::Dscp, Mode::Md));
    let (mut wrong_now, mut right_now) = (wrong.clone(), right);
    let difference = |a: &[u8], b: &[u8]| {
        let field = |frame: &[u8]| u32::from(u16::from_be_bytes([frame[50], frame[51]]));
        (field(a) + 0xffff - field(b)) % 0xffff
    };
    let expected = difference(&wrong_now, &right_now);
    for (a, b) in a.iter_mut().zip(&mut b) {
        wrong_now = through(a, &wrong_now).unwrap();
        right_now = through(b, &right_now).unwrap();
        assert_eq!(difference(&wrong_now, &right_now), expected);
    }
    assert_eq!(wrong_now, wrong);
}

#[test]
fn synthetic_traffic_is_treated_as_any_other() {
    // int-2.1/modes-05
    let before = node_and_queue();
    let discard = with_header(&before, 0, &[0x28]);
    let after = through(&mut transit(7), &discard).unwrap();
    assert!(md(&after).0.discard());
    assert_eq!(stack(&after), stack(&through(&mut transit(7), &before).unwrap()));
}

#[test]
fn a_marked_packet_that_is_no_int_passes_as_it_came() {
    let mut packet = node_and_queue();
    let (_, location) = md(&packet);
    packet[location.header] = 0x50;
    let mut node = transit(7);
    assert_eq!(through(&mut node, &packet).unwrap(), packet);
    assert_eq!(node.counters().get(Outcome::Malformed), 1);
}

#[test]
fn transit_reports_the_stack_to_make_room_where_configured() {
    // int-2.1/mtu-05: without room for 8 bytes the stack is reported and removed, and M stays clear.
    // int-2.1/mtu-06, report-2.0/individual-11: I is set, and this node's hop is in the packet only.
    let before = through(&mut transit(2), &node_and_queue()).unwrap();
    for (mtu, reports) in [(0, 1), (8, 0)] {
        let mut config = config(7);
        config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
        config.interfaces[1].mtu = u32::try_from(layers(&before).ip_length() + mtu).unwrap();
        let mut node = Node::new(&config).unwrap();

        let after = through(&mut node, &before).unwrap();

        assert_eq!(node.counters().get(Outcome::IntermediateReport), reports, "{mtu} bytes of room");
        assert_eq!(node.counters().get(Outcome::Pushed), 1);
        assert!(!md(&after).0.mtu_exceeded());
        assert_eq!(md(&after).0.remaining_hop_count(), 5);
        assert_eq!(stack(&after)[..8], [0, 0, 0, 7, 3, 0, 1, 2]);
        assert_eq!(stack(&after).len(), if reports == 1 { 8 } else { 24 });
        assert!(checksum_is_right(&after) && ip_checksum_is_right(&after));
        if reports == 1 {
            support::with_report(&mut node, |report| {
                assert!(report.intermediate());
                assert_eq!(report.rep_md_bits().0, 0, "its own metadata is in the packet");
                assert_eq!(report.packet().unwrap().1[..before.len()], before);
            });
        }
    }
}

#[test]
fn the_complement_makes_up_for_the_stack_that_made_room() {
    // int-2.1/checksum-04: the L4 checksum field is unchanged, also if words were removed (mtu-05).
    let source = started(&[Instruction::NodeId, Instruction::ChecksumComplement]);
    let before = through(&mut transit(2), &source).unwrap();
    let mut config = config(7);
    config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
    config.checksum.update = ChecksumUpdate::Complement;
    config.interfaces[1].mtu = u32::try_from(layers(&before).ip_length()).unwrap();
    let mut node = Node::new(&config).unwrap();

    let after = through(&mut node, &before).unwrap();

    let field = layers(&before).l4 + 16;
    assert_eq!(after[field..field + 2], before[field..field + 2]);
    assert_eq!(node.counters().get(Outcome::IntermediateReport), 1);
    assert_eq!(stack(&after)[..6], [0, 0, 0, 7, 0, 0]);
    assert!(checksum_is_right(&after) && ip_checksum_is_right(&after));
}

#[test]
fn an_empty_stack_makes_no_room_so_m_is_set_all_the_same() {
    // int-2.1/mtu-05: there is no stack to report, so nothing is added, and M is set.
    let mut source = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    source.source.own_metadata = false;
    let before = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"payload")).unwrap();
    let mut config = config(7);
    config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
    config.interfaces[1].mtu = u32::try_from(layers(&before).ip_length() + 7).unwrap();
    let mut node = Node::new(&config).unwrap();
    let after = through(&mut node, &before).unwrap();
    assert!(md(&after).0.mtu_exceeded());
    assert!(support::reports(&mut node).is_empty());
}

#[test]
fn a_stack_that_a_capture_cut_makes_no_room_as_it_cannot_be_reported() {
    // int-2.1/mtu-05: only what can be reported is removed.
    let mut before = through(&mut transit(2), &node_and_queue()).unwrap();
    let mut config = config(7);
    config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
    config.interfaces[1].mtu = u32::try_from(layers(&before).ip_length()).unwrap();
    let mut node = Node::new(&config).unwrap();
    let payload_and_part_of_the_stack = b"payload".len() + 4;
    before.truncate(before.len() - payload_and_part_of_the_stack);

    let after = through(&mut node, &before).unwrap();

    assert_eq!(node.counters().get(Outcome::MtuExceeded), 1);
    assert_eq!(after.len(), before.len());
    assert_eq!(after[14..34], before[14..34], "the IP header");
    assert!(support::reports(&mut node).is_empty());
}
