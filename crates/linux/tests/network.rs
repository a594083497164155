//! A network of two namespaces, created by netlink alone. Needs root; skipped with a message otherwise.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

use inband_linux::address::{self, Address};
use inband_linux::connected::{self, Outcomes, Sender};
use inband_linux::device;
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::namespace::{self, Namespace};
use inband_linux::neighbour::{self, Neighbour};
use inband_linux::netlink::{Group, Heard, Monitor, Netlink};
use inband_linux::route::{self, NextHop, Route};
use inband_linux::veth::{self, End};
use inband_linux::xsk::{Flushed, FrameMemory, Moving, Ready, RingSocket};

/// Two namespaces, `a` and `b`, with a pair of devices between them; removed when this is dropped.
struct Pair {
    names: [String; 2],
}

impl Pair {
    /// `None`, with a message, where this user may not.
    fn new(test: &str) -> Option<(Self, [Namespace; 2])> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        let names = ["a", "b"].map(|side| format!("inbl{}-{test}-{side}", std::process::id()));
        let pair = Self { names };
        let [a, b] = [0, 1].map(|side| Namespace::create(&pair.names[side]).unwrap());
        let mut netlink = Netlink::open().unwrap();
        veth::create(&mut netlink, [End::new("ab", &a), End { mtu: Some(1400), ..End::new("ba", &b) }])
            .unwrap();
        for (namespace, name, ip) in [(&a, "ab", "10.93.0.1"), (&b, "ba", "10.93.0.2")] {
            namespace.inside(|| up(name, ip.parse().unwrap(), 24)).unwrap();
        }
        Some((pair, [a, b]))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            namespace::delete(name).unwrap();
        }
    }
}

fn up(name: &str, ip: IpAddr, prefix_length: u8) {
    let mut netlink = Netlink::open().unwrap();
    let device = device::find(&mut netlink, name).unwrap().unwrap();
    Address { device: device.index, ip, prefix_length }.add(&mut netlink).unwrap();
    device::set_up(&mut netlink, device.index, true).unwrap();
}

#[test]
fn namespaces_have_names_until_they_are_deleted() {
    let Some((pair, [a, _])) = Pair::new("names") else { return };
    let named = || namespace::names().unwrap().into_iter().filter(|name| pair.names.contains(name)).count();
    assert_eq!(named(), 2);
    assert!(
        Namespace::create(&pair.names[0])
            .is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
    );
    for name in ["", ".", "..", "a/b"] {
        assert!(Namespace::create(name).is_err(), "{name}");
    }

    let inode = |text: &str| fs::read_link(text).unwrap();
    let inside = a.inside(|| inode("/proc/thread-self/ns/net")).unwrap();
    assert_ne!(inside, inode("/proc/thread-self/ns/net"), "the thread of a test stays where it is");
    let output = a.command("readlink").unwrap().arg("/proc/self/ns/net").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), inside.to_str().unwrap());

    drop(pair);
    let left = namespace::names().unwrap();
    assert!(
        !left
            .iter()
            .any(|name| name.contains("names") && name.starts_with(&format!("inbl{}", std::process::id())))
    );
}

#[test]
fn packets_pass_between_two_namespaces() {
    let Some((_pair, [a, b])) = Pair::new("packets") else { return };
    let receiver = b.inside(|| UdpSocket::bind("10.93.0.2:9").unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(60))).unwrap();

    a.inside(|| UdpSocket::bind("10.93.0.1:0").unwrap().send_to(b"here", "10.93.0.2:9").unwrap()).unwrap();

    let mut buffer = [0; 16];
    let (length, from) = receiver.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], from.ip().to_string().as_str()), (b"here".as_slice(), "10.93.0.1"));
    b.inside(|| {
        let mut netlink = Netlink::open().unwrap();
        let device = device::find(&mut netlink, "ba").unwrap().unwrap();
        assert_eq!(device.mtu, 1400);
        let addresses = address::all(&mut netlink).unwrap();
        assert!(
            addresses
                .iter()
                .any(|known| known.ip == IpAddr::from([10, 93, 0, 2]) && known.prefix_length == 24)
        );
    })
    .unwrap();
}

#[test]
fn routes_and_neighbours_are_read_as_they_were_written_and_announced() {
    let Some((_pair, [a, _b])) = Pair::new("routes") else { return };
    a.inside(|| {
        let mut netlink = Netlink::open().unwrap();
        let device = device::find(&mut netlink, "ab").unwrap().unwrap().index;
        let mut monitor = Monitor::open(&[Group::Ipv4Route, Group::Ipv6Route, Group::Neighbour]).unwrap();
        Address { device, ip: "fd93::1".parse().unwrap(), prefix_length: 64 }.add(&mut netlink).unwrap();
        let hop = |gateway: &str| NextHop::by(gateway.parse().unwrap(), device);
        let routes = [
            Route::new("10.94.0.0".parse().unwrap(), 16, vec![hop("10.93.0.2")]),
            Route::new(
                "10.95.0.0".parse().unwrap(),
                16,
                vec![hop("10.93.0.2"), NextHop { weight: 3, ..hop("10.93.0.3") }],
            ),
            Route::new("0.0.0.0".parse().unwrap(), 0, vec![hop("10.93.0.2")]),
            Route::new("10.96.0.0".parse().unwrap(), 16, vec![NextHop::on_link(device)]),
            Route {
                metric: 1024,
                ..Route::new("fd94::".parse().unwrap(), 32, vec![hop("fd93::2"), hop("fd93::3")])
            },
        ];
        for route in &routes {
            route.add(&mut netlink).unwrap();
        }
        let neighbour = Neighbour {
            device,
            ip: "10.93.0.3".parse().unwrap(),
            address: Some([2, 0, 0, 0, 0, 3]),
            has_failed: false,
            is_permanent: true,
        };
        neighbour.replace(&mut netlink).unwrap();

        let known = route::all(&mut netlink).unwrap();
        for route in &routes {
            assert!(known.contains(route), "{route:?} is not among {known:#?}");
        }
        assert!(neighbour::all(&mut netlink).unwrap().contains(&neighbour));
        let (mut heard, mut neighbours) = (Vec::new(), Vec::new());
        let since = Instant::now();
        while heard.len() < routes.len() && since.elapsed() < Duration::from_secs(60) {
            let all = monitor.poll(|kind, body| match kind {
                route::NEW => heard.extend(Route::read(body).filter(|route| routes.contains(route))),
                neighbour::NEW => neighbours.extend(Neighbour::read(body)),
                _ => {}
            });
            assert_eq!(all.unwrap(), Heard::All);
        }
        assert_eq!(heard, routes);
        assert!(neighbours.contains(&neighbour));

        for route in &routes {
            route.remove(&mut netlink).unwrap();
        }
        assert!(!route::all(&mut netlink).unwrap().iter().any(|left| routes.contains(left)));
    })
    .unwrap();
}

#[test]
fn datagrams_go_on_when_this_host_changes_its_address() {
    let Some((_pair, [a, b])) = Pair::new("source") else { return };
    for (first, second, to) in [("10.93.0.1", "10.93.0.7", "10.93.0.2"), ("fd93::1", "fd93::7", "fd93::2")] {
        let [first, second, to] = [first, second, to].map(|ip| ip.parse::<IpAddr>().unwrap());
        let prefix_length = if first.is_ipv4() { 24 } else { 64 };
        if first.is_ipv6() {
            b.inside(|| up("ba", to, prefix_length)).unwrap();
            a.inside(|| up("ab", first, prefix_length)).unwrap();
        }
        let receiver = b.inside(|| UdpSocket::bind((to, 32766)).unwrap()).unwrap();
        receiver.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        a.inside(|| {
            let route = connected::Route { to: (to, 32766).into(), from: None, source_port: 0, dscp: 0 };
            let (mut sender, error) = Sender::open(route, 0);
            assert!(error.is_none(), "{error:?}");
            let mut outcomes = Outcomes::default();
            let mut next_source = |now| {
                sender.send(b"report", now, &mut outcomes);
                receiver.recv_from(&mut [0; 10]).ok().map(|(_, from)| from.ip())
            };
            assert_eq!((0..50).find_map(|_| next_source(1)), Some(first));
            let mut netlink = Netlink::open().unwrap();
            let device = device::find(&mut netlink, "ab").unwrap().unwrap().index;
            Address { device, ip: first, prefix_length }.remove(&mut netlink).unwrap();
            Address { device, ip: second, prefix_length }.add(&mut netlink).unwrap();

            let seconds = (2..50).map(|second| second * 1_000_000_000);
            assert!(
                seconds.into_iter().any(|now| next_source(now) == Some(second)),
                "{second}: {outcomes:?}"
            );
        })
        .unwrap();
    }
}

/// A frame of 60 bytes with this number.
fn numbered(number: u8) -> [u8; 60] {
    let mut frame = [number; 60];
    frame[..6].fill(0xff);
    frame[12..14].copy_from_slice(&NUMBERED);
    frame
}

/// An ethertype for experiments.
const NUMBERED: [u8; 2] = [0x88, 0xb5];

/// Queues a frame with this number.
fn queue(socket: &mut RingSocket, memory: &mut FrameMemory, number: u8) {
    let mut chunk = memory.take_empty().unwrap();
    chunk[..60].copy_from_slice(&numbered(number));
    socket.send(memory, chunk, 0..60).unwrap();
}

#[test]
fn frames_for_a_device_that_is_down_leave_its_ring_and_are_not_sent_later() {
    let Some((_pair, [a, b])) = Pair::new("rings") else { return };
    let index = |name: &str| device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap().index;
    let to = b.inside(|| FrameSocket::open(index("ba")).unwrap()).unwrap();
    let here = a.inside(|| index("ab")).unwrap();
    let set_up = |up: bool| {
        a.inside(|| device::set_up(&mut Netlink::open().unwrap(), here, up).unwrap()).unwrap();
    };
    let ready = Ready::of(1);
    let mut memory = FrameMemory::new(ready.chunks(1)).unwrap();
    let mut socket =
        a.inside(|| RingSocket::open(&mut memory, here, 0, ready, Moving::Always).unwrap()).unwrap();
    a.inside(|| socket.open_sender().unwrap()).unwrap();
    let empty = memory.empty();
    for number in 1..=100 {
        queue(&mut socket, &mut memory, number);
    }

    set_up(false);
    let Flushed { sent, sent_bytes, refused, error } = a.inside(|| socket.flush(&mut memory)).unwrap();

    assert_eq!((sent, sent_bytes, refused), (0, 0, 100));
    let is_down = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NetworkDown;
    assert!(error.as_ref().is_some_and(is_down), "{error:?}");
    assert_eq!((memory.empty(), socket.waiting()), (empty, 0));
    assert!(socket.check().is_err_and(|error| is_down(&error)));

    set_up(true);
    a.inside(|| {
        let patience = Duration::from_secs(20);
        assert!(device::await_operational(&mut Netlink::open().unwrap(), &[here], patience).unwrap());
    })
    .unwrap();
    socket.check().unwrap();
    queue(&mut socket, &mut memory, 200);
    let Flushed { sent, sent_bytes, refused, error } = socket.flush(&mut memory);

    assert_eq!((sent, sent_bytes, refused, error.is_none()), (1, 60, 0, true));
    let (mut batch, since, mut arrived) = (Batch::new(), Instant::now(), Vec::new());
    while arrived.is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "it does not arrive");
        let received = to.receive(&mut batch).unwrap_or_else(|error| panic!("{error}"));
        arrived.extend(
            received.filter(|frame| frame.bytes[12..14] == NUMBERED).map(|frame| frame.bytes.to_vec()),
        );
    }
    assert_eq!(arrived, [numbered(200)]);
}
