use super::Host;
use crate::egress_port::EgressPort;
use crate::frame::{IP_CHECKSUM_OFFSET, L3, L4, TTL_OFFSET, route};
use crate::ledger::Mismatch;
use crate::link::LinkConfig;
use crate::packet::{Packet, TrueHop};
use crate::topology::{Device, LeafSpine, Port, host_mac, switch_mac};

const FABRIC: LeafSpine = LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 2 };

#[test]
fn a_packet_that_is_what_was_sent_is_read() {
    let received = host(7).receive(&arrived()).unwrap();

    assert_eq!(received.flow.to_string(), "10.0.1.1:5000 > 10.0.4.2:6000 protocol 17");
    assert_eq!(received.payload_bytes, 101);
    assert!(received.tcp.is_none());
}

#[test]
fn each_difference_has_its_name() {
    let flip = |at: usize| {
        let mut packet = arrived();
        packet.frame_mut()[at] ^= 0x10;
        host(7).receive(&packet).unwrap_err()
    };

    assert_eq!(flip(0), Mismatch::Address);
    assert_eq!(flip(L3 + TTL_OFFSET), Mismatch::TimeToLive);
    assert_eq!(flip(L3 + IP_CHECKSUM_OFFSET), Mismatch::HeaderChecksum);
    assert_eq!(flip(12), Mismatch::Content);
    assert_eq!(flip(L4 + 6), Mismatch::Content);
    assert_eq!(flip(L4 + 108), Mismatch::Content);
    assert_eq!(host(6).receive(&arrived()).unwrap_err(), Mismatch::Address);
}

#[test]
fn a_packet_whose_checksum_was_already_wrong_when_sent_is_noticed() {
    let mut packet = Packet::default();
    packet.send(0, |out| {
        host(0).envelope(host(7).address, (5_000, 6_000), 0).write_udp(out, 1, 101);
        out[L4 + 20] ^= 1;
    });
    pass_three_hops(&mut packet);

    assert_eq!(host(7).receive(&packet).unwrap_err(), Mismatch::Checksum);
}

#[test]
fn every_packet_has_its_own_identification() {
    let mut host = host(0);

    let identifications = [(); 3].map(|()| host.envelope(host.address, (1, 2), 0).identification);

    assert_eq!(identifications, [0, 1, 2]);
}

fn arrived() -> Packet {
    let mut packet = Packet::default();
    packet.send(0, |out| host(0).envelope(host(7).address, (5_000, 6_000), 0).write_udp(out, 1, 101));
    pass_three_hops(&mut packet);
    packet
}

fn pass_three_hops(packet: &mut Packet) {
    for _ in 0..3 {
        assert!(route(packet.frame_mut(), switch_mac(3), host_mac(7)));
        packet.path.push(TrueHop::default());
    }
}

fn host(index: usize) -> Host {
    let peer = Port { device: Device::Switch(FABRIC.attachment(index).0), number: 0 };
    let link = LinkConfig { bits_per_second: 1, propagation_ns: 0 };
    Host {
        address: FABRIC.host_address(index),
        mac: host_mac(index),
        router_mac: switch_mac(FABRIC.attachment(index).0),
        port: EgressPort::new(peer, link, 0),
        next_identification: 0,
    }
}
