//! Agents, a container, shims and devices fail at random under traffic: no connection breaks, and no packet
//! is delivered with INT.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::agent::{Agent, Domain};
use crate::pins::{BpfFs, remove};
use crate::traffic::{bytes, connect, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

/// What fails.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// That of B is the first process of a container, which ends with it.
    Agent(usize),
    ShimGone(usize),
    ShimDown(usize),
    DeviceDown(usize),
}

const PLACES: [(Place, &str, &str); 2] = [(Place::A, "ab", "10.91.1.254"), (Place::B, "dc", "10.91.3.254")];

#[test]
fn nothing_breaks_when_agents_shims_and_devices_die() {
    kill(10);
}

#[test]
#[ignore = "takes long: cargo xtask long host-kills"]
fn nothing_breaks_when_a_thousand_agents_shims_and_devices_die() {
    kill(std::env::var("KILLS").map_or(1_000, |kills| kills.parse().unwrap()));
}

fn kill(kills: u32) {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let host = format!("{}lease_ms = 1000\nlinger_ms = 1500\n", domain.host);
    let domain = Domain { lease: true, host, ..domain };
    let domains = [domain.clone(), Domain { contained: true, ..domain }];
    let mut agents = [0, 1].map(|side: usize| Agent::start(&world, PLACES[side].0, &domains[side]));
    if agents.iter().any(Option::is_none) {
        return;
    }
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(seed);
    println!("SEED={seed}");
    let mut random = seed | 1;
    let (over, exchanges, datagrams) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let (to_b, at_b) = connect(&world, B4);
    let (from, to) = udp_pair(&world, A4, B4);
    std::thread::scope(|scope| {
        scope.spawn(|| echo(at_b));
        scope.spawn(|| talk(to_b, &over, &exchanges));
        scope.spawn(|| send(&from, &over));
        scope.spawn(|| receive(&to, &over, &datagrams));
        // A failure in here ends the other threads, too.
        let _end = End(&over);
        for number in 0..kills {
            let before = exchanges.load(Ordering::Relaxed);
            let victim = choose(&mut random);
            strike(&world, victim, &mut agents, &domains);
            let waited = (0..3_000).find(|_| {
                std::thread::sleep(Duration::from_millis(10));
                exchanges.load(Ordering::Relaxed) > before + 3
            });
            assert!(waited.is_some(), "kill {number}, {victim:?}, SEED={seed}: the connection hangs");
        }
    });
    let [a, b] = agents.map(|agent| agent.unwrap().stop());
    assert!(datagrams.load(Ordering::Relaxed) > 100, "{a} {b}");
    for (place, ..) in PLACES {
        remove(&world, place);
    }
}

/// Sets the flag on drop.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.subsec_nanos().into())
}

fn choose(random: &mut u64) -> Victim {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let side = usize::try_from(*random >> 20 & 1).unwrap();
    match *random >> 33 & 7 {
        0..=3 => Victim::Agent(side),
        4 | 5 => Victim::ShimGone(side),
        6 => Victim::ShimDown(side),
        _ => Victim::DeviceDown(side),
    }
}

fn strike(world: &World, victim: Victim, agents: &mut [Option<Agent>; 2], domains: &[Domain; 2]) {
    match victim {
        Victim::Agent(side) => {
            agents[side].take().unwrap().kill();
            std::thread::sleep(Duration::from_millis(100));
            agents[side] = Agent::start(world, PLACES[side].0, &domains[side]);
        }
        // The agent may be recreating it at this moment.
        Victim::ShimGone(side) => try_ip(world, PLACES[side].0, "link del int0"),
        Victim::ShimDown(side) => try_ip(world, PLACES[side].0, "link set int0 down"),
        Victim::DeviceDown(side) => {
            let (place, device, gateway) = PLACES[side];
            world.ip(place, &format!("link set {device} down"));
            std::thread::sleep(Duration::from_millis(50));
            world.ip(place, &format!("link set {device} up"));
            world.ip(place, &format!("route add default via {gateway}"));
        }
    }
}

fn try_ip(world: &World, place: Place, command: &str) {
    let words = ["-n", world.name(place)].into_iter().chain(command.split(' '));
    let _ = std::process::Command::new("ip").args(words).stderr(std::process::Stdio::null()).status();
}

/// Echoes what arrives, until the stream ends.
fn echo(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
}

/// Sends messages and panics unless each is echoed unchanged.
fn talk(mut stream: TcpStream, over: &AtomicBool, exchanges: &AtomicU64) {
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        let said = bytes(1 + (number * 977) % 5_000, 7);
        stream.write_all(&said).unwrap();
        let mut heard = vec![0xa5; said.len()];
        stream.read_exact(&mut heard).unwrap();
        assert!(heard == said, "the bytes have changed");
        number += 1;
        exchanges.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends datagrams that contain their length; ignores errors while there is no route.
fn send(socket: &UdpSocket, over: &AtomicBool) {
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        let _ = socket.send(&bytes(1 + (number * 37) % 1_200, 9));
        number += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Receives datagrams, which all begin alike; panics if one contains INT.
fn receive(socket: &UdpSocket, over: &AtomicBool, datagrams: &AtomicU64) {
    let pattern = bytes(1_200, 9);
    let mut buffer = [0; 2_000];
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    while !over.load(Ordering::Relaxed) {
        if let Ok(length) = socket.recv(&mut buffer) {
            assert!(
                buffer[..length] == pattern[..length.min(1_200)],
                "a datagram of {length} bytes has INT in it"
            );
            datagrams.fetch_add(1, Ordering::Relaxed);
        }
    }
}
