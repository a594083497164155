//! Switches that are bridges.

use crate::world::{A, B, FIRST, SECOND, World, drops, is_there, outcome};

/// No more reports than fit into a socket.
const FEW: &str = "[report]\nversion = \"2.0\"\n";

#[test]
fn tcp_and_udp_arrive_bit_for_bit_and_the_sink_reports_every_packet() {
    let Some(world) = World::new() else { return };
    world.one_network();
    let (first, second) = (world.switch(FIRST, FEW), world.switch(SECOND, FEW));

    for to in ["10.94.0.2", "fd94::2"] {
        world.udp(to, (0..=1_400).step_by(97));
        world.tcp(to, 100_000);
    }

    // The ends of connections pass meanwhile; what is late on a busy machine comes with the switches' end.
    let [left, right] = [&first, &second].map(|switch| switch.take_reports().len());
    let (first, rest_of_left) = first.stop_and_take_reports();
    let (second, rest_of_right) = second.stop_and_take_reports();
    let (left, right) = (left + rest_of_left.len(), right + rest_of_right.len());
    let (started, ended) = (outcome(&first, "started"), outcome(&second, "stripped"));
    assert!(started > 50, "{first:?}");
    assert_eq!(started, ended);
    // Each sink has reported the packets from the other side.
    assert_eq!((outcome(&second, "started"), ended), (outcome(&first, "stripped"), right as u64));
    assert_eq!(left as u64, outcome(&first, "stripped"));
}

#[test]
fn large_transfers_of_hosts_with_offloads_arrive_bit_for_bit() {
    let Some(world) = World::new() else { return };
    world.one_network();
    let switches =
        [FIRST, SECOND].map(|place| world.switch(place, "[source]\ninstructions = [\"node-id\"]\n"));

    for to in ["10.94.0.2", "fd94::2"] {
        world.tcp(to, 8_000_000);
    }

    for switch in switches {
        let status = switch.stop();
        let losses: u64 = status.interfaces.iter().map(|port| port.receive_losses).sum();
        assert_eq!((drops(&status), losses), (0, 0), "{status:?}");
    }
}

#[test]
fn tunnels_of_hosts_with_offloads_arrive_bit_for_bit() {
    let Some(world) = World::new() else { return };
    if !is_there("ip") {
        return eprintln!("skipped: `ip` is not installed");
    }
    world.one_network();
    for (place, device, local, remote, inner) in [
        (A, "right", "10.94.0.1", "10.94.0.2", "10.95.0.1/24"),
        (B, "left", "10.94.0.2", "10.94.0.1", "10.95.0.2/24"),
    ] {
        let vxlan =
            format!("ip link add vx type vxlan id 9 local {local} remote {remote} dstport 4789 dev {device}");
        if !world.run(place, &vxlan) {
            return eprintln!("skipped: this kernel has no VXLAN");
        }
        world.address(place, "vx", inner);
        assert!(world.run(place, "ip link set vx up"));
    }
    let switches = [FIRST, SECOND].map(|place| world.switch(place, ""));

    world.udp("10.95.0.2", (0..=1_400).step_by(211));
    world.tcp("10.95.0.2", 2_000_000);

    for switch in switches {
        let status = switch.stop();
        assert_eq!(drops(&status), 0, "{status:?}");
        assert!(outcome(&status, "started") > 0);
    }
}

#[test]
fn a_reload_changes_the_watchlist_and_loses_no_packet() {
    let Some(world) = World::new() else { return };
    world.one_network();
    let (first, second) = (world.switch(FIRST, ""), world.switch(SECOND, ""));
    world.udp("10.94.0.2", 100..110);

    for round in 0..20_usize {
        let other = "[[watch]]\ndestination = \"10.99.0.0/16\"\n";
        first.reload(FIRST, if round % 2 == 0 { other } else { "" });
        world.udp("10.94.0.2", 200 + round..203 + round);
    }

    let (first, second) = (first.stop(), second.stop());
    assert_eq!((first.reloads, drops(&first), drops(&second)), (20, 0, 0));
}
