//! What is not to be touched is not, and whatever becomes of the agent, traffic flows.

use rustix::net::sockopt::set_ip_tos;

use crate::agent::{Agent, Domain};
use crate::traffic::{bytes, deliver, receive, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

#[test]
fn a_packet_that_only_looks_like_int_is_untouched() {
    // Whoever writes INT himself cannot leave the checksum to a device.
    let Some(world) = World::new(Offloads::Off) else { return };
    let Some(b) = Agent::start(&world, Place::B, &Domain::new("dscp", "md")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    set_ip_tos(&at_a, 0x17 << 2).unwrap();
    let shim = [0x10, 10, 0, 0, 0x20, 0, 7, 7, 0xec, 0, 0, 0, 0, 0, 0, 0];

    for payload in
        [b"".as_slice(), b"\x10\x0a", &bytes(44, 5), &shim, &[&shim, bytes(27, 5).as_slice()].concat()]
    {
        deliver(&at_a, &at_b, payload);
    }
    // The same with everything in its place is INT.
    at_a.send(&[&shim, bytes(28, 5).as_slice(), b"payload"].concat()).unwrap();
    let mut received = [0; 100];
    let length = receive(&at_b, &mut received);

    assert_eq!(&received[..length], b"payload");
    let counted = b.stop();
    assert_eq!(counted["outcomes"]["stripped"], 1, "{counted}");
}

#[test]
fn datagrams_that_leave_no_room_are_counted_and_arrive_as_they_are() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    // 1472 fills the packet; 1456 leaves room for the header alone, 1428 for the host's metadata, too; 4000 is fragmented.
    for length in [1472, 1457, 1456, 1428, 4000] {
        deliver(&at_a, &at_b, &bytes(length, 6));
    }

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(a["outcomes"]["not_started_mtu"], 2, "{a}");
    assert_eq!(a["outcomes"]["started"], 2, "{a}");
    assert_eq!(a["outcomes"]["fragment"], 3, "{a}");
    assert_eq!(b["outcomes"]["stripped"], 2, "{b}");
}
