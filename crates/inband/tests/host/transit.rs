//! INT through two transit hops between the hosts: reports contain all four nodes in order.
//!
//! The hops between the hosts forward as `inband node` does: a relay in each takes frames off one device, runs them
//! through the engine, and sends them by the other.
#![allow(
    unsafe_code,
    reason = "packet sockets are bound to a device by an address that only the kernel knows"
)]

use std::net::UdpSocket;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use inband_node::config::InterfaceConfig;
use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{DeviceMetadata, Node, NodeConfig, Outcome, Passage, Verdict};
use inband_wire::Link;
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::tally::{count, status};
use crate::traffic::{PATIENCE, exchange_tcp, exchange_udp};
use crate::world::{A4, A6, B4, B6, COLLECTOR, Offloads, Place, World};

/// A device of a hop, and the place and device at its other end.
type Cable = (&'static str, Place, &'static str);
/// The hops: node id, place, and devices towards A and towards B.
const HOPS: [(u32, Place, [Cable; 2]); 2] = [
    (3, Place::FirstHop, [("ba", Place::A, "ab"), ("bc", Place::SecondHop, "cb")]),
    (4, Place::SecondHop, [("cb", Place::FirstHop, "bc"), ("cd", Place::B, "dc")]),
];
/// Every packet of 2.1 has room for four hops of seven words.
const MAX_UDP: usize = 1_300;

#[test]
fn reports_tell_two_transit_hops_with_their_interfaces_and_times() {
    let Some(world) = World::new(Offloads::Off) else { return };
    // Packets that the kernel drops have no stack to report.
    let domain = Domain { host: "drops = false\n".to_owned(), ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let _collector = world.inside(Place::FirstHop, || UdpSocket::bind((COLLECTOR, 32766)).unwrap());
    let relays: Vec<_> = HOPS
        .iter()
        .flat_map(|(id, place, devices)| {
            stop_forwarding(&world, *place);
            [(0, 1), (1, 0)].map(|way| Relay::new(&world, (*id, *place), devices, way))
        })
        .collect();
    let capture = Capture::start(&world, Place::FirstHop);

    let (stop, pushed) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for relay in relays {
            scope.spawn(|| relay.run(&stop, &pushed));
        }
        let talk = scope.spawn(|| {
            exchange_udp(&world, A4, B4, (0..=MAX_UDP).step_by(13));
            exchange_udp(&world, A6, B6, (0..=MAX_UDP).step_by(13));
            exchange_tcp(&world, B4, 200_000);
            exchange_tcp(&world, B6, 200_000);
        });
        let outcome = talk.join();
        // On a busy machine, hops and agents may have to catch up; the hosts' reports pass the hops, too.
        let (since, mut agreed) = (Instant::now(), 0);
        while outcome.is_ok() && agreed < 3 && since.elapsed() < PATIENCE {
            // A status is up to a second old.
            std::thread::sleep(Duration::from_millis(400));
            let statuses = [Place::A, Place::B].map(|place| status(&world, place));
            let started: u64 = statuses.iter().map(|status| count(status, "started")).sum();
            let is_told = |status: &Value| status["reports"]["sent"].as_u64() > Some(10);
            let is_all = pushed.load(Ordering::Relaxed) == 2 * started && statuses.iter().all(is_told);
            agreed = if is_all { agreed + 1 } else { 0 };
        }
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });

    let packets = capture.decode(&world);
    let started: u64 =
        [a.stop(), b.stop()].iter().map(|tally| tally["outcomes"]["started"].as_u64().unwrap()).sum();
    assert_eq!(pushed.load(Ordering::Relaxed), 2 * started, "each hop adds its metadata to each packet");
    for (sink, path, ports) in [(102, [102, 4, 3, 101], (1, 2)), (101, [101, 3, 4, 102], (2, 1))] {
        let stacks: Vec<_> = packets
            .iter()
            .filter(|packet| packet["kind"] == "report" && packet["node_id"] == sink)
            .map(|report| report["reports"][0]["int"][0]["hops"].as_array().unwrap())
            .collect();
        assert!(stacks.len() > 10, "{} reports of {sink}", stacks.len());
        stacks.iter().for_each(|hops| assert_way(hops, path, ports));
    }
}

/// The hops of a packet are those of `path`, last first, with increasing times.
fn assert_way(hops: &[Value], path: [u32; 4], (ingress, egress): (u16, u16)) {
    let nodes: Vec<_> = hops.iter().map(|hop| hop["node_id"].as_u64().unwrap()).collect();
    assert_eq!(nodes, path.map(u64::from));
    for hop in &hops[1..3] {
        assert_eq!(
            (&hop["ingress_interface"], &hop["egress_interface"]),
            (&ingress.into(), &egress.into()),
            "{hop}"
        );
    }
    let at = |hop: usize, key: &str| hops[hop][key].as_u64().unwrap();
    for hop in 1..4 {
        let (came, left) = (at(hop, "ingress_timestamp"), at(hop, "egress_timestamp"));
        assert_eq!(left.checked_sub(came), Some(at(hop, "hop_latency")), "{hops:?}");
        // All share one clock.
        let link = at(hop - 1, "ingress_timestamp").checked_sub(left);
        assert!(link.is_some_and(|link| link < 10_000_000_000), "{hops:?}");
    }
}

/// A transit hop, for packets from one of its devices to the other.
struct Relay {
    node: Node,
    way: (usize, usize),
    from: OwnedFd,
    to: OwnedFd,
    /// The address of the device that receives frames.
    comes_to: [u8; 6],
    /// The addresses of the device that sends frames, and of its neighbour.
    leaves: ([u8; 6], [u8; 6]),
}

/// Stops the kernel of a hop from forwarding.
fn stop_forwarding(world: &World, place: Place) {
    world.inside(place, || {
        for file in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            std::fs::write(format!("/proc/sys/net/{file}"), "0").unwrap();
        }
    });
}

impl Relay {
    /// Forwards from one device of `devices` to the other; `way` holds their positions there.
    fn new(world: &World, (id, place): (u32, Place), devices: &[Cable; 2], way: (usize, usize)) -> Self {
        let (from, to) = (devices[way.0], devices[way.1]);
        let (in_index, comes_to) = world.device(place, from.0);
        let (out_index, own) = world.device(place, to.0);
        let mut config = NodeConfig::new(id);
        config.interfaces = vec![InterfaceConfig::new(1), InterfaceConfig::new(2)];
        Self {
            node: Node::new(&config).unwrap(),
            way,
            from: world.inside(place, || packet_socket(in_index, EVERYTHING)),
            to: world.inside(place, || packet_socket(out_index, NOTHING)),
            comes_to,
            leaves: (own, world.device(to.1, to.2).1),
        }
    }

    /// Forwards until it is stopped; counts the packets to which it adds metadata.
    fn run(mut self, stop: &AtomicBool, pushed: &AtomicU64) {
        let mut buffer = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            buffer.clear();
            buffer.resize(MAX_GROWTH + 2_048, 0);
            let Ok((length, _)) = recv(&self.from, &mut buffer[MAX_GROWTH..], RecvFlags::empty()) else {
                continue;
            };
            let came = now();
            buffer.truncate(MAX_GROWTH + length);
            if self.is_to_be_forwarded(&buffer[MAX_GROWTH..]) {
                let before = self.node.counters().get(Outcome::Pushed);
                self.forward(&mut buffer, came);
                pushed.fetch_add(self.node.counters().get(Outcome::Pushed) - before, Ordering::Relaxed);
            }
        }
    }

    fn forward(&mut self, buffer: &mut [u8], came: u64) {
        let interface = |side: usize| u16::try_from(side + 1).unwrap();
        let left = now();
        let metadata = DeviceMetadata {
            ingress_timestamp: Some(came),
            egress_timestamp: Some(left),
            hop_latency: u32::try_from(left - came).ok(),
            ..DeviceMetadata::default()
        };
        let passage = Passage { ingress: interface(self.way.0), egress: interface(self.way.1), metadata };
        let mut frame = Frame::behind_headroom(buffer).unwrap();
        if self.node.handle_frame(Link::Ethernet, &mut frame, &passage) != Verdict::Forward {
            return;
        }
        let (own, next) = &self.leaves;
        let bytes = frame.bytes_mut();
        bytes[..6].copy_from_slice(next);
        bytes[6..12].copy_from_slice(own);
        // A full queue loses the frame, as one of the kernel's would.
        let _ = send(&self.to, bytes, SendFlags::empty());
    }

    /// Whether a frame is addressed to this hop, and its destination is on this relay's side: behind A or
    /// behind B.
    fn is_to_be_forwarded(&self, frame: &[u8]) -> bool {
        let networks = if self.way.1 == 0 { [1, 2] } else { [3, 3] };
        let network = match frame.get(12..14) {
            Some([0x08, 0x00]) => frame.get(32),
            Some([0x86, 0xdd]) => frame.get(41),
            _ => None,
        };
        frame.get(..6) == Some(&self.comes_to[..])
            && network.is_some_and(|network| networks.contains(network))
    }
}

/// `struct sockaddr_ll`.
#[repr(C)]
struct DeviceAddress {
    family: u16,
    protocol: u16,
    index: u32,
    rest: [u8; 12],
}

// SAFETY: the pointer is to a whole `struct sockaddr_ll` that outlives the call, and the length is its
// length.
unsafe impl SocketAddrArg for DeviceAddress {
    unsafe fn with_sockaddr<R>(&self, f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        f(std::ptr::from_ref(self).cast(), SocketAddrLen::try_from(size_of::<Self>()).unwrap())
    }
}

/// The protocols of a packet socket: all (`ETH_P_ALL` in network byte order), or none.
const EVERYTHING: u16 = 0x0300;
const NOTHING: u16 = 0;
const AF_PACKET: u16 = 17;

/// A packet socket of the device with this index.
fn packet_socket(index: u32, protocol: u16) -> OwnedFd {
    let wire = NonZeroU32::new(protocol.into()).map(Protocol::from_raw);
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, wire).unwrap();
    bind(&socket, &DeviceAddress { family: AF_PACKET, protocol, index, rest: [0; 12] }).unwrap();
    set_socket_recv_buffer_size_force(&socket, 32 << 20).unwrap();
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_millis(50))).unwrap();
    socket
}

/// The time of the clock that the hosts use, too, nanoseconds.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

impl World {
    /// Index and address of a device.
    fn device(&self, place: Place, device: &str) -> (u32, [u8; 6]) {
        let links = self.links(place);
        let line = links.lines().find(|line| line.contains(&format!(": {device}@"))).unwrap();
        let index = line.split(':').next().unwrap().parse().unwrap();
        let (_, address) = line.split_once("link/ether ").unwrap();
        let bytes: Vec<_> =
            address[..17].split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        (index, bytes.try_into().unwrap())
    }
}
