//! Host A, two switches, host B, each a network namespace; links between neighbours.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use inband_linux::address::Address;
use inband_linux::device;
use inband_linux::namespace::{self, Namespace};
use inband_linux::netlink::Netlink;
use inband_linux::route::{NextHop, Route};
use inband_linux::veth::{self, End};
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, Status};
use inband_testkit::widen_backlog;
use rustix::time::{ClockId, clock_gettime};

/// The namespaces in the order of the links.
pub(crate) const A: usize = 0;
pub(crate) const FIRST: usize = 1;
pub(crate) const SECOND: usize = 2;
pub(crate) const B: usize = 3;

/// The namespaces; removed when this is dropped.
pub(crate) struct World {
    names: Vec<String>,
    pub(crate) namespaces: Vec<Namespace>,
}

static WORLDS: AtomicU32 = AtomicU32::new(0);
/// The longest wait of a test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Devices carry INT in addition to a full packet of the hosts.
const MTU: u32 = 2_000;

impl World {
    /// The namespaces, connected: `left` and `right` are the devices of each. `None`, with a message, where
    /// this user may not.
    pub(crate) fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        widen_backlog();
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let names: Vec<_> =
            (0..4).map(|place| format!("inbs{}-{number}-{place}", std::process::id())).collect();
        let namespaces = names.iter().map(|name| Namespace::create(name).unwrap()).collect();
        let world = Self { names, namespaces };
        let mut netlink = Netlink::open().unwrap();
        for at in 0..3 {
            let end = |name, at: usize| End { mtu: Some(MTU), ..End::new(name, &world.namespaces[at]) };
            veth::create(&mut netlink, [end("right", at), end("left", at + 1)]).unwrap();
        }
        for place in 0..4 {
            world.inside(place, || {
                std::fs::write("/proc/sys/net/ipv6/conf/default/accept_dad", "0").unwrap();
                std::fs::write("/proc/sys/net/ipv6/conf/all/accept_dad", "0").unwrap();
                // Sockets that may have any port do not get that of INT.
                std::fs::write("/proc/sys/net/ipv4/ip_local_reserved_ports", "33122").unwrap();
            });
            for device in ["lo", "left", "right"] {
                world.up(place, device);
            }
        }
        for place in 0..4 {
            world.await_links(place);
        }
        Some(world)
    }

    fn up(&self, place: usize, name: &str) {
        self.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            if let Some(device) = device::find(&mut netlink, name).unwrap() {
                device::set_up(&mut netlink, device.index, true).unwrap();
            }
        });
    }

    /// Waits until the kernel accepts packets for the links of a namespace.
    fn await_links(&self, place: usize) {
        self.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            let devices = device::all(&mut netlink).unwrap();
            let links = devices.iter().filter(|device| ["left", "right"].contains(&&*device.name));
            let links: Vec<_> = links.map(|device| device.index).collect();
            assert!(device::await_operational(&mut netlink, &links, PATIENCE).unwrap(), "{place}");
        });
    }

    pub(crate) fn name(&self, place: usize) -> &str {
        &self.names[place]
    }

    pub(crate) fn inside<T: Send>(&self, place: usize, work: impl FnOnce() -> T + Send) -> T {
        self.namespaces[place].inside(work).unwrap()
    }

    /// Adds an address such as `10.0.0.1/24` to a device.
    pub(crate) fn address(&self, place: usize, name: &str, text: &str) {
        let (ip, length) = text.split_once('/').unwrap();
        self.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            let device = device::find(&mut netlink, name).unwrap().unwrap().index;
            let (ip, prefix_length) = (ip.parse().unwrap(), length.parse().unwrap());
            Address { device, ip, prefix_length }.add(&mut netlink).unwrap();
        });
    }

    /// Adds a route such as `10.0.0.0/8`, by a gateway behind a device.
    pub(crate) fn route(&self, place: usize, name: &str, text: &str, gateway: &str) {
        let (destination, length) = text.split_once('/').unwrap();
        self.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            let device = device::find(&mut netlink, name).unwrap().unwrap().index;
            let hop = NextHop::by(gateway.parse().unwrap(), device);
            let route = Route::new(destination.parse().unwrap(), length.parse().unwrap(), vec![hop]);
            route.add(&mut netlink).unwrap();
        });
    }

    /// Hosts in one network, for switches that are bridges.
    pub(crate) fn one_network(&self) {
        // Room for INT of two hops in the links.
        for (place, device, v4, v6) in
            [(A, "right", "10.94.0.1/24", "fd94::1/64"), (B, "left", "10.94.0.2/24", "fd94::2/64")]
        {
            self.address(place, device, v4);
            self.address(place, device, v6);
            self.shrink(place, device);
        }
    }

    /// Hosts in networks of their own, for switches that are routers. Only the link between the switches
    /// carries packets longer than those of hosts.
    pub(crate) fn three_networks(&self) {
        for (place, device, v4, v6) in [
            (A, "right", "10.94.1.1/24", "fd94:1::1/64"),
            (FIRST, "left", "10.94.1.254/24", "fd94:1::fe/64"),
            (FIRST, "right", "10.94.2.1/24", "fd94:2::1/64"),
            (SECOND, "left", "10.94.2.2/24", "fd94:2::2/64"),
            (SECOND, "right", "10.94.3.254/24", "fd94:3::fe/64"),
            (B, "left", "10.94.3.1/24", "fd94:3::1/64"),
        ] {
            self.address(place, device, v4);
            self.address(place, device, v6);
        }
        for (place, device, v4, v4_by, v6, v6_by) in [
            (A, "right", "0.0.0.0/0", "10.94.1.254", "::/0", "fd94:1::fe"),
            (FIRST, "right", "10.94.3.0/24", "10.94.2.2", "fd94:3::/64", "fd94:2::2"),
            (SECOND, "left", "10.94.1.0/24", "10.94.2.1", "fd94:1::/64", "fd94:2::1"),
            (B, "left", "0.0.0.0/0", "10.94.3.254", "::/0", "fd94:3::fe"),
        ] {
            self.route(place, device, v4, v4_by);
            self.route(place, device, v6, v6_by);
        }
        for (place, device) in [(A, "right"), (FIRST, "left"), (SECOND, "right"), (B, "left")] {
            self.shrink(place, device);
        }
    }

    /// Sets a device to the usual MTU of hosts.
    pub(crate) fn shrink(&self, place: usize, name: &str) {
        self.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            let device = device::find(&mut netlink, name).unwrap().unwrap().index;
            device::set_mtu(&mut netlink, device, 1_500).unwrap();
        });
    }

    /// Runs a command in a namespace; returns whether it succeeded.
    pub(crate) fn run(&self, place: usize, command: &str) -> bool {
        let mut words = command.split(' ');
        let mut command = self.namespaces[place].command(words.next().unwrap()).unwrap();
        command.args(words).status().is_ok_and(|status| status.success())
    }

    /// Starts a switch that sends its reports to a socket in its namespace.
    pub(crate) fn switch(&self, place: usize, text: &str) -> Running {
        self.switch_of(place, &config(place, text))
    }

    /// The same with a complete configuration.
    pub(crate) fn switch_of(&self, place: usize, text: &str) -> Running {
        let namespace = Namespace::open(&self.names[place]).unwrap();
        // The socket of an earlier switch may still be open in a child of another test before its exec.
        let is_taken = |bound: &io::Result<UdpSocket>| {
            bound.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
        };
        let bind = |_| {
            std::thread::sleep(Duration::from_millis(5));
            self.inside(place, || UdpSocket::bind("127.0.0.1:32766"))
        };
        let reports =
            (0..1_000).map(bind).find(|bound| !is_taken(bound)).expect("it is closed by then").unwrap();
        let config: NodeConfig = toml::from_str(text).unwrap();
        Running::start(namespace, config, reports)
    }

    /// Sends `bytes` over TCP from A to B, and checks that they arrive.
    pub(crate) fn tcp(&self, to: &str, bytes: usize) {
        let data: Vec<u8> = (0..bytes).map(|at| u8::try_from(at * 7 % 253).unwrap()).collect();
        let to: IpAddr = to.parse().unwrap();
        let listener = self.inside(B, || TcpListener::bind((to, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let mut stream = self.inside(A, || TcpStream::connect_timeout(&address, PATIENCE).unwrap());
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        std::thread::scope(|scope| {
            let receiver = scope.spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut received = Vec::new();
                stream.read_to_end(&mut received).unwrap();
                received
            });
            stream.write_all(&data).unwrap();
            drop(stream);
            assert!(receiver.join().unwrap() == data, "{bytes} bytes to {to}");
        });
    }

    /// Sends datagrams of these lengths from A to B one by one, and checks that each arrives once.
    pub(crate) fn udp(&self, to: &str, lengths: impl Iterator<Item = usize>) {
        let to: IpAddr = to.parse().unwrap();
        let receiver = self.inside(B, || UdpSocket::bind((to, 0)).unwrap());
        receiver.set_read_timeout(Some(PATIENCE)).unwrap();
        let address = receiver.local_addr().unwrap();
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let sender = self.inside(A, || UdpSocket::bind(any).unwrap());
        let mut buffer = vec![0; 65_536];
        for length in lengths {
            let data: Vec<u8> =
                (0..length).map(|at| u8::try_from((at * 3 + length) % 251).unwrap()).collect();
            sender.send_to(&data, address).unwrap();
            let (received, _) = receiver.recv_from(&mut buffer).unwrap();
            assert!(buffer[..received] == data, "{length} bytes to {to}");
        }
        receiver.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(receiver.recv_from(&mut buffer).is_err(), "a datagram came twice");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = namespace::delete(name);
        }
    }
}

/// A configuration of a switch with an edge to its host, and `text` on top.
pub(crate) fn config(place: usize, text: &str) -> String {
    let (edge, id) = if place == FIRST { ("left", 11) } else { ("right", 12) };
    let interface = |number: u16, device: &str| {
        let is_edge = device == edge;
        let mtu = if is_edge { 1_500 } else { MTU };
        format!(
            "[[interface]]\nid = {number}\ndevice = \"{device}\"\nedge = {is_edge}\nmtu = {mtu}\nrate = \"0\"\n"
        )
    };
    let head = format!("[node]\nid = {id}\n");
    let switch = if text.contains("[switch]") { "" } else { "[switch]\ndatapath = \"engine\"\n" };
    format!("{head}{}{}[[watch]]\n{switch}{text}", interface(1, "left"), interface(2, "right"))
}

/// A switch that runs on a thread.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    reload: std::sync::mpsc::Sender<NodeConfig>,
    ask: std::sync::mpsc::Sender<std::sync::mpsc::Sender<Status>>,
    thread: Option<JoinHandle<Status>>,
    /// CPU time of its thread from start to end, nanoseconds.
    pub(crate) worked_ns: Arc<AtomicU64>,
    pub(crate) reports: UdpSocket,
}

impl Running {
    fn start(namespace: Namespace, config: NodeConfig, reports: UdpSocket) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let worked_ns = Arc::new(AtomicU64::new(0));
        let work = Arc::clone(&worked_ns);
        let (started, is_started) = std::sync::mpsc::channel();
        let (reload, reloads) = std::sync::mpsc::channel();
        let (ask, questions) = std::sync::mpsc::channel::<std::sync::mpsc::Sender<Status>>();
        let thread = std::thread::spawn(move || {
            namespace.enter().unwrap();
            // Everything the tests do works with these.
            inband_switch::keep_needed().unwrap();
            let mut switch = LiveSwitch::start(&config).unwrap();
            let since = thread_ns();
            started.send(()).unwrap();
            while !theirs.load(Ordering::Relaxed) {
                if let Ok(config) = reloads.try_recv() {
                    switch.reload(&config).unwrap();
                }
                questions.try_iter().for_each(|answer| answer.send(switch.status()).unwrap());
                switch.step().unwrap();
            }
            switch.finish();
            work.store(thread_ns() - since, Ordering::Relaxed);
            switch.status()
        });
        is_started.recv_timeout(PATIENCE).expect("the switch does not start");
        Self { stop, reload, ask, thread: Some(thread), worked_ns, reports }
    }

    pub(crate) fn reload(&self, place: usize, text: &str) {
        self.reload.send(toml::from_str(&config(place, text)).unwrap()).unwrap();
    }

    /// Its status between two steps.
    pub(crate) fn status(&self) -> Status {
        let (answer, answered) = std::sync::mpsc::channel();
        self.ask.send(answer).unwrap();
        answered.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits until its status is as `is_so` says: its thread may have to wait for a processor.
    #[track_caller]
    pub(crate) fn await_status(&self, is_so: impl Fn(&Status) -> bool) {
        let since = Instant::now();
        loop {
            let status = self.status();
            if is_so(&status) {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{status:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the switch; returns its last status.
    pub(crate) fn stop(self) -> Status {
        self.stop_and_take_reports().0
    }

    /// The same, with the datagrams of reports that were not taken before.
    pub(crate) fn stop_and_take_reports(mut self) -> (Status, Vec<Vec<u8>>) {
        self.stop.store(true, Ordering::Relaxed);
        let status = self.thread.take().unwrap().join().unwrap();
        // All have been sent, and arrive with the call that sends them.
        self.reports.set_nonblocking(true).unwrap();
        let mut buffer = vec![0; 65_536];
        let received = std::iter::from_fn(|| {
            self.reports.recv(&mut buffer).ok().map(|length| buffer[..length].to_vec())
        });
        (status, received.collect())
    }

    /// The datagrams of reports received until none arrives for a while.
    pub(crate) fn take_reports(&self) -> Vec<Vec<u8>> {
        self.reports.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let (mut reports, mut buffer) = (Vec::new(), vec![0; 65_536]);
        let since = Instant::now();
        while let Ok(length) = self.reports.recv(&mut buffer) {
            reports.push(buffer[..length].to_vec());
            assert!(since.elapsed() < PATIENCE, "reports do not come to an end");
        }
        reports
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// CPU time of this thread, nanoseconds.
fn thread_ns() -> u64 {
    let worked = clock_gettime(ClockId::ThreadCPUTime);
    (worked.tv_sec * 1_000_000_000 + worked.tv_nsec).cast_unsigned()
}

/// The number of packets with the outcome `name`.
pub(crate) fn outcome(status: &Status, name: &str) -> u64 {
    status.outcomes.get(name).copied().unwrap_or_else(|| panic!("no outcome {name}: {:?}", status.outcomes))
}

/// The number of dropped frames, whatever the cause.
pub(crate) fn drops(status: &Status) -> u64 {
    status.interfaces.iter().flat_map(|port| port.drops.values()).sum()
}

/// Whether a program is installed.
pub(crate) fn is_there(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}
