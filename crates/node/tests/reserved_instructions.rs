//! Reserved instruction bits of INT 2.1: padded or skipped in stacks, cleared in reports, for every set.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{ChecksumUpdate, EncapsulationKind, Mode, NodeConfig, UnknownInstructions};
use inband_node::{Node, Outcome};
use inband_testkit::int::words_of;
use inband_testkit::{int_md, int_mx, md_frame, oracle, packet};

use support::{md, node_config, stack, through, with_report};

/// Node id, queue occupancy, every set of the bits 9 to 14, with and without checksum complement.
fn bitmaps() -> impl Iterator<Item = u16> {
    (0..64_u16).flat_map(|reserved| [0, 1].map(|complement| 0x9000 | reserved << 1 | complement))
}

fn transit(unknown: UnknownInstructions) -> NodeConfig {
    let mut config = node_config(7, (false, false), EncapsulationKind::Dscp, Mode::Md);
    config.node.unknown_instructions = unknown;
    config.checksum.update = ChecksumUpdate::Complement;
    config
}

/// A packet whose stack has another node's hop for `bitmap`.
fn before(bitmap: u16) -> Vec<u8> {
    let hop = vec![0x0102_0304; usize::from(words_of(bitmap))];
    let int = int_md().bitmap(bitmap).remaining_hop_count(4).words(&hop);
    md_frame().over(packet().tcp(9, 80)).with(|_| int).payload(b"payload").build()
}

#[test]
fn a_padding_hop_adds_a_word_of_ones_for_each_reserved_bit_so_that_hop_ml_holds() {
    // int-2.1/md-25, int-2.1/md-27, int-2.1/md-28, int-2.1/checksum-05
    for bitmap in bitmaps() {
        let before = before(bitmap);
        let mut node = Node::new(&transit(UnknownInstructions::Pad)).unwrap();
        let after = through(&mut node, &before).unwrap();
        let reserved = usize::try_from((bitmap & 0x007e).count_ones()).unwrap();
        let (header, _) = md(&after);
        let grown = header.hop_ml().bytes();
        assert_eq!(grown, usize::from(words_of(bitmap)) * 4, "{bitmap:#06x}");
        assert_eq!(stack(&after).len(), stack(&before).len() + grown, "{bitmap:#06x}");
        assert_eq!(stack(&after)[..8], [0, 0, 0, 7, 3, 0, 1, 2], "{bitmap:#06x}");
        assert_eq!(stack(&after)[8..8 + reserved * 4], vec![0xff; reserved * 4], "{bitmap:#06x}");
        assert_eq!(header.remaining_hop_count(), 3);
        assert_eq!(oracle::l4_sum(&after), Some(0xffff), "{bitmap:#06x}");
        // With the complement, which is last, the checksum field is unchanged.
        let has_complement = bitmap & 1 == 1;
        assert_eq!(after[50..52] == before[50..52], has_complement, "{bitmap:#06x}");
    }
}

#[test]
fn a_skipping_hop_adds_nothing_where_any_reserved_bit_is_set() {
    // int-2.1/md-25, int-2.1/md-29
    for bitmap in bitmaps() {
        let before = before(bitmap);
        let mut node = Node::new(&transit(UnknownInstructions::Skip)).unwrap();
        let after = through(&mut node, &before).unwrap();
        let is_skipped = bitmap & 0x007e != 0;
        assert_eq!(after == before, is_skipped, "{bitmap:#06x}");
        assert_eq!(node.counters().get(Outcome::ReservedInstruction), u64::from(is_skipped));
    }
}

#[test]
fn a_hop_ml_that_contradicts_the_bits_is_no_int() {
    // int-2.1/md-10, int-2.1/md-12, int-2.1/md-28: a reserved bit that Hop ML does not count.
    let mut packet = before(0x9002);
    let (_, location) = md(&packet);
    packet[location.header + 2] -= 1;
    support::repair_tcp_checksum(&mut packet);
    let mut node = Node::new(&transit(UnknownInstructions::Pad)).unwrap();
    assert_eq!(through(&mut node, &packet).unwrap(), packet);
    assert_eq!(node.counters().get(Outcome::Malformed), 1);
}

#[test]
fn an_mx_node_clears_reserved_bits_in_its_report_and_sends_what_it_has() {
    // int-2.1/mx-20, int-2.1/mx-28
    for bitmap in (0..64_u16).map(|reserved| 0x9000 | reserved << 1) {
        let frame =
            inband_testkit::mx_frame().over(packet().tcp(9, 80)).with(|_| int_mx().bitmap(bitmap)).build();
        let mut node = Node::new(&transit(UnknownInstructions::Skip)).unwrap();
        assert_eq!(through(&mut node, &frame).unwrap(), frame);
        with_report(&mut node, |report| {
            assert_eq!(report.rep_md_bits().0, 0x1000, "{bitmap:#06x}");
            assert_eq!(report.first_word.md_length().count(), 1);
        });
    }
}
