//! Namespaces, links and routes of a small network of Linux routers.

use std::net::UdpSocket;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use inband_linux::namespace::Namespace;
use inband_linux::neighbour;
use inband_linux::netlink::Netlink;

use super::{apply, create, namespaces, remove};
use crate::plan::Plan;
use crate::topology::{DropReason, Fault};

const RING: &str = r#"
name = "NAME"
switch = [{ name = "r1", int = false }, { name = "r2", int = false }, { name = "r3", int = false }]
host = [
    { name = "h1", address = ["10.0.1.1/24", "fd00:1::1/64"] },
    { name = "h2", address = ["10.0.2.1/24", "fd00:2::1/64"] },
    { name = "h3", address = "10.0.2.2/24" },
]
link = [
    { ends = ["h1", "r1"], rate = "50Mbit" },
    { ends = ["h2", "r2"] },
    { ends = ["h3", "r3"] },
    { ends = ["r1", "r2"] },
    { ends = ["r2", "r3"] },
    { ends = ["r3", "r1"] },
]
"#;

struct World(Plan);

impl World {
    fn new(name: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        let name = format!("inbt{}{name}", std::process::id());
        let world = Self(Plan::new(&toml::from_str(&RING.replace("NAME", &name)).unwrap()).unwrap());
        if let Err(error) = create(&world.0, &AtomicBool::new(false)) {
            panic!("{error}: {:?}", std::error::Error::source(&error));
        }
        Some(world)
    }

    /// Whether datagrams from one host arrive at an address of another; links and neighbours may take a moment.
    fn reaches(&self, from: &str, to: &str, address: &str) -> bool {
        (0..20).any(|_| self.reaches_at_once(from, to, address))
    }

    /// Whether a datagram from one host arrives at an address of another.
    fn reaches_at_once(&self, from: &str, to: &str, address: &str) -> bool {
        let inside = |host: &str| Namespace::open(&self.0.namespace(host)).unwrap();
        let any = if address.contains(':') { "[::]:0" } else { "0.0.0.0:0" };
        let receiver = inside(to).inside(|| UdpSocket::bind(any).unwrap()).unwrap();
        let sender = inside(from).inside(|| UdpSocket::bind(any).unwrap()).unwrap();
        receiver.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
        let port = receiver.local_addr().unwrap().port();
        let to = std::net::SocketAddr::new(address.parse().unwrap(), port);
        sender.send_to(b"there?", to).is_ok() && receiver.recv(&mut [0; 16]).is_ok()
    }

    fn apply(&self, now: &[Fault], before: &[Fault]) {
        if let Err(error) = apply(&self.0, now, Some(before)) {
            panic!("{error}: {:?}", std::error::Error::source(&error));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = remove(&namespaces(&self.0));
    }
}

#[test]
fn hosts_reach_each_other_by_both_families_and_around_a_broken_link() {
    let Some(world) = World::new("a") else { return };
    assert!(world.reaches("h1", "h2", "10.0.2.1"));
    assert!(world.reaches("h1", "h2", "fd00:2::1"));
    assert!(world.reaches("h2", "h3", "10.0.2.2"), "one network on two links");

    let broken = [Fault::Break { a: "r1".into(), b: "r2".into() }];
    world.apply(&broken, &[]);
    assert!(world.reaches("h1", "h2", "10.0.2.1"));
    assert!(world.reaches("h2", "h1", "fd00:1::1"));

    world.apply(&[], &broken);
    assert!(world.reaches("h1", "h2", "10.0.2.1"));
    assert!(world.reaches("h1", "h2", "fd00:2::1"));
}

#[test]
fn the_link_of_a_host_breaks_and_is_mended() {
    let Some(world) = World::new("d") else { return };
    let of_host = Fault::Break { a: "h1".into(), b: "r1".into() };
    let both = [of_host.clone(), Fault::Break { a: "r1".into(), b: "r2".into() }];

    world.apply(&both[..1], &[]);
    assert!(!world.reaches_at_once("h1", "h2", "10.0.2.1"));
    assert!(world.reaches("h2", "h3", "10.0.2.2"), "others");
    world.apply(&both, &both[..1]);
    world.apply(&both[1..], &both);

    assert!(world.reaches("h1", "h2", "10.0.2.1"));
    assert!(world.reaches("h2", "h1", "fd00:1::1"));
    assert!(world.reaches("h3", "h1", "10.0.1.1"));
    // One of a network on two links.
    let of_shared = [Fault::Break { a: "h3".into(), b: "r3".into() }];
    world.apply(&of_shared, &both[1..]);
    assert!(!world.reaches_at_once("h1", "h3", "10.0.2.2"));
    world.apply(&[], &of_shared);
    assert!(world.reaches("h1", "h3", "10.0.2.2"));
}

#[test]
fn faults_stop_packets_and_their_end_lets_them_pass() {
    let Some(world) = World::new("b") else { return };
    let faults = [
        Fault::Loop { a: "r1".into(), b: "r3".into() },
        Fault::Drop { switch: "r1".into(), reason: DropReason::NoRoute },
        Fault::Drop { switch: "r1".into(), reason: DropReason::Silent },
    ];
    for fault in faults {
        let fault = [fault];
        world.apply(&fault, &[]);
        assert!(!world.reaches_at_once("h1", "h2", "10.0.2.1"), "{fault:?}");
        world.apply(&[], &fault);
        assert!(world.reaches("h1", "h2", "10.0.2.1"), "{fault:?}");
    }
    let slow = [Fault::Slow { a: "h1".into(), b: "r1".into(), rate: "100kbit".parse().unwrap() }];
    world.apply(&slow, &[]);
    assert!(world.reaches("h1", "h2", "10.0.2.1"));
}

#[test]
fn neighbours_still_find_a_switch_that_drops_silently() {
    let Some(world) = World::new("e") else { return };
    assert!(world.reaches("h2", "h1", "10.0.1.1") && world.reaches("h2", "h1", "fd00:1::1"));

    world.apply(&[Fault::Drop { switch: "r1".into(), reason: DropReason::Silent }], &[]);
    for router in ["r2", "r3"] {
        let namespace = Namespace::open(&world.0.namespace(router)).unwrap();
        namespace
            .inside(|| {
                let mut netlink = Netlink::open().unwrap();
                for known in neighbour::all(&mut netlink).unwrap() {
                    let _ = neighbour::remove(&mut netlink, known.device, known.ip);
                }
            })
            .unwrap();
    }

    assert!(world.reaches("h2", "h1", "10.0.1.1"), "to hosts of the switch");
    assert!(world.reaches("h2", "h1", "fd00:1::1"), "to hosts of the switch");
    for address in ["10.0.2.1", "fd00:2::1"] {
        assert!(!world.reaches_at_once("h1", "h2", address), "by the switch to others");
    }
}

#[test]
fn nothing_is_left() {
    let Some(world) = World::new("c") else { return };
    let names = namespaces(&world.0);
    drop(world);
    let left = inband_linux::namespace::names().unwrap();
    assert!(names.iter().all(|name| !left.contains(name)));
}
