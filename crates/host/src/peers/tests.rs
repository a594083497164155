//! What holds for addresses, as the programs find it: by the longest prefix.

use std::net::IpAddr;

use inband_node::config::Prefix;

use super::{ENDED_ALWAYS, FORMER_NS, Flags, IS_PEER, Peers, SENT_ALWAYS};
use crate::rules::MappedPrefix;
use crate::settings::PeerSettings;

const PERMANENT: Flags = IS_PEER | SENT_ALWAYS | ENDED_ALWAYS;

#[test]
fn int_of_a_peer_is_removed_after_it_is_no_permanent_peer_any_more() {
    let mut peers = Peers::default();
    peers.set(&[permanent("10.0.0.0/8"), leased("192.0.2.0/24")], 0);
    assert_eq!(flags(&peers, "10.1.2.3"), PERMANENT);
    assert_eq!((flags(&peers, "192.0.2.1"), flags(&peers, "198.51.100.1")), (IS_PEER, 0));

    // With a lease from here on; the other is no peer any more, and had a lease.
    peers.set(&[leased("10.0.0.0/8")], 100);
    assert_eq!(flags(&peers, "10.1.2.3"), IS_PEER | ENDED_ALWAYS);
    assert_eq!(flags(&peers, "192.0.2.1"), 0);

    peers.set(&[], 200);
    assert_eq!(flags(&peers, "10.1.2.3"), ENDED_ALWAYS);
    assert!(!peers.forget_old(99 + FORMER_NS) && peers.has_former());
    assert!(peers.forget_old(100 + FORMER_NS) && !peers.has_former());
    assert_eq!(flags(&peers, "10.1.2.3"), 0);
}

#[test]
fn a_permanent_peer_again_is_no_former_one() {
    let mut peers = Peers::default();
    peers.set(&[permanent("10.0.0.0/8")], 0);
    peers.set(&[leased("10.0.0.0/8")], 1);
    peers.set(&[permanent("10.0.0.0/8")], 2);
    assert!(!peers.has_former());
    assert_eq!(flags(&peers, "10.1.2.3"), PERMANENT);
}

#[test]
fn a_prefix_inside_another_has_its_own_and_what_was_around_it() {
    let mut peers = Peers::default();
    peers.set(&[permanent("10.0.0.0/8")], 0);
    peers.set(&[leased("10.1.0.0/16"), leased("2001:db8::/32")], 1);
    assert_eq!(flags(&peers, "10.1.2.3"), IS_PEER | ENDED_ALWAYS);
    assert_eq!(flags(&peers, "10.2.2.3"), ENDED_ALWAYS);
    assert_eq!(flags(&peers, "2001:db8::1"), IS_PEER);

    // A former peer inside a peer is still one.
    let mut peers = Peers::default();
    peers.set(&[permanent("10.1.0.0/16")], 0);
    peers.set(&[leased("10.0.0.0/8")], 1);
    assert_eq!(flags(&peers, "10.1.2.3"), IS_PEER | ENDED_ALWAYS);
    assert_eq!(flags(&peers, "10.2.2.3"), IS_PEER);
}

#[test]
fn what_an_earlier_agent_removed_is_taken_over_unless_it_is_permanent_still() {
    let mut peers = Peers::default();
    peers.set(&[permanent("10.0.0.0/8"), leased("192.0.2.0/24")], 0);
    let entries = ["10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32"].map(|prefix| {
        let prefix = MappedPrefix::of(prefix.parse().unwrap());
        MappedPrefix::of_entry(prefix.address, prefix.length)
    });
    peers.take_over(&entries, 5);
    assert_eq!(peers.former.len(), 2);
    assert_eq!(flags(&peers, "10.1.2.3"), PERMANENT);
    assert_eq!(flags(&peers, "192.0.2.1"), IS_PEER | ENDED_ALWAYS);
    assert_eq!(flags(&peers, "2001:db8::1"), ENDED_ALWAYS);
}

fn permanent(prefix: &str) -> PeerSettings {
    PeerSettings { prefix: prefix.parse().unwrap(), lease: false }
}

fn leased(prefix: &str) -> PeerSettings {
    PeerSettings { prefix: prefix.parse().unwrap(), lease: true }
}

fn flags(peers: &Peers, address: &str) -> Flags {
    let address: IpAddr = address.parse().unwrap();
    let of = MappedPrefix::of(Prefix::new(address, if address.is_ipv4() { 32 } else { 128 }));
    let table = peers.table();
    let found = (0..=128).rev().find_map(|length| {
        let key = of.shortened(length);
        table.iter().find(|(prefix, _)| prefix.key() == key).map(|(_, flags)| *flags)
    });
    found.unwrap_or_default()
}
