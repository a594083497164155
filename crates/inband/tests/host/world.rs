//! Two hosts and two forwarding hops between them, each a network namespace.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use inband_testkit::widen_backlog;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::traffic::{PATIENCE, deliver, udp_pair};

/// Host A, two hops that forward, host B.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    A,
    FirstHop,
    SecondHop,
    B,
}

/// The namespaces; they are removed on drop.
pub(crate) struct World {
    names: [String; 4],
    pub(crate) folder: PathBuf,
}

/// Whether checksums and segmentation are offloaded to devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offloads {
    On,
    Off,
}

pub(crate) const A4: &str = "10.91.1.1";
pub(crate) const A6: &str = "fd91:1::1";
pub(crate) const B4: &str = "10.91.3.1";
pub(crate) const B6: &str = "fd91:3::1";
/// The UDP port of INT, where settings name no other.
const INT_PORT: &str = "33122";
/// An address of the first hop, where the collector is.
pub(crate) const COLLECTOR: &str = "10.91.2.1";

/// Links, addresses and routes; `0` to `3` are the namespaces.
const SETUP: &str = "\
link add ab netns 0 type veth peer name ba netns 1
link add bc netns 1 type veth peer name cb netns 2
link add cd netns 2 type veth peer name dc netns 3
-n 0 addr add 10.91.1.1/24 dev ab
-n 1 addr add 10.91.1.254/24 dev ba
-n 1 addr add 10.91.2.1/24 dev bc
-n 2 addr add 10.91.2.2/24 dev cb
-n 2 addr add 10.91.3.254/24 dev cd
-n 3 addr add 10.91.3.1/24 dev dc
-n 0 addr add fd91:1::1/64 dev ab nodad
-n 1 addr add fd91:1::fe/64 dev ba nodad
-n 1 addr add fd91:2::1/64 dev bc nodad
-n 2 addr add fd91:2::2/64 dev cb nodad
-n 2 addr add fd91:3::fe/64 dev cd nodad
-n 3 addr add fd91:3::1/64 dev dc nodad
-n 0 link set ab up
-n 1 link set ba up
-n 1 link set bc up
-n 2 link set cb up
-n 2 link set cd up
-n 3 link set dc up
-n 0 route add default via 10.91.1.254
-n 3 route add default via 10.91.3.254
-n 0 -6 route add default via fd91:1::fe
-n 3 -6 route add default via fd91:3::fe
-n 1 route add 10.91.3.0/24 via 10.91.2.2
-n 2 route add 10.91.1.0/24 via 10.91.2.1
-n 1 -6 route add fd91:3::/64 via fd91:2::2
-n 2 -6 route add fd91:1::/64 via fd91:2::1
";

/// Rules that translate the source of A's packets to the first hop's address.
pub(crate) const SOURCE_NAT: &str = "table ip nat { chain postrouting { type nat hook postrouting priority 100; \
                                     ip saddr 10.91.1.0/24 oifname bc masquerade; } }";

/// The devices of the links, with the index of their namespace.
const DEVICES: [(usize, &str); 6] = [(0, "ab"), (1, "ba"), (1, "bc"), (2, "cb"), (2, "cd"), (3, "dc")];

static WORLDS: AtomicU32 = AtomicU32::new(0);

impl World {
    /// Creates the namespaces; prints a note and returns `None` if this user may not.
    pub(crate) fn new(offloads: Offloads) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        for program in ["ip", "ethtool"] {
            if Command::new(program).stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
                eprintln!("skipped: `{program}` is not installed");
                return None;
            }
        }
        widen_backlog();
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let unique = format!("inb{}-{number}", std::process::id());
        let names = [0, 1, 2, 3].map(|place| format!("{unique}-{place}"));
        let folder = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&folder).unwrap();
        let world = Self { names, folder };
        for name in &world.names {
            if !run("ip", &["netns", "add", name]) {
                eprintln!("skipped: this machine has no network namespaces");
                return None;
            }
            assert!(run("ip", &["-n", name, "link", "set", "lo", "up"]));
        }
        world.connect(offloads);
        world.keep_order(number);
        world.settle();
        world.resolve();
        Some(world)
    }

    /// Waits until every device may use its link-local address; before that no neighbour can be resolved.
    fn settle(&self) {
        let since = Instant::now();
        let is_settled = |place: usize| {
            let name = &self.names[place];
            let command = ["-n", name, "-6", "-o", "addr", "show", "scope", "link", "-tentative"];
            let output = Command::new("ip").args(command).output().unwrap();
            let devices = DEVICES.iter().filter(|(other, _)| *other == place).count();
            String::from_utf8(output.stdout).unwrap().lines().count() >= devices
        };
        while !(0..self.names.len()).all(is_settled) {
            assert!(since.elapsed() < PATIENCE, "the devices have no link-local addresses");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Resolves the neighbours on the way from A to B and back; until then few packets wait, and the others
    /// are dropped.
    fn resolve(&self) {
        for (a, b) in [(A4, B4), (A6, B6)] {
            let (at_a, at_b) = udp_pair(self, a, b);
            deliver(&at_a, &at_b, b"first");
            deliver(&at_b, &at_a, b"first");
        }
    }

    fn connect(&self, offloads: Offloads) {
        for place in [Place::A, Place::FirstHop, Place::SecondHop, Place::B] {
            // No other machine has these addresses.
            self.sysctl(place, "net.ipv6.conf.default.accept_dad", "0");
            // Sockets that may have any port do not get that of INT, to which datagrams get none.
            self.sysctl(place, "net.ipv4.ip_local_reserved_ports", INT_PORT);
        }
        for line in SETUP.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let is_name = |at: usize| at > 0 && matches!(words[at - 1], "netns" | "-n");
            let named: Vec<&str> = (0..words.len())
                .map(|at| {
                    if is_name(at) {
                        self.names[words[at].parse::<usize>().unwrap()].as_str()
                    } else {
                        words[at]
                    }
                })
                .collect();
            assert!(run("ip", &named), "{line}");
        }
        for place in [Place::FirstHop, Place::SecondHop] {
            self.inside(place, || {
                for file in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
                    std::fs::write(format!("/proc/thread-self/net/../../sys/net/{file}"), "1")
                        .or_else(|_| std::fs::write(format!("/proc/sys/net/{file}"), "1"))
                        .unwrap();
                }
            });
        }
        if offloads == Offloads::Off {
            for (place, device) in DEVICES {
                let name = &self.names[place];
                let command =
                    ["netns", "exec", name, "ethtool", "-K", device, "tx", "off", "gso", "off", "gro", "off"];
                assert!(run("ip", &command), "{device}");
            }
        }
    }

    /// Keeps the order of packets on links, as wires do. A veth processes each packet on the sender's
    /// processor, so one overtakes another when its sender moves, or when another thread drains a queue.
    fn keep_order(&self, number: u32) {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get().min(32));
        let mask = 1_u32 << (number as usize % processors);
        for place in [Place::A, Place::FirstHop, Place::SecondHop, Place::B] {
            let devices = DEVICES.iter().filter(|(other, _)| *other == place as usize);
            let files = devices.map(|(_, device)| format!("/sys/class/net/{device}/queues/rx-0/rps_cpus"));
            let line = files.map(|file| format!("echo {mask:x} > {file}")).collect::<Vec<_>>().join(" && ");
            assert!(run("ip", &["netns", "exec", self.name(place), "sh", "-c", &line]), "{line}");
        }
    }

    /// Runs `work` in a namespace; sockets opened there stay there.
    pub(crate) fn inside<T: Send>(&self, place: Place, work: impl FnOnce() -> T + Send) -> T {
        inside(self.name(place), work)
    }

    /// A command in a namespace.
    pub(crate) fn command(&self, place: Place, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(place), program]);
        command
    }

    /// A command in a namespace that sees the files of the machine.
    pub(crate) fn enter(&self, place: Place, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name(place))).arg(program);
        command
    }

    /// The same with the capabilities of the service.
    pub(crate) fn enter_confined(&self, place: Place, program: &str) -> Command {
        let unit = include_str!("../../../../examples/inband-host.service");
        let kept = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=CAP_")).unwrap();
        let kept = kept.to_lowercase().replace(" cap_", ",+");
        let mut command = self.enter(place, "setpriv");
        command.arg(format!("--bounding-set=-all,+{kept}")).arg(program);
        command
    }

    /// The same as the first process of a container, all of whose processes end with this one.
    pub(crate) fn enter_container(&self, place: Place, program: &str) -> Command {
        let mut command = self.enter(place, "unshare");
        command.args(["--pid", "--fork", "--kill-child", program]);
        command
    }

    /// Waits until the kernel accepts packets for a device; on a busy machine this takes some time after it
    /// is up.
    pub(crate) fn await_up(&self, place: Place, device: &str) {
        let since = Instant::now();
        let is_up = || {
            let command = ["-n", self.name(place), "link", "show", device];
            let output = Command::new("ip").args(command).output().unwrap();
            String::from_utf8(output.stdout).unwrap().contains("state UP")
        };
        while !is_up() {
            assert!(since.elapsed() < PATIENCE, "{device} does not come up");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The devices of a namespace, as `ip` lists them.
    pub(crate) fn links(&self, place: Place) -> String {
        let output = Command::new("ip").args(["-n", self.name(place), "-o", "link"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs an `ip` command in a namespace.
    pub(crate) fn ip(&self, place: Place, command: &str) {
        let words: Vec<_> = ["-n", self.name(place)].into_iter().chain(command.split(' ')).collect();
        assert!(run("ip", &words), "{command}");
    }

    /// Sets an offload of a device `on` or `off`.
    pub(crate) fn offload(&self, place: Place, device: &str, offload: &str, state: &str) {
        let command = ["netns", "exec", self.name(place), "ethtool", "-K", device, offload, state];
        assert!(run("ip", &command), "{device}: {offload} {state}");
    }

    /// Runs a `tc` command in a namespace; returns whether the kernel supports it.
    pub(crate) fn tc(&self, place: Place, command: &str) -> bool {
        let words: Vec<_> = ["-n", self.name(place)].into_iter().chain(command.split(' ')).collect();
        run("tc", &words)
    }

    /// Loads rules into the packet filter of a namespace; prints a note and returns `false` if there is none.
    ///
    /// # Panics
    /// There is one, and it rejects the rules: an error of the test must not look like a skipped test.
    pub(crate) fn nft(&self, place: Place, rules: &str) -> bool {
        let is_there = |words: &[&str]| {
            let words = ["netns", "exec", self.name(place), "nft"].into_iter().chain(words.iter().copied());
            run("ip", &words.collect::<Vec<_>>())
        };
        if !is_there(&["list", "ruleset"]) {
            eprintln!("skipped: `nft` is not installed, or the kernel has no nftables");
            return false;
        }
        // In a rules file, a line break ends each block.
        let rules = rules.replace("} }", "}\n}\n");
        let path = self.write("rules.nft", rules.as_bytes());
        let output = self.command(place, "nft").arg("-f").arg(path).output().unwrap();
        assert!(output.status.success(), "{rules}: {}", String::from_utf8_lossy(&output.stderr));
        true
    }

    /// Sets a kernel variable in a namespace.
    pub(crate) fn sysctl(&self, place: Place, name: &str, value: &str) {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        self.inside(place, move || std::fs::write(path, value).unwrap());
    }

    /// Writes a file into this world's folder.
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        File::create(&path).unwrap().write_all(contents).unwrap();
        path
    }

    /// The name of a namespace.
    pub(crate) fn name(&self, place: Place) -> &str {
        &self.names[place as usize]
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for name in &self.names {
            run("ip", &["netns", "del", name]);
        }
        // Leftovers in the temporary directory are harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs `work` in the namespace `name`; sockets opened there stay there.
pub(crate) fn inside<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
    let path = format!("/run/netns/{name}");
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let namespace = File::open(path).unwrap();
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(std::os::fd::AsFd::as_fd(&namespace), kind).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

fn run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
