//! Packets that wait when a switch ends.

use std::net::UdpSocket;
use std::time::Instant;

use inband_linux::namespace::Namespace;
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, Status};

use crate::down::{step_until, to_the_right};
use crate::fast_path::Line;
use crate::kernel::plain_frame;
use crate::world::{A, FIRST, PATIENCE, World, config, drops};

/// Packets of 1,000 bytes, each of which takes an eighth of a second at the rate of the interface.
const COUNT: u64 = 50;

/// Packets dropped because the switch ended, at an interface.
fn ended(status: &Status, at: usize) -> u64 {
    status.interfaces[at].drops.get("ended").copied().unwrap_or(0)
}

#[test]
fn packets_in_a_queue_at_the_end_are_drops_with_a_reason() {
    for io in ["af-packet", "af-xdp"] {
        let Some(line) = Line::new(1) else { return };
        Namespace::open(line.world.name(FIRST)).unwrap().enter().unwrap();
        let mut switch = LiveSwitch::start(&to_the_right(io, "64kbit")).unwrap();
        let frame = line.routed(&plain_frame(1_000, 17, true, 9));
        for _ in 0..COUNT {
            assert_eq!(line.from.send(std::iter::once(frame.as_slice())).unwrap(), 1);
        }
        let waits = step_until(&mut switch, io, |status| status.interfaces[0].received_packets >= COUNT);
        assert!(waits.interfaces[1].waiting_packets > 1, "{io}: {waits:?}");

        switch.finish();

        let end = switch.status();
        assert!(ended(&end, 1) > 1, "{io}: {end:?}");
        assert_eq!((end.interfaces[1].waiting_packets, end.interfaces[1].waiting_bytes), (0, 0), "{io}");
        let sum =
            |count: fn(&inband_switch::PortStatus) -> u64| end.interfaces.iter().map(count).sum::<u64>();
        let gone = sum(|port| port.sent_packets) + sum(|port| port.to_host) + drops(&end);
        assert_eq!(sum(|port| port.received_packets), gone, "{io}: {end:?}");
    }
}

#[test]
fn packets_without_a_neighbour_are_visible_and_at_the_end_drops_with_a_reason() {
    for io in ["af-packet", "af-xdp"] {
        let Some(world) = World::new() else { return };
        world.three_networks();
        Namespace::open(world.name(FIRST)).unwrap().enter().unwrap();
        let text = format!("[switch]\ndatapath = \"engine\"\nforwarding = \"routes\"\nio = \"{io}\"\n");
        let config: NodeConfig = toml::from_str(&config(FIRST, &text)).unwrap();
        let mut switch = LiveSwitch::start(&config).unwrap();
        let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
        let since = Instant::now();
        let mut waits = 0;
        // They wait for three seconds each.
        while waits == 0 {
            // Errors of earlier packets are ignored.
            let _ = sender.send_to(b"anybody there", "10.94.2.77:9");
            switch.step().unwrap();
            waits = switch.status().interfaces[0].unresolved_packets;
            assert!(since.elapsed() < PATIENCE, "{io}: {:?}", switch.status());
        }

        switch.finish();

        let end = switch.status();
        assert_eq!(
            (ended(&end, 0), end.interfaces[0].unresolved_packets),
            (waits as u64, 0),
            "{io}: {end:?}"
        );
    }
}
