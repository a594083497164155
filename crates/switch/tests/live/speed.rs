//! Packets with INT per second through a switch: past the stack, through it, and through the engine, compared
//! with forwarding that does not read them. Measured alternately, in one run; `INBAND_ONLY=Rings,Sockets`
//! omits the others.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use aya::maps::{Array, DevMap, PerCpuArray};
use aya::programs::tc::{NlOptions, TcAttachOptions};
use aya::programs::xdp::XdpLinkId;
use aya::programs::{
    LinkOrder, SchedClassifier, TcAttachType, TestRun, TestRunAttrs, TestRunOptions, Xdp, XdpMode, tc,
};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use inband_linux::device::{self, Device};
use inband_linux::ethtool::{self, Offload};
use inband_linux::netlink::Netlink;
use inband_linux::xdp;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::fast_path::{Line, transit};
use crate::kernel::{config, node, plain_frame, replace_instructions, through};
use crate::world::{A, FIRST, SECOND, World};

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/speed.bpf.o");
/// Frames in one measurement; of each datapath the median and the best are shown.
const FRAMES: u32 = 1 << 17;
const ROUNDS: usize = 9;
/// `HEAD_BYTES`.
const HEAD_BYTES: usize = 96;

/// The datapath in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// None: packets are counted and dropped where the middle would receive them. What the others take beyond
    /// that is their own.
    Arrival,
    /// A program that redirects without reading the packet.
    Redirect,
    /// The switch, past the stack.
    FastPath,
    /// The same, with packets that are marked as INT, but carry none.
    Malformed,
    /// Linux alone.
    Plain,
    /// Linux, with two programs that only lengthen each packet.
    Grow,
    /// The switch, through the stack.
    Stack,
    /// The same, with packets that are marked as INT, but carry none.
    MalformedStack,
    /// Linux alone, with connection tracking, filters and NAT.
    Firewall,
    /// The switch, through the stack, with the same.
    FirewallStack,
    /// The engine, past the stack (AF_XDP).
    Rings,
    /// The engine, by packet sockets.
    Sockets,
}

impl Way {
    const ALL: [Self; 12] = [
        Self::Arrival,
        Self::Redirect,
        Self::FastPath,
        Self::Malformed,
        Self::Plain,
        Self::Grow,
        Self::Stack,
        Self::MalformedStack,
        Self::Firewall,
        Self::FirewallStack,
        Self::Rings,
        Self::Sockets,
    ];

    fn has_firewall(self) -> bool {
        matches!(self, Self::Firewall | Self::FirewallStack)
    }

    /// Whether the engine forwards, in a thread of its own.
    fn is_engine(self) -> bool {
        matches!(self, Self::Rings | Self::Sockets)
    }

    /// Whether packets reach the other end past the stack, in the memory of the generator.
    fn is_past_the_stack(self) -> bool {
        matches!(self, Self::Arrival | Self::Redirect | Self::FastPath | Self::Malformed)
    }
}

/// The ends of the line, and a program that redirects in the middle.
struct Bench {
    line: Line,
    ebpf: Ebpf,
    from: Device,
    to: Device,
}

/// The result of one measurement.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Nanoseconds for each packet that arrived.
    ns: f64,
    /// The share of sent packets that arrived.
    arrived: f64,
    taken: f64,
    /// CPU time of both processors.
    cpu_seconds: f64,
    /// CPU time of the switch's own thread for each packet, nanoseconds.
    thread_ns: f64,
}

impl Bench {
    fn new() -> Option<Self> {
        let line = Line::new(1)?;
        let mut ebpf = EbpfLoader::new().load(OBJECT).unwrap();
        for name in ["generate", "redirect", "take"] {
            program(&mut ebpf, name).load().unwrap();
        }
        let mut way = DevMap::try_from(ebpf.map_mut("WAY").unwrap()).unwrap();
        // Indexes are those of the namespace in which the map is written.
        line.world.inside(FIRST, || way.set(0, line.right.index, None, 0).unwrap());
        let device = |place, name| {
            line.world.inside(place, || device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap())
        };
        let (from, to) = (device(A, "right"), device(SECOND, "left"));
        attach(&line.world, A, &mut ebpf, "generate", from.index);
        for name in ["swallow", "note", "grow"] {
            classifier(&mut ebpf, name).load().unwrap();
        }
        line.world.inside(SECOND, || {
            tc::qdisc_add_clsact(&to.name).unwrap();
            let options = TcAttachOptions::Netlink(NlOptions::default());
            let swallow = classifier(&mut ebpf, "swallow");
            swallow.attach_with_options(&to.name, TcAttachType::Ingress, options).unwrap();
        });
        // Without a program there, the middle accepts redirected packets anyway.
        line.world.inside(FIRST, || ethtool::set("left", Offload::ReceiveJoining, true).unwrap());
        line.world.inside(A, || assert!(xdp::takes_redirected(from.index).unwrap()));
        Some(Self { line, ebpf, from, to })
    }

    /// The number of packets that have arrived.
    fn taken(&self) -> u64 {
        let map = PerCpuArray::<_, u64>::try_from(self.ebpf.map("TAKEN").unwrap()).unwrap();
        map.get(&0, 0).unwrap().iter().sum()
    }

    /// Sends `count` frames like `frame` through the middle.
    fn send(&mut self, frame: &[u8], count: u32) -> Duration {
        let head: [u8; HEAD_BYTES] = *frame.first_chunk().unwrap();
        let mut map: Array<_, [u8; HEAD_BYTES]> =
            Array::try_from(self.ebpf.map_mut("HEAD").unwrap()).unwrap();
        map.set(0, head, 0).unwrap();
        // `struct xdp_md`: the end of the data, and the device and queue that it came by.
        let mut context = [0_u8; 24];
        context[4..8].copy_from_slice(&u32::try_from(frame.len()).unwrap().to_ne_bytes());
        context[12..16].copy_from_slice(&self.from.index.to_ne_bytes());
        let generate = program(&mut self.ebpf, "generate");
        let world = &self.line.world;
        world.inside(A, || {
            let mut processor = CpuSet::new();
            processor.set(0);
            sched_setaffinity(None, &processor).unwrap();
            let options = TestRunOptions {
                data_in: Some(frame),
                ctx_in: Some(&context),
                repeat: count,
                attrs: TestRunAttrs::new().xdp_live_frames(64),
                ..TestRunOptions::new()
            };
            generate.test_run(options).unwrap().duration
        })
    }

    /// Lets the other end receive packets on the generator's processor, as another machine would, instead of
    /// in the system call of the engine that sends them.
    fn receive_on_first_processor(&self, is_so: bool) {
        let script = format!(
            "mount -t sysfs none /sys && echo {} > /sys/class/net/left/queues/rx-0/rps_cpus",
            u8::from(is_so)
        );
        self.line.world.inside(SECOND, || {
            ethtool::set("left", Offload::ReceiveJoining, !is_so).unwrap();
            let set = Command::new("unshare").args(["--mount", "sh", "-c", &script]).status();
            assert!(set.unwrap().success());
        });
    }

    fn measure(&mut self, way: Way, frame: &[u8]) -> Measured {
        let text = match way {
            Way::FastPath | Way::Malformed => Some(transit("dscp", 2_000, "native", "")),
            Way::Stack | Way::MalformedStack | Way::FirewallStack => Some(transit("dscp", 2_000, "off", "")),
            Way::Rings => Some(ENGINE.replace("IO", "af-xdp")),
            Way::Sockets => Some(ENGINE.replace("IO", "af-packet")),
            Way::Arrival | Way::Redirect | Way::Plain | Way::Grow | Way::Firewall => None,
        };
        if way.has_firewall() {
            let is_set = FIREWALL.iter().all(|rule| self.line.world.run(FIRST, &format!("nft add {rule}")));
            assert!(is_set, "`nft` is needed");
        }
        let switch = text.map(|text| self.line.world.switch_of(FIRST, &text));
        let left = self.line.left.index;
        let redirect = (way == Way::Redirect).then(|| {
            let world = &self.line.world;
            let program = program(&mut self.ebpf, "redirect");
            world.inside(FIRST, || program.attach_to_if_index(left, XdpMode::Driver).unwrap())
        });
        let grow = (way == Way::Grow).then(|| {
            [("note", "left", TcAttachType::Ingress), ("grow", "right", TcAttachType::Egress)].map(
                |(name, device, side)| {
                    let program = classifier(&mut self.ebpf, name);
                    let options = TcAttachOptions::TcxOrder(LinkOrder::default());
                    let attach = || program.attach_with_options(device, side, options).unwrap();
                    (name, self.line.world.inside(FIRST, attach))
                },
            )
        });
        let take = way.is_past_the_stack().then(|| {
            let (place, device) = if way == Way::Arrival { (FIRST, left) } else { (SECOND, self.to.index) };
            attach(&self.line.world, place, &mut self.ebpf, "take", device)
        });
        if way.is_engine() {
            self.receive_on_first_processor(true);
        }
        self.send(frame, 1_024);
        std::thread::sleep(Duration::from_millis(20));
        let (before, cpu, since) = (self.taken(), cpu_seconds(), Instant::now());
        // The engine is a separate thread: its result is the packets it sends per second.
        let (sent, took) = if way.is_engine() {
            let mut sent = 0;
            while since.elapsed() < Duration::from_secs(1) {
                self.send(frame, 4_096);
                sent += 4_096;
            }
            (sent, since.elapsed())
        } else {
            let each = self.send(frame, FRAMES);
            std::thread::sleep(Duration::from_millis(5));
            (FRAMES, each * FRAMES)
        };
        let taken = (self.taken() - before) as f64;
        let cpu_seconds = cpu_seconds() - cpu;
        if way.is_engine() {
            self.receive_on_first_processor(false);
        }
        for (name, link) in [("redirect", redirect), ("take", take)] {
            link.into_iter().for_each(|link| program(&mut self.ebpf, name).detach(link).unwrap());
        }
        for (name, link) in grow.into_iter().flatten() {
            classifier(&mut self.ebpf, name).detach(link).unwrap();
        }
        if way.has_firewall() {
            assert!(self.line.world.run(FIRST, "nft flush ruleset"));
        }
        let thread_ns = switch.map_or(0, |switch| {
            let worked = Arc::clone(&switch.worked_ns);
            switch.stop();
            worked.load(Ordering::Relaxed)
        });
        Measured {
            ns: took.as_nanos() as f64 / taken,
            arrived: taken / f64::from(sent),
            taken,
            cpu_seconds,
            thread_ns: thread_ns as f64 / taken,
        }
    }
}

/// Rules of a router with a stateful filter and NAT, with which packets have to pass the stack.
const FIREWALL: [&str; 7] = [
    "table ip inbt",
    "chain ip inbt forward { type filter hook forward priority 0 ; policy drop ; }",
    "rule ip inbt forward ct state established,related accept",
    "rule ip inbt forward ct state invalid drop",
    "rule ip inbt forward iifname left accept",
    "chain ip inbt post { type nat hook postrouting priority 100 ; }",
    "rule ip inbt post oifname right masquerade",
];

const ENGINE: &str = "\
[node]
id = 11
[switch]
datapath = \"engine\"
forwarding = \"routes\"
io = \"IO\"
[[interface]]
id = 1
device = \"left\"
mtu = 2000
rate = \"0\"
[[interface]]
id = 2
device = \"right\"
mtu = 2000
rate = \"0\"
";

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut Xdp {
    ebpf.program_mut(name).unwrap().try_into().unwrap()
}

fn classifier<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut SchedClassifier {
    ebpf.program_mut(name).unwrap().try_into().unwrap()
}

fn attach(world: &World, place: usize, ebpf: &mut Ebpf, name: &str, device: u32) -> XdpLinkId {
    let program = program(ebpf, name);
    world.inside(place, || program.attach_to_if_index(device, XdpMode::Driver).unwrap())
}

/// CPU time of the machine's processors since boot.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let fields: Vec<f64> =
        text.lines().next().unwrap().split_whitespace().skip(1).map(|field| field.parse().unwrap()).collect();
    // All but idle time and waiting for disks, in hundredths of a second.
    (fields.iter().take(8).sum::<f64>() - fields[3] - fields[4]) / 100.0
}

/// A packet of `length` bytes in total with the metadata of three hops, two words each.
fn frame(length: usize) -> Vec<u8> {
    let text = |id| {
        let text = config(id, "dscp", if id == 1 { &["left"] } else { &[] }, 2_000, "");
        let text = text.replace("remaining_hops = 2\n", "");
        replace_instructions(&text, "[\"node-id\", \"queue-occupancy\"]")
    };
    // Ethernet, IPv4, UDP, shim, header, metadata.
    let payload = length - (14 + 20 + 8 + 4 + 12 + 24);
    let plain = plain_frame(payload, 17, true, 4_790);
    let started = through(&mut node(&text(1)), &plain, 1, 2).unwrap();
    let frame = (2..4).fold(started, |frame, id| through(&mut node(&text(id)), &frame, 1, 2).unwrap());
    assert_eq!(frame.len(), length);
    frame
}

#[test]
#[ignore = "a measurement of some minutes; prints a table"]
fn measure_packets_a_second() {
    let Some(mut bench) = Bench::new() else { return };
    let only = std::env::var("INBAND_ONLY").unwrap_or_default();
    let ways = Way::ALL
        .into_iter()
        .filter(|way| only.is_empty() || only.split(',').any(|name| name == format!("{way:?}")));
    let ways: Vec<Way> = ways.collect();
    println!(
        "frame  way            median ns  least ns  million/s, best  arrived  CPU seconds a million  thread ns"
    );
    for length in [100, 1_400] {
        let frame = bench.line.addressed(&frame(length));
        let mut malformed = frame.clone();
        // A Hop ML that contradicts the instructions.
        malformed[14 + 20 + 8 + 4 + 2] = 31;
        let mut rounds: Vec<Vec<Measured>> = vec![Vec::new(); ways.len()];
        for _ in 0..ROUNDS {
            for (way, measured) in ways.iter().zip(&mut rounds) {
                let is_malformed = matches!(way, Way::Malformed | Way::MalformedStack);
                measured.push(bench.measure(*way, if is_malformed { &malformed } else { &frame }));
            }
        }
        for (way, mut measured) in ways.iter().zip(rounds) {
            measured.sort_by(|a, b| a.ns.total_cmp(&b.ns));
            let (best, median) = (measured[0], measured[ROUNDS / 2]);
            // Lost packets were not forwarded.
            assert!(best.arrived > 0.5 || way.is_engine(), "{way:?}: {best:?}");
            let name = format!("{way:?}");
            println!(
                "{length:>5}  {name:<13} {:>10.1} {:>9.1} {:>16.2} {:>7.1}% {:>22.3} {:>10.0}",
                median.ns,
                best.ns,
                1_000.0 / best.ns,
                100.0 * best.arrived,
                1e6 * best.cpu_seconds / best.taken,
                best.thread_ns,
            );
        }
    }
}
