//! Tests that a real server keeps every message, even when it is killed.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{Output, Phase};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::{Nats, connect, credentials, start};
use crate::answer::Answer;
use crate::broker::{Broker, Parcel};
use crate::brokers::NatsSettings;
use crate::delivery::Export;
use crate::message::{Topic, Topics};
use crate::sample::{Folder, event, wait_for};
use crate::stage::Stage;
use crate::tally::Tally;

#[test]
fn every_message_is_there_though_the_server_is_killed() {
    let folder = Folder::new();
    let Some(mut server) = Server::start(&folder.path("server"), 0) else { return };
    let settings = settings(&server, &folder);
    let tally = Arc::new(Tally::new("nats".to_owned()));
    let mut export = start(&settings, &Arc::default(), Arc::clone(&tally)).unwrap();
    for round in 0..4 {
        // Killed while messages are in flight.
        tell(&mut export, round * 2_000..round * 2_000 + 1_000);
        server.kill();
        tell(&mut export, round * 2_000 + 1_000..(round + 1) * 2_000);
        wait_for(&tally, |ledger| ledger.trouble.is_some());
        assert!(tally.ledger().balances());
        server = Server::start(&folder.path("server"), server.port).unwrap();
        wait_for(&tally, |ledger| ledger.waiting == 0);
    }
    export.finish();

    let ledger = tally.ledger();
    assert_eq!((ledger.offered, ledger.exported, ledger.export_failed), (8_000, 8_000, 0));
    let found = messages(&settings);
    assert_eq!(found, (0..8_000).map(|node| format!("node {node}")).collect::<Vec<_>>());
}

#[test]
fn settings_that_cannot_be_are_refused_at_the_start() {
    let with = |change: &dyn Fn(&mut NatsSettings)| {
        let mut settings =
            NatsSettings { url: "nats://127.0.0.1:4222".to_owned(), ..NatsSettings::default() };
        change(&mut settings);
        credentials(&settings, "nats").map_err(|error| error.to_string())
    };
    for url in ["nats://a:4222", "tls://a:4222, b:4223", "[::1]:4222"] {
        assert_eq!(with(&|settings| settings.url = url.to_owned()), Ok(None), "{url}");
    }
    for url in ["http://127.0.0.1:4222", "nats://a:4222,,"] {
        let error = with(&|settings| settings.url = url.to_owned()).unwrap_err();
        assert!(error.starts_with(&format!("nats: url = \"{url}\": ")), "{error}");
    }
    for subject in ["", "a b", "inband.", "a..b", "a.*"] {
        let error = with(&|settings| settings.subject = subject.to_owned()).unwrap_err();
        assert!(error.contains("is not the beginning of a subject"), "{error}");
    }
    let error = with(&|settings| settings.stream = "a.b c".to_owned()).unwrap_err();
    assert_eq!(error, "nats: stream = \"a.b c\" is no name of a stream");
    assert_eq!(with(&|settings| settings.stream.clear()), Ok(None));
}

#[test]
fn a_server_that_is_not_there_at_the_start_gets_everything_later() {
    let folder = Folder::new();
    let Some(mut server) = Server::start(&folder.path("server"), 0) else { return };
    server.kill();
    let settings = settings(&server, &folder);
    let tally = Arc::new(Tally::new("nats".to_owned()));
    let mut export = start(&settings, &Arc::default(), Arc::clone(&tally)).unwrap();
    tell(&mut export, 0..100);
    wait_for(&tally, |ledger| ledger.trouble.is_some() && ledger.waiting == 100);
    let _server = Server::start(&folder.path("server"), server.port).unwrap();
    wait_for(&tally, |ledger| ledger.exported == 100);
    assert_eq!(messages(&settings).len(), 100);
}

#[test]
fn what_comes_twice_is_kept_once_and_what_is_too_large_is_refused() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder.path("server"), 0) else { return };
    let settings = settings(&server, &folder);
    let parcel = |number: u32, bytes| Parcel {
        id: format!("id-{number}"),
        topic: Topic::Events,
        key: String::new(),
        body: format!("{{\"key\":\"{number}{}\"}}", " ".repeat(bytes)).into_bytes(),
    };
    let mut nats = Nats { settings: settings.clone(), credentials: None, connected: None };
    for batch in [vec![parcel(1, 0), parcel(2, 0)], vec![parcel(2, 0), parcel(3, 0)]] {
        let delivery = nats.deliver(&batch, PATIENCE);
        assert_eq!((delivery.acknowledged, delivery.next), (2, Answer::Taken));
    }
    let delivery = nats.deliver(&[parcel(4, 0), parcel(5, 2 << 20), parcel(6, 0)], PATIENCE);
    assert!(matches!(delivery.next, Answer::Refused(_)) && delivery.acknowledged == 1, "{delivery:?}");
    assert_eq!(messages(&settings), ["1", "2", "3", "4"]);
}

#[test]
fn what_is_too_large_for_the_stream_is_refused() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder.path("server"), 0) else { return };
    let settings = settings(&server, &folder);
    let runtime: Runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let made = runtime.block_on(async {
        let (_, context) = connect(&NatsSettings { stream: String::new(), ..settings.clone() }, None).await?;
        let stream = async_nats::jetstream::stream::Config {
            name: settings.stream.clone(),
            subjects: vec![format!("{}.>", settings.subject)],
            max_message_size: 1_000,
            ..Default::default()
        };
        context.create_stream(stream).await.map(drop).map_err(|error| error.to_string())
    });
    made.unwrap();
    let parcel = |id: &str, bytes| Parcel {
        id: id.to_owned(),
        topic: Topic::Events,
        key: String::new(),
        body: vec![b' '; bytes],
    };
    let mut nats = Nats { settings, credentials: None, connected: None };

    let delivery = nats.deliver(&[parcel("a", 10), parcel("b", 2_000), parcel("c", 10)], PATIENCE);

    assert!(matches!(delivery.next, Answer::Refused(_)) && delivery.acknowledged == 1, "{delivery:?}");
}

#[test]
fn a_server_whose_certificate_is_its_own_authority_is_reached_and_another_is_not() {
    let folder = Folder::new();
    let [certificate, other] = ["certificate", "other"].map(|name| {
        let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let path = folder.path(&format!("{name}.pem"));
        std::fs::write(folder.path(&format!("{name}-key.pem")), key.serialize_pem()).unwrap();
        std::fs::write(&path, params.self_signed(&key).unwrap().pem()).unwrap();
        path
    });
    let key = folder.path("certificate-key.pem");
    let paths = [&certificate, &key].map(|path| path.to_str().unwrap());
    let arguments = ["--tls", "--tlscert", paths[0], "--tlskey", paths[1]];
    let Some(server) = Server::start_with(&folder.path("server"), 0, &arguments) else { return };
    let url = format!("tls://127.0.0.1:{}", server.port);
    let with = |authorities| NatsSettings { url: url.clone(), authorities, ..settings(&server, &folder) };

    let runtime: Runtime = Builder::new_current_thread().enable_all().build().unwrap();
    assert!(runtime.block_on(connect(&with(certificate), None)).is_ok());
    assert!(runtime.block_on(connect(&with(other), None)).is_err());
    let missing =
        start(&with(folder.path("missing")), &Arc::default(), Arc::new(Tally::new("nats".to_owned())));
    assert!(missing.unwrap_err().to_string().starts_with("nats: cannot read "));
}

#[test]
fn a_subject_that_cannot_be_is_told_at_once() {
    let folder = Folder::new();
    for subject in ["", "in band", "inband.>", "*"] {
        let tally = Arc::new(Tally::new("nats".to_owned()));
        let spool = folder.path("spool");
        let settings = NatsSettings { subject: subject.to_owned(), spool, ..NatsSettings::default() };
        let error = start(&settings, &Arc::default(), tally).unwrap_err().to_string();
        assert!(error.starts_with("nats: subject = "), "{error}");
    }
}

fn settings(server: &Server, folder: &Folder) -> NatsSettings {
    let url = format!("nats://127.0.0.1:{}", server.port);
    NatsSettings { url, what: vec![Topic::Events], spool: folder.path("spool"), ..NatsSettings::default() }
}

fn tell(export: &mut Export<Topics>, nodes: std::ops::Range<u32>) {
    for node in nodes {
        export.handle_output(&Output::Event(event(node, Phase::Once)));
    }
}

/// The keys of all messages in the stream, in order.
fn messages(settings: &NatsSettings) -> Vec<String> {
    let runtime: Runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (_client, context) = connect(settings, None).await.unwrap();
        let mut stream = context.get_stream(&settings.stream).await.unwrap();
        let last = stream.info().await.unwrap().state.last_sequence;
        let mut keys = Vec::new();
        for sequence in 1..=last {
            let message = stream.get_raw_message(sequence).await.unwrap();
            assert_eq!(message.subject.as_str(), "inband.events");
            let line: Value = serde_json::from_slice(&message.payload).unwrap();
            keys.push(line["key"].as_str().unwrap().trim().to_owned());
        }
        keys
    })
}

/// A server on loopback, killed on drop.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it on a port, 0: a free one; `None` if the program is not installed.
    fn start(directory: &Path, port: u16) -> Option<Server> {
        Self::start_with(directory, port, &[])
    }

    /// Starts it with more arguments.
    fn start_with(directory: &Path, port: u16, arguments: &[&str]) -> Option<Server> {
        let port = match port {
            0 => TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port(),
            port => port,
        };
        let known = [PathBuf::from("nats-server"), PathBuf::from("/usr/sbin/nats-server")];
        let child = known.iter().find_map(|program| {
            Command::new(program)
                .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
                .arg(directory)
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        });
        let Some(child) = child else {
            eprintln!("skipped: nats-server is not there (Debian has it in the package nats-server)");
            return None;
        };
        let server = Server { child, port };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
