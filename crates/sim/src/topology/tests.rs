use std::net::Ipv4Addr;

use super::{Device, LeafSpine, Port};

const FABRIC: LeafSpine = LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 3 };

#[test]
fn both_ends_of_every_link_agree() {
    for switch in 0..FABRIC.switches() {
        for (number, peer) in FABRIC.peers(switch).into_iter().enumerate() {
            let here = Port { device: Device::Switch(switch), number };
            let there = match peer.device {
                Device::Switch(other) => FABRIC.peers(other)[peer.number],
                Device::Host(host) => {
                    let (leaf, port) = FABRIC.attachment(host);
                    Port { device: Device::Switch(leaf), number: port }
                }
            };
            assert_eq!(there, here);
        }
    }
}

#[test]
fn node_ids_of_leaves_and_spines_stay_apart() {
    let ids: Vec<_> = (0..FABRIC.switches()).map(|switch| FABRIC.node_id(switch)).collect();

    assert_eq!(ids, [1, 2, 3, 4, 11, 12]);
    assert_eq!(LeafSpine { leaves: 11, ..FABRIC }.spine_node_id(0), 21);
}

#[test]
fn a_host_is_found_by_its_address() {
    for host in 0..FABRIC.hosts() {
        assert_eq!(FABRIC.host(FABRIC.host_address(host)), Some(host));
    }
    assert_eq!(FABRIC.host_address(7), Ipv4Addr::new(10, 0, 3, 2));
    for foreign in [[10, 0, 5, 1], [10, 0, 1, 4], [10, 0, 0, 1], [10, 0, 1, 0], [10, 1, 1, 1], [192, 0, 2, 1]]
    {
        assert_eq!(FABRIC.host(Ipv4Addr::from(foreign)), None);
    }
}

#[test]
fn a_fabric_out_of_range_is_refused_with_the_ranges() {
    let error = LeafSpine { leaves: 101, ..FABRIC }.check().unwrap_err().to_string();

    assert!(error.contains("1 to 100 leaves"), "{error}");
    assert!(LeafSpine { spines: 0, ..FABRIC }.check().is_err());
    assert!(LeafSpine { hosts_per_leaf: 49, ..FABRIC }.check().is_err());
    assert!(FABRIC.check().is_ok());
}
