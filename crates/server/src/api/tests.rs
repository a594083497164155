//! Answers as described, and only for authorized callers.

mod answers;
mod callers;
mod elsewhere;
mod gone;
mod history;
mod made;
mod page;
mod pages;
mod places;
mod ranges;
mod refusals;
mod reports;
mod restart;
mod rolled_up;
mod shapes;
mod shared;
mod unread;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use inband_collector::CollectorSettings;
use inband_export::Stage;
use inband_model::{NameList, Names};
use inband_store::{Store, StoreError, StoreSettings};
use inband_testkit::{inner_only, md_frame, report_group};
use serde_json::{Value, json};

use super::openapi::{OPERATIONS, openapi};
use super::{Api, ApiError, Listening};
use crate::archive::Archive;
use crate::keep::Keep;
use crate::live::Live;
use crate::pipeline::Pipeline;
use crate::receive::Reception;
use crate::settings::{ApiSettings, ReceiveSettings};
use crate::windows::Windows;

#[test]
fn every_operation_is_there_and_nothing_else() {
    let system = System::start("");
    for operation in OPERATIONS.iter().filter(|operation| operation.path != "/api/v1/stream") {
        let path = operation.path.replace("{id}", "1").replace("{number}", "1");
        let path = path.replace("{node}/{hw_id}/{sequence}", "7/0/1");
        let (status, body) = system.send(operation.method, &path, &[], "{}");
        let is_known = !body.contains("nothing is at");
        assert!(is_known && status != 405, "{} {path}: {status} {body}", operation.method);
    }
    assert_eq!(system.get("/api/v2/ledger").0, 404);
    assert_eq!(system.send("post", "/api/v1/ledger", &[], "").0, 405);
}

#[test]
fn the_description_is_the_committed_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let text = format!("{:#}\n", openapi());
    if std::env::var_os("INBAND_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == text, "docs/openapi.json is of another version: INBAND_BLESS=1 writes it anew");
}

#[test]
fn the_ledger_has_the_keys_of_the_public_interface() {
    let system = System::start("");
    system.report(3);
    let ledger = system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["accepted"] == 3);
    for key in [
        "received",
        "kernel_dropped",
        "malformed",
        "shed",
        "accepted",
        "duplicate",
        "reordered",
        "late",
        "lost",
        "lost_unknown",
        "stored",
        "store_failed",
    ] {
        assert!(ledger["total"][key].is_u64(), "{key}: {ledger}");
    }
    let stream = &ledger["streams"][0];
    assert_eq!(
        (&stream["node_id"], &stream["hw_id"], &stream["version"], &stream["accepted"]),
        (&json!(7), &json!(0), &json!("2.0"), &json!(3))
    );
    for key in ["session", "duplicate", "reordered", "late", "lost", "lost_unknown"] {
        assert!(!stream[key].is_null(), "{key}: {ledger}");
    }
}

#[test]
fn what_was_reported_is_stored_and_can_be_asked() {
    let system = System::start("");
    system.report(5);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 5);
    let question = json!({ "sql": "SELECT node_id, count(*) AS reports FROM observations GROUP BY node_id" });
    let (status, body) = system.send("post", "/api/v1/query", &[], &question.to_string());
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["columns"]), (200, &json!(["node_id", "reports"])), "{answer}");
    assert_eq!((&answer["rows"], &answer["damage"]), (&json!([[7, 5]]), &json!([])), "{answer}");

    let question =
        json!({ "sql": "SELECT DISTINCT node_name(node_id), address_name(source) FROM observations" });
    let (status, body) = system.send("post", "/api/v1/query", &[], &question.to_string());
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["rows"]), (200, &json!([["leaf \"seven\"", "lab"]])));

    for wrong in ["DROP TABLE observations", "SELECT nonsense FROM observations", ""] {
        let (status, body) = system.send("post", "/api/v1/query", &[], &json!({ "sql": wrong }).to_string());
        assert_eq!(status, 400, "{wrong}: {body}");
        assert!(serde_json::from_str::<Value>(&body).unwrap()["error"].is_string());
    }
    assert_eq!(system.send("post", "/api/v1/query", &[], "no json").0, 400);
    let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let (status, body) = system.send("post", "/api/v1/query", &[], &json!({ "sql": long }).to_string());
    assert_eq!(status, 422, "{body}");
}

#[test]
fn nodes_and_flows_are_told() {
    let system = System::start("");
    system.report(2);
    let nodes = system.wait_for("/api/v1/nodes", |nodes| nodes[0]["reports"] == 2);
    assert_eq!((nodes[0]["node_id"].clone(), nodes.as_array().unwrap().len()), (json!(7), 1));
    assert_eq!(system.get("/api/v1/nodes?node=8").1, "[]");
    assert_eq!(system.get("/api/v1/nodes?limit=no").0, 400);
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 2);
    let id = flows[0]["id"].as_str().unwrap();
    let one = system.get(&format!("/api/v1/flows/{id}"));
    assert_eq!(serde_json::from_str::<Value>(&one.1).unwrap()["flow"]["reports"], 2);
    assert_eq!((system.get("/api/v1/flows/1").0, system.get("/api/v1/flows/x").0), (404, 400));
}

#[test]
fn silences_are_added_and_lifted() {
    let system = System::start("");
    let (status, body) = system.send("post", "/api/v1/silences", &[], r#"{"key": "leaf1"}"#);
    let number = serde_json::from_str::<Value>(&body).unwrap()["number"].clone();
    assert!(status == 200 && number.is_u64(), "{body}");
    let list: Value = serde_json::from_str(&system.get("/api/v1/silences").1).unwrap();
    assert_eq!((&list[0]["number"], &list[0]["silence"]["key"]), (&number, &json!("leaf1")));
    assert_eq!(system.send("delete", &format!("/api/v1/silences/{number}"), &[], "").0, 200);
    assert_eq!(system.send("delete", &format!("/api/v1/silences/{number}"), &[], "").0, 404);
    assert_eq!(
        system.send("post", "/api/v1/events/00000000000000ff/acknowledge", &[], r#"{"by":"me"}"#).0,
        404
    );
}

#[test]
fn metrics_are_counted_and_name_no_flow() {
    let system = System::start("");
    system.report(4);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 4);
    let (status, text) = system.get("/metrics");
    assert_eq!(status, 200);
    for line in [
        "inband_datagrams_received_total 4",
        "inband_reports_stored_total 4",
        "inband_node_reports_total{node=\"7\"} 4",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("10.0."), "{text}");
    assert_eq!(inband_testkit::metrics::undocumented(&text), [""; 0]);
    // Each family has its help and type once, before its samples.
    for name in text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()) {
        assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
    }
}

#[test]
fn a_listener_hears_the_ledger() {
    let system = System::start("");
    let mut stream = BufReader::new(system.open("get", "/api/v1/stream", &[], ""));
    let mut lines = Vec::new();
    for _ in 0..200 {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        lines.push(line.trim().to_owned());
        if lines.iter().any(|line| line.starts_with("data: {")) {
            break;
        }
    }
    assert!(lines.contains(&"event: ledger".to_owned()), "{lines:?}");
}

#[test]
fn without_the_token_only_health_is_told() {
    let system = System::start("secret");
    assert_eq!((system.get("/healthz").0, system.get("/readyz").0), (200, 200));
    assert_eq!((system.get("/api/v1/ledger").0, system.get("/metrics").0), (401, 401));
    for wrong in ["Bearer secre", "Bearer ", "secret", "Basic secret"] {
        assert_eq!(system.send("get", "/api/v1/ledger", &[("Authorization", wrong)], "").0, 401, "{wrong}");
    }
    for right in ["Bearer secret", "bearer secret"] {
        assert_eq!(system.send("get", "/api/v1/ledger", &[("Authorization", right)], "").0, 200, "{right}");
    }
    let refused = system.head_of("get", "/api/v1/ledger");
    assert!(refused.contains("www-authenticate: Bearer"), "{refused}");
}

#[test]
fn a_page_of_another_name_cannot_ask_on_loopback() {
    let system = System::start("");
    let from = |host| system.send("get", "/api/v1/ledger", &[("Host", host)], "").0;
    assert_eq!([from("localhost:8080"), from("127.0.0.1"), from("evil.example")], [200, 200, 421]);
}

#[test]
fn an_open_address_needs_a_token() {
    let settings = ApiSettings { listen: "0.0.0.0:0".parse().unwrap(), ..ApiSettings::default() };
    let refused = Listening::open(&settings);
    assert!(matches!(refused, Err(ApiError::Open(_))));
}

#[test]
fn with_a_certificate_the_api_speaks_tls_alone() {
    let folder = std::env::temp_dir().join(format!("inband-tls-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let settings = ApiSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls_certificate: certificate.clone(),
        tls_key: key,
        ..ApiSettings::default()
    };
    let system = System::start_with(settings.clone());

    let root = ureq::tls::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let roots = ureq::tls::RootCerts::from([root]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    let agent = ureq::Agent::config_builder().tls_config(tls).build().new_agent();
    let url = format!("https://localhost:{}/healthz", system.address.port());
    assert_eq!(agent.get(&url).call().unwrap().body_mut().read_to_string().unwrap(), "ok\n");
    // A caller that does not know the certificate, or does not speak TLS, gets nothing.
    assert!(ureq::get(&url).call().is_err());
    assert!(ureq::get(url.replace("https", "http")).call().is_err());

    let half = ApiSettings { tls_key: std::path::PathBuf::new(), ..settings.clone() };
    assert!(matches!(Listening::open(&half), Err(ApiError::Certificate { .. })));
    std::fs::write(&certificate, "no certificate").unwrap();
    assert!(matches!(Listening::open(&settings), Err(ApiError::Certificate { .. })));
    assert_eq!(agent.get(&url).call().unwrap().status(), 200);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_has_a_name_is_answered_with_it() {
    let system = System::start("");
    system.report(5);

    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 5);
    let nodes = system.wait_for("/api/v1/nodes", |nodes| nodes[0]["node_id"] == 7);
    let topology = system.wait_for("/api/v1/topology", |topology| topology["nodes"][0]["node_id"] == 7);

    assert_eq!(flows[0]["path_names"], json!(["leaf \"seven\""]));
    assert_eq!(flows[0]["source_name"], json!("lab"));
    assert_eq!(nodes[0]["name"], json!("leaf \"seven\""));
    assert_eq!(topology["nodes"][0]["name"], json!("leaf \"seven\""));
    let metrics = system.get("/metrics").1;
    assert!(metrics.contains("inband_node_info{node=\"7\",name=\"leaf \\\"seven\\\"\"} 1\n"), "{metrics}");
}

const NAMES: &str = "[[node]]\nid = 7\nname = 'leaf \"seven\"'\n[[subnet]]\nprefix = '0.0.0.0/0'\nname = 'lab'\nlabels = { tenant = 'blue', as = 65001 }\n";

/// A complete collector on ports chosen by the kernel.
struct System {
    reception: Reception,
    _pipeline: Pipeline,
    _api: Api,
    address: SocketAddr,
    sent: AtomicU32,
    /// The last field: its folder is removed when nothing writes to it any more.
    folder: Place,
}

/// The folder of a history, removed on drop; empty: none.
struct Place(std::path::PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // A store writes a removed folder anew, and threads may hold it for a moment longer.
            drop(open_store(&self.0).map(Store::close));
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Opens the history in a folder, once its previous writer has released it.
fn open_store(folder: &std::path::Path) -> Result<Store, StoreError> {
    let open = || Store::open(StoreSettings { path: folder.to_owned(), ..StoreSettings::default() });
    let begun = Instant::now();
    let mut opened = open();
    while opened.is_err() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
        opened = open();
    }
    opened
}

impl System {
    fn start(token: &str) -> System {
        System::start_with(ApiSettings { token: token.to_owned(), ..ApiSettings::default() })
    }

    fn start_with(settings: ApiSettings) -> System {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("inband-api-{}-{number}", std::process::id()));
        // A killed process of the same number may have left one behind.
        let _ = std::fs::remove_dir_all(&folder);
        System::start_in(folder, settings)
    }

    /// Starts with the history in a folder.
    fn start_in(folder: std::path::PathBuf, settings: ApiSettings) -> System {
        let store = Arc::new(open_store(&folder).unwrap());
        let keep: Box<dyn Stage> = Box::new(Keep::new(Arc::clone(&store)));
        System::start_of(folder, settings, store, vec![keep])
    }

    /// Starts with an archive, and a way of handling observations.
    fn start_of(
        folder: std::path::PathBuf,
        settings: ApiSettings,
        archive: Arc<dyn Archive>,
        mut stages: Vec<Box<dyn Stage>>,
    ) -> System {
        let receive =
            ReceiveSettings { listen: vec!["127.0.0.1:0".parse().unwrap()], ..ReceiveSettings::default() };
        let (reception, feed) = Reception::start(&receive).unwrap();
        let live = Live::default();
        stages.push(Box::new(live.clone()));
        let windows = Windows::new(1 << 24);
        stages.push(Box::new(windows.clone()));
        let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let listening = Listening::open(&ApiSettings { listen, ..settings }).unwrap();
        let names: NameList = toml::from_str(NAMES).unwrap();
        let names = Arc::new(Names::new(names));
        let api = Api::start(listening, pipeline.asker(), Some(archive), live, Some(windows), names).unwrap();
        let address = api.address();
        let (sent, folder) = (AtomicU32::new(0), Place(folder));
        System { reception, _pipeline: pipeline, _api: api, address, sent, folder }
    }

    /// Stops it, and starts another one with its history.
    fn restart(mut self) -> System {
        let folder = std::mem::take(&mut self.folder.0);
        drop(self);
        System::start_in(folder, ApiSettings::default())
    }

    /// Sends reports of node 7.
    fn report(&self, count: u32) {
        self.report_frame(count, &md_frame().hop(7).build());
    }

    /// Sends reports of node 7 on a packet.
    fn report_frame(&self, count: u32, frame: &[u8]) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let first = self.sent.fetch_add(count, Ordering::Relaxed);
        for sequence in first..first + count {
            let individual = inner_only().flags(0x20).inner(3, frame);
            let datagram = report_group(7).sequence(sequence).with(individual).build();
            socket.send_to(&datagram, self.reception.addresses()[0]).unwrap();
        }
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.send("get", path, &[], "")
    }

    fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut text = format!("{} {path} HTTP/1.1\r\n", method.to_uppercase());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        text += &format!("Connection: close\r\n\r\n{body}");
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// The head of an answer: everything before its body.
    fn head_of(&self, method: &str, path: &str) -> String {
        let mut answer = String::new();
        self.open(method, path, &[], "").read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().0.to_owned()
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut answer = String::new();
        self.open(method, path, headers, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Repeats a request until the answer is as wanted; reports take a moment.
    fn wait_for(&self, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let last = serde_json::from_str(&self.get(path).1).unwrap();
            if is_wanted(&last) {
                return last;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{path}: {last}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_system_leaves_no_folder_behind() {
    let system = System::start("");
    let folder = system.folder.0.clone();
    system.report(3);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 3);

    drop(system);

    assert!(!folder.exists());
}
