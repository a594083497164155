//! Crowds of callers that are silent, slow or do not read, beside callers that ask.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use socket2::{Domain, Socket, Type};

use crate::certificates::start_with_tls;
use crate::collector::Collector;
use crate::folder::Folder;

#[test]
fn hundreds_of_slow_callers_keep_nobody_out_and_each_is_counted() {
    let folder = Folder::new("slow-clients");
    let collector = Collector::start_with(&folder, "", "exec \"$0\" \"$@\"");
    let mut crowd = Crowd::new(collector.api, &[Kind::Silent, Kind::Header, Kind::Body, Kind::Stream]);
    let mut asked = 0;
    for _ in 0..3 {
        crowd.grow(200);
        crowd.drip();
        for path in ["/healthz", "/metrics", "/healthz", "/metrics"] {
            let (status, _) = ask(collector.api, path);
            assert_eq!(status, 200, "{path}");
            asked += 1;
        }
    }
    let metrics = collector.get("/metrics");
    let count = |name: &str| number(&metrics, name);

    // 256 places, and no peer has more than 128 of them.
    let accepted = count("inband_api_connections_accepted_total");
    let refused = count("inband_api_connections_closed_total{reason=\"refused\"}");
    assert_eq!(accepted + refused, crowd.opened + asked + 1, "{metrics}");
    assert_eq!(refused, 0, "{metrics}");
    let evicted = ["full", "peer", "streams", "header", "body"]
        .map(|reason| count(&format!("inband_api_connections_closed_total{{reason=\"{reason}\"}}")));
    assert!(evicted.iter().sum::<u64>() >= crowd.opened - 256, "{metrics}");
    assert_eq!(collector.count("received"), 0);
}

#[test]
fn hundreds_of_unfinished_handshakes_keep_nobody_out() {
    let folder = Folder::new("slow-handshakes");
    let Some(collector) = start_with_tls(&folder) else { return };
    let mut crowd = Crowd::new(collector.api, &[Kind::Silent, Kind::Handshake]);
    for _ in 0..3 {
        crowd.grow(150);
        crowd.drip();
        let (status, body) = ask_over_tls(&folder, collector.api, "/healthz").unwrap();
        assert_eq!((status, body.as_str()), (200, "ok\n"));
    }
    let (_, metrics) = ask_over_tls(&folder, collector.api, "/metrics").unwrap();
    let accepted = number(&metrics, "inband_api_connections_accepted_total");
    assert_eq!(accepted, crowd.opened + 4, "{metrics}");
    assert!(number(&metrics, "inband_api_connections_closed_total{reason=\"full\"}") > 100, "{metrics}");
}

#[test]
fn a_collector_with_few_descriptors_leaves_some_for_history_and_answers() {
    let folder = Folder::new("slow-descriptors");
    // Fewer descriptors than places.
    let shell = "ulimit -n 160; exec \"$0\" \"$@\"";
    let collector = Collector::start_with(&folder, PATIENT, shell);
    let mut crowd = Crowd::new(collector.api, &[Kind::Silent]);
    crowd.grow(300);

    for path in ["/healthz", "/metrics", "/readyz"] {
        assert_eq!(ask(collector.api, path).0, 200, "{path}: {}", collector.said());
    }
    let metrics = collector.get("/metrics");
    assert!(number(&metrics, "inband_api_connections_closed_total{reason=\"full\"}") > 200, "{metrics}");
    assert!(collector.said().contains("files for 64 of 256 connections"), "{}", collector.said());
    collector.send(0..10);
    assert_eq!(collector.wait_for("stored", 10), 10);
}

#[test]
fn a_collector_that_runs_out_of_descriptors_sends_silent_callers_away_and_counts_them() {
    let folder = Folder::new("slow-no-descriptors");
    let collector = Collector::start_with(&folder, PATIENT, "exec \"$0\" \"$@\"");
    let mut crowd = Crowd::new(collector.api, &[Kind::Silent]);
    crowd.grow(40);
    assert_eq!(ask(collector.api, "/healthz").0, 200);
    // The limit is lowered at run time, to a few files more than are open.
    let pid = Pid::from_raw(i32::try_from(collector.id()).unwrap());
    let open = std::fs::read_dir(format!("/proc/{}/fd", collector.id())).unwrap().count();
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let few = Rlimit { current: Some(u64::try_from(open).unwrap() + 8), maximum };
    let before = prlimit(pid, Resource::Nofile, few).unwrap();
    crowd.grow(60);

    for path in ["/healthz", "/readyz", "/healthz"] {
        assert_eq!(ask(collector.api, path).0, 200, "{path}: {}", collector.said());
    }
    let metrics = collector.get("/metrics");
    let evicted = number(&metrics, "inband_api_connections_closed_total{reason=\"descriptors\"}");
    // Some 50 of 60 found no descriptor, and each got that of an idle caller.
    assert!((40..=64).contains(&evicted), "{metrics}");
    let accepted = number(&metrics, "inband_api_connections_accepted_total");
    assert_eq!(accepted, crowd.opened + 5, "all were let in: {metrics}");
    assert_eq!(number(&metrics, "inband_api_connections_closed_total{reason=\"refused\"}"), 0);

    prlimit(pid, Resource::Nofile, before).unwrap();
    collector.send(0..10);
    assert_eq!(collector.wait_for("stored", 10), 10);
}

/// `cargo xtask long slow-clients`.
#[test]
#[ignore = "takes a minute and needs thousands of descriptors"]
fn thousands_of_slow_callers_delay_nobody_by_a_tenth_of_a_second() {
    let number_from = |name: &str, default: usize| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (callers, rounds) = (number_from("CALLERS", 10_000), number_from("ROUNDS", 100));
    let folder = Folder::new("slow-thousands");
    let plain = Collector::start(&folder);
    let kinds = [Kind::Silent, Kind::Header, Kind::Body, Kind::Stream];
    let over = measure("plain", Crowd::new(plain.api, &kinds), callers, rounds, |path| ask(plain.api, path));
    drop(plain);
    let folder = Folder::new("slow-thousands-tls");
    let over_tls = start_with_tls(&folder).map(|secure| {
        let crowd = Crowd::new(secure.api, &[Kind::Silent, Kind::Handshake]);
        measure("TLS", crowd, callers, rounds, |path| ask_over_tls(&folder, secure.api, path).unwrap())
    });

    let most = Duration::from_millis(100);
    assert!(over <= most && over_tls.is_none_or(|over| over <= most), "{over:?} {over_tls:?}");
}

/// Sends requests while the crowd is connected, prints the response times, and returns their 99th percentile.
fn measure(
    name: &str,
    mut crowd: Crowd,
    callers: usize,
    rounds: usize,
    ask: impl Fn(&str) -> (u16, String),
) -> Duration {
    crowd.grow(callers);
    let mut times = Vec::new();
    let mut dripped = Instant::now();
    for _ in 0..rounds {
        if dripped.elapsed() >= Duration::from_secs(1) {
            dripped = Instant::now();
            crowd.drip();
            // Disconnected callers connect again.
            crowd.come_again(callers / 10);
        }
        for path in ["/healthz", "/metrics"] {
            let begun = Instant::now();
            let (status, _) = ask(path);
            times.push(begun.elapsed());
            assert_eq!(status, 200, "{path}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    times.sort();
    let share = |per_mille: usize| times[(times.len() - 1) * per_mille / 1_000];
    let (median, p99, max) = (share(500), share(990), share(1_000));
    println!("{name}: {callers} callers, {} connections in all, {} answers", crowd.opened, times.len());
    println!("{name}: median {median:?}, p99 {p99:?}, max {max:?}");
    let (_, metrics) = ask("/metrics");
    for line in metrics.lines().filter(|line| line.starts_with("inband_api_connections_")) {
        println!("{name}: {line}");
    }
    p99
}

/// The behaviour of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing.
    Silent,
    /// Sends headers, a byte at a time.
    Header,
    /// Sends a TLS handshake, a byte at a time.
    Handshake,
    /// Sends the body of a request, a byte at a time.
    Body,
    /// Follows events and reads nothing.
    Stream,
}

/// Callers of several kinds, from a hundred addresses.
struct Crowd {
    api: SocketAddr,
    kinds: Vec<Kind>,
    callers: Vec<(Kind, TcpStream)>,
    /// Connections that were opened.
    opened: u64,
}

impl Crowd {
    fn new(api: SocketAddr, kinds: &[Kind]) -> Self {
        Self { api, kinds: kinds.to_vec(), callers: Vec::new(), opened: 0 }
    }

    fn grow(&mut self, count: usize) {
        for _ in 0..count {
            let kind = self.kinds[usize::try_from(self.opened).unwrap() % self.kinds.len()];
            let caller = self.call(kind);
            self.callers.push((kind, caller));
        }
    }

    /// Sends a byte from each slow caller.
    fn drip(&mut self) {
        for (kind, caller) in &mut self.callers {
            if matches!(kind, Kind::Header | Kind::Body | Kind::Handshake) {
                // A disconnected caller notices later.
                let _ = caller.write(b"a");
            }
        }
    }

    /// Connects at most `most` disconnected callers again.
    fn come_again(&mut self, most: usize) {
        let gone = |caller: &TcpStream| match caller.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        let places = self.callers.iter().enumerate().filter(|(_, (_, caller))| gone(caller));
        let places: Vec<usize> = places.map(|(at, _)| at).take(most).collect();
        for at in places {
            let kind = self.callers[at].0;
            self.callers[at].1 = self.call(kind);
        }
    }

    fn call(&mut self, kind: Kind) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let [third, fourth] =
            [self.opened / 10 % 10, self.opened % 10].map(|digit| u8::try_from(digit).unwrap());
        socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 1 + third, 1 + fourth), 0)).into()).unwrap();
        socket.connect(&self.api.into()).unwrap();
        self.opened += 1;
        let mut stream = TcpStream::from(socket);
        let first: &[u8] = match kind {
            Kind::Silent => b"",
            Kind::Header => b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
            // A record whose length is larger than what follows.
            Kind::Handshake => &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
            Kind::Body => {
                b"POST /api/v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                  Content-Length: 1000\r\n\r\n"
            }
            Kind::Stream => b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        };
        // It may have been disconnected already.
        let _ = stream.write_all(first);
        stream.set_nonblocking(true).unwrap();
        stream
    }
}

/// Settings with which silent callers outlast the test, so that only evictions make room.
const PATIENT: &str = "header_seconds = 600\n";

/// Sends a request on a connection of its own.
fn ask(api: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(api).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Sends a request, with the collector's own certificate as the authority.
fn ask_over_tls(folder: &Folder, api: SocketAddr, path: &str) -> Result<(u16, String), ureq::Error> {
    let authorities = inband_export::Authorities::read(&folder.path("certificate.pem")).unwrap();
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).build();
    let agent = inband_export::agent(config, Some(&authorities));
    let mut answer = agent.get(format!("https://localhost:{}{path}", api.port())).call()?;
    Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
}

fn number(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {metrics}")).parse().unwrap()
}
