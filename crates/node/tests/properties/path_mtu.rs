//! "Too big" messages to the senders of packets.

use inband_node::config::Icmp;
use inband_testkit::oracle;
use inband_testkit::path::{NodePlan, next_packet};
use inband_testkit::strategies::{domain_plan, ip_packet};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::Journey;
use crate::{MAX_PAYLOAD, many};

proptest! {
    #![proptest_config(many())]

    #[test]
    fn a_message_quotes_the_packet_as_its_sender_made_it_and_asks_for_less(
        packet in ip_packet(MAX_PAYLOAD),
        domain in domain_plan(),
        room in vec(0..80_usize, 2..=6),
        is_conservative in any::<bool>(),
    ) {
        // int-2.1/mtu-02, int-2.1/mtu-03, int-2.1/mtu-04
        let mut domain = domain;
        domain.0[1] %= 200;
        let frame = packet.build();
        let Some(at) = oracle::anatomy(&frame) else { return Ok(()) };
        let (original, length) = (&frame[at.l3..at.end.min(frame.len())], at.end - at.l3);
        let mtus: Vec<_> = room.iter().map(|room| u32::try_from(length + room).unwrap_or(u32::MAX)).collect();
        let plans = vec![NodePlan([0; 4]); mtus.len()];
        let mut journey = Journey::run_with(&domain, &plans, &frame, |config| {
            let index = usize::try_from(config.node.id).unwrap_or(1) - 1;
            config.interfaces[1].mtu = mtus[index];
            config.mtu.icmp = if is_conservative { Icmp::Conservative } else { Icmp::Own };
        });
        for node in &mut journey.nodes {
            let Some(reply) = next_packet(node) else { continue };
            prop_assert!(node.poll_output().is_none());
            let message = oracle::anatomy(&reply.bytes).expect("a message");
            prop_assert_eq!(message.version, at.version);
            prop_assert!(oracle::ipv4_header_sum(&reply.bytes).is_none_or(|sum| sum == 0xffff));
            let icmp = &reply.bytes[message.l3 + message.l3_length..message.end];
            let (mtu, quoted) = (usize::from(u16::from_be_bytes([icmp[6], icmp[7]])), &icmp[8..]);
            prop_assert!(original.starts_with(quoted), "{:02x?} of {:02x?}", quoted, original);
            let least = if at.version == 4 { 68 } else { 1280 };
            prop_assert!((least..length).contains(&mtu), "{} for {}", mtu, length);
            let most = if at.version == 4 { 576 } else { 1280 };
            prop_assert!(message.end - message.l3 <= most);
        }
    }
}
