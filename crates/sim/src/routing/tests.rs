use std::net::IpAddr;

use inband_wire::FiveTuple;

use super::Routing;
use crate::topology::LeafSpine;

const FABRIC: LeafSpine = LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 2 };
const FLOWS: u16 = 1_000;

#[test]
fn a_leaf_sends_down_to_its_own_hosts_and_up_to_all_others() {
    let routing = Routing::new(FABRIC, 1);
    let to = |host| FiveTuple { destination: IpAddr::V4(FABRIC.host_address(host)), ..flow(0) };

    assert_eq!(routing.egress(1, &to(2)), Some(0));
    assert_eq!(routing.egress(1, &to(3)), Some(1));
    assert!(matches!(routing.egress(0, &to(3)), Some(2 | 3)));
    assert_eq!(routing.egress(FABRIC.spine(1), &to(3)), Some(1));
    let nowhere = FiveTuple { destination: IpAddr::from([10, 9, 9, 9]), ..flow(0) };
    assert_eq!(routing.egress(0, &nowhere), None);
}

#[test]
fn flows_spread_over_the_spines_by_weight() {
    let mut routing = Routing::new(FABRIC, 1);

    let equal = share_of_first_spine(&routing);
    routing.set_weight(0, 0, 3);
    let heavier = share_of_first_spine(&routing);
    routing.set_weight(0, 0, 0);
    let drained = share_of_first_spine(&routing);

    assert!((430..570).contains(&equal), "{equal} of 1000");
    assert!((680..820).contains(&heavier), "{heavier} of 1000");
    assert_eq!(drained, 0);
}

#[test]
fn a_failed_link_moves_only_the_flows_on_it_and_they_come_back() {
    let wide = LeafSpine { spines: 4, ..FABRIC };
    let mut routing = Routing::new(wide, 1);
    let before: Vec<_> = (0..FLOWS).map(|port| routing.spine(0, 3, &flow(port))).collect();

    routing.set_up(3, 2, false);
    let during: Vec<_> = (0..FLOWS).map(|port| routing.spine(0, 3, &flow(port))).collect();
    let elsewhere = (0..FLOWS).filter(|&port| routing.spine(0, 1, &flow(port)) == Some(2)).count();
    routing.set_up(3, 2, true);
    let after: Vec<_> = (0..FLOWS).map(|port| routing.spine(0, 3, &flow(port))).collect();

    assert!(!during.contains(&Some(2)));
    assert!(before.iter().zip(&during).all(|(was, is)| was == is || *was == Some(2)));
    assert!(elsewhere > 0, "the spine still serves the other leaves");
    assert_eq!(before, after);
}

#[test]
fn a_pinned_flow_goes_over_its_spine_as_long_as_that_is_up() {
    let mut routing = Routing::new(FABRIC, 1);
    let hashed = routing.spine(0, 3, &flow(5)).unwrap();

    routing.pin(flow(5), 1 - hashed);
    let pinned = routing.spine(0, 3, &flow(5));
    routing.set_up(0, 1 - hashed, false);
    let failed = routing.spine(0, 3, &flow(5));
    routing.set_up(0, 1 - hashed, true);
    routing.unpin(&flow(5));
    let unpinned = routing.spine(0, 3, &flow(5));

    assert_eq!((pinned, failed, unpinned), (Some(1 - hashed), Some(hashed), Some(hashed)));
}

#[test]
fn no_spine_is_left_when_both_links_are_down() {
    let mut routing = Routing::new(FABRIC, 1);
    routing.set_up(0, 0, false);
    routing.set_up(3, 1, false);

    assert_eq!(routing.spine(0, 3, &flow(0)), None);
    assert_eq!(routing.egress(FABRIC.spine(1), &flow(0)), None);
}

fn share_of_first_spine(routing: &Routing) -> usize {
    (0..FLOWS).filter(|&port| routing.spine(0, 3, &flow(port)) == Some(0)).count()
}

fn flow(source_port: u16) -> FiveTuple {
    FiveTuple {
        source: IpAddr::V4(FABRIC.host_address(0)),
        destination: IpAddr::V4(FABRIC.host_address(6)),
        protocol: 6,
        source_port,
        destination_port: 80,
    }
}
