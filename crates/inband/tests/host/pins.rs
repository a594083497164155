//! However an agent ends, its sink keeps removing INT until another agent replaces it or it is removed.

use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::agent::{Agent, Domain};
use crate::tally::{has_more, talk_until};
use crate::traffic::{bytes, connect, deliver, exchange_tcp, exchange_udp, receive, say_both_ways, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

/// A BPF file system of the test; dropping it removes all pins.
pub(crate) struct BpfFs(PathBuf);

impl BpfFs {
    pub(crate) fn mount(world: &World) -> Option<Self> {
        let folder = world.folder.join("bpf");
        std::fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount").args(["-t", "bpf", "bpf"]).arg(&folder).status().unwrap();
        if !mounted.success() {
            eprintln!("skipped: no BPF file system can be mounted here");
            return None;
        }
        Some(Self(folder))
    }

    /// A domain whose agents pin their sinks here.
    pub(crate) fn domain(&self) -> Domain {
        let host = format!("pins = {:?}\n", self.0.join("inband"));
        Domain { host, pins: true, ..Domain::new("dscp", "md") }
    }

    /// Whether nothing of agents is left in it.
    pub(crate) fn is_clean(&self) -> bool {
        !self.0.join("inband").exists()
    }

    /// How many network namespaces have pins.
    pub(crate) fn namespaces(&self) -> usize {
        std::fs::read_dir(self.0.join("inband")).map_or(0, Iterator::count)
    }
}

impl Drop for BpfFs {
    fn drop(&mut self) {
        // A leftover mount is visible outside the test.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_sink_outlives_its_agent_and_is_removed_when_that_is_asked_for() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    exchange_udp(&world, A4, B4, [100]);

    b.kill();
    // A goes on, because no lease is required; and no guard is left.
    std::thread::sleep(std::time::Duration::from_millis(500));
    exchange_udp(&world, A4, B4, (0..1400).step_by(2));
    exchange_tcp(&world, B4, 400_000);

    assert_eq!(remove(&world, Place::B), "removed 1 sink and 1 shim\n");
    assert_eq!(remove(&world, Place::B), "removed 0 sinks and 0 shims\n");
    assert!(!world.links(Place::B).contains("int0"), "{}", world.links(Place::B));
    // Without the sink INT arrives, which proves that the sink removed it before.
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    at_a.send(b"payload").unwrap();
    let mut received = [0; 200];
    let length = receive(&at_b, &mut received);
    assert!(length > 20 && received[..length].ends_with(b"payload"), "{:?}", &received[..length]);
    let started = a.stop();
    assert!(started["outcomes"]["started"].as_u64().unwrap() > 500, "{started}");
}

#[test]
fn a_sink_is_replaced_by_another_agents_without_a_gap() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let mut b = Agent::start(&world, Place::B, &domain);
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let (stop, delivered) = (AtomicBool::new(false), AtomicUsize::new(0));

    std::thread::scope(|scope| {
        let talk = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let count = delivered.fetch_add(1, Ordering::Relaxed);
                deliver(&at_a, &at_b, &bytes(count % 1400, 3));
            }
        });
        for number in 0..4 {
            let before = b.take().unwrap();
            if number % 2 == 0 {
                before.kill();
            } else {
                // Peers without leases may send INT for ever.
                before.stop();
            }
            b = Agent::start(&world, Place::B, &domain);
            // Each agent has packets, however long it waits for its turn.
            let seen = delivered.load(Ordering::Relaxed);
            while delivered.load(Ordering::Relaxed) < seen + 50 && !talk.is_finished() {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::Relaxed);
        talk.join().unwrap();
    });

    let (b, a) = (b.unwrap().stop(), a.stop());
    assert!(b["outcomes"]["stripped"].as_u64().unwrap() > 0, "{b}");
    assert!(a["outcomes"]["started"].as_u64().unwrap() > 100, "{a}");
    remove(&world, Place::A);
    remove(&world, Place::B);
    assert_eq!(bpf_fs.namespaces(), 0);
}

#[test]
fn an_agent_goes_on_with_the_leases_of_the_one_before() {
    go_on_with_leases(false);
}

#[test]
fn an_agent_with_the_services_capabilities_goes_on_with_the_leases_of_the_one_before() {
    go_on_with_leases(true);
}

fn go_on_with_leases(confined: bool) {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = Domain { lease: true, confined, ..bpf_fs.domain() };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let mut b = Agent::start(&world, Place::B, &domain);
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let talk = |count| talk(&at_a, &at_b, count);

    talk(300);
    talk_until(&world, Place::A, has_more("started", 100), || talk(50));
    b.take().unwrap().kill();
    let b = Agent::start(&world, Place::B, &domain);
    talk(300);
    talk_until(&world, Place::B, has_more("stripped", 100), || talk(50));

    let (b, a) = (b.unwrap().stop(), a.stop());
    assert!(b["outcomes"]["stripped"].as_u64().unwrap() > 100, "{b}");
    assert_eq!(b["outcomes"]["stranger"], 0, "{b}");
    assert!(a["outcomes"]["started"].as_u64().unwrap() > 200, "{a}");
    remove(&world, Place::A);
    remove(&world, Place::B);
}

#[test]
fn a_sink_outlives_the_container_of_its_agent() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let host = format!("{}lease_ms = 1000\nlinger_ms = 1500\n", domain.host);
    let domain = Domain { lease: true, host, ..domain };
    let in_container = Domain { contained: true, ..domain.clone() };
    let Some(a) = Agent::start(&world, Place::A, &in_container) else { return };
    let Some(b) = Agent::start(&world, Place::B, &in_container) else { return };
    let (mut to_b, mut at_b) = connect(&world, B4);
    let mut talk = |duration| {
        let since = Instant::now();
        while since.elapsed() < duration {
            say_both_ways((&mut to_b, &mut at_b), &bytes(3_000, 5));
            std::thread::sleep(Duration::from_millis(2));
        }
    };

    talk(Duration::from_millis(1_800));
    // Every process of both containers is killed, and there is no time to say farewell.
    a.kill();
    b.kill();
    talk(Duration::from_millis(1_800));
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    for place in [Place::A, Place::B] {
        talk_until(&world, place, has_more("started", 20), || talk(Duration::from_millis(600)));
    }

    let (a, b) = (a.stop(), b.stop());
    for (from, to) in [(&a, &b), (&b, &a)] {
        let [started, stripped] = [(from, "started"), (to, "stripped")]
            .map(|(tally, key)| tally["outcomes"][key].as_u64().unwrap());
        assert!(started > 20 && started == stripped, "{a} {b}");
    }
    remove(&world, Place::A);
    remove(&world, Place::B);
    assert_eq!(bpf_fs.namespaces(), 0);
}

#[test]
fn an_agent_whose_leases_have_ended_leaves_nothing() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = Domain { lease: true, ..bpf_fs.domain() };
    let before = world.links(Place::A);
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    assert_eq!(bpf_fs.namespaces(), 1);

    a.stop();

    assert_eq!((bpf_fs.namespaces(), world.links(Place::A)), (0, before));
}

#[test]
fn nothing_is_removed_beside_an_agent_that_runs() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };

    let settings = world.folder.join("A.toml");
    let output = command(&world, Place::A).arg(settings).output().unwrap();

    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("an agent that runs here"), "{message}");
    a.stop();
}

#[test]
fn a_second_agent_with_another_shim_does_not_get_the_pins() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let other = Domain { host: format!("{}shim = \"other\"\n", domain.host), ..domain.clone() };
    let settings = world.write("other.toml", other.settings(Place::B).as_bytes());

    let mut second = world.enter(Place::B, "timeout");
    let second = second.args(["60", env!("CARGO_BIN_EXE_inband"), "host", "-c"]).arg(&settings);
    let second = second.output().unwrap();
    let removed = command(&world, Place::B).arg(&settings).output().unwrap();

    for output in [second, removed] {
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains("pins"), "{message}");
        assert!(message.contains("an agent that runs here has this one"), "{message}");
    }
    exchange_udp(&world, A4, B4, [100]);
    assert_eq!(b.stop()["outcomes"]["stripped"], a.stop()["outcomes"]["started"]);
    remove(&world, Place::A);
    remove(&world, Place::B);
}

#[test]
fn an_agent_without_a_device_keeps_its_pins() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let extra = domain.clone().with_devices("extra*");
    world.ip(Place::A, "link add extra7 type veth peer name other7");
    let Some(mut a) = Agent::start(&world, Place::A, &extra) else { return };
    world.ip(Place::A, "link del extra7");
    assert_eq!(a.next_message(), "no INT on extra7 any more\n");

    // Each start releases what is left in namespaces that are gone.
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    world.ip(Place::A, "link add extra8 type veth peer name other8");

    assert_eq!(a.next_message(), "INT on extra8\n");
    assert_eq!(bpf_fs.namespaces(), 2);
    a.stop();
    b.stop();
    remove(&world, Place::A);
    remove(&world, Place::B);
}

/// Sends `count` datagrams, one every two milliseconds; panics unless each arrives unchanged.
fn talk(from: &UdpSocket, to: &UdpSocket, count: usize) {
    for number in 0..count {
        deliver(from, to, &bytes(number % 1400, 3));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Removes what agents have left behind in a namespace, and returns the output.
pub(crate) fn remove(world: &World, place: Place) -> String {
    let settings = world.folder.join(format!("{place:?}.toml"));
    let output = command(world, place).arg(settings).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn command(world: &World, place: Place) -> Command {
    let mut command = world.enter(place, env!("CARGO_BIN_EXE_inband"));
    command.args(["host", "remove", "-c"]);
    command
}

#[test]
fn an_agent_that_ends_early_waits_for_the_leases_of_the_one_before() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = Domain { lease: true, ..bpf_fs.domain() };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let mut b = Agent::start(&world, Place::B, &domain);
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let talk = |count| talk(&at_a, &at_b, count);

    talk(300);
    talk_until(&world, Place::A, has_more("started", 100), || talk(50));
    b.take().unwrap().kill();
    let b = Agent::start(&world, Place::B, &domain);
    let is_over = AtomicBool::new(false);
    let b = std::thread::scope(|scope| {
        let ending = scope.spawn(|| {
            let counts = b.unwrap().stop();
            is_over.store(true, Ordering::Relaxed);
            counts
        });
        while !is_over.load(Ordering::Relaxed) {
            talk(1);
        }
        ending.join().unwrap()
    });
    talk(300);

    let a = a.stop();
    assert!(a["outcomes"]["started"].as_u64().unwrap() > 100, "{a}");
    assert_eq!(b["outcomes"]["stranger"], 0, "{b}");
    // Nothing is left, and nothing is to be removed.
    assert_eq!(remove(&world, Place::B), "removed 0 sinks and 0 shims\n");
    remove(&world, Place::A);
    assert_eq!(bpf_fs.namespaces(), 0);
}

#[test]
fn int_of_a_peer_that_now_needs_a_lease_is_still_removed() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let without = bpf_fs.domain();
    let with = Domain { lease: true, ..bpf_fs.domain() };
    let Some(a) = Agent::start(&world, Place::A, &without) else { return };
    let Some(b) = Agent::start(&world, Place::B, &without) else { return };
    exchange_udp(&world, A4, B4, [100]);

    // A fleet changes host by host: by a restart, or by reading the file again.
    b.stop();
    let Some(b) = Agent::start(&world, Place::B, &with) else { return };
    exchange_udp(&world, A4, B4, (0..1400).step_by(20));
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    world.write("B.toml", without.settings(Place::B).as_bytes());
    b.signal(Signal::HUP);
    deliver(&at_a, &at_b, b"payload");
    world.write("B.toml", with.settings(Place::B).as_bytes());
    b.signal(Signal::HUP);
    talk(&at_a, &at_b, 200);

    let (b, a) = (b.stop(), a.stop());
    assert!(a["outcomes"]["started"].as_u64().unwrap() > 200, "{a}");
    assert_eq!(b["outcomes"]["stranger"], 0, "{b}");
    remove(&world, Place::A);
    remove(&world, Place::B);
}

#[test]
fn pins_of_a_namespace_that_is_gone_are_removed_by_the_next_agent() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let gone = World::new(Offloads::On).unwrap();
    let domain = bpf_fs.domain();
    let Some(of_gone) = Agent::start(&gone, Place::A, &domain) else { return };
    of_gone.kill();
    drop(gone);
    assert_eq!(bpf_fs.namespaces(), 1);

    // The kernel removes the namespace's devices a little later.
    let since = std::time::Instant::now();
    loop {
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        let found = bpf_fs.namespaces();
        b.stop();
        if found == 1 {
            break;
        }
        assert!(since.elapsed() < crate::traffic::PATIENCE, "{found} namespaces");
    }
    remove(&world, Place::B);
    assert_eq!(bpf_fs.namespaces(), 0);
}
