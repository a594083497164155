use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use inband_collector::{CollectorSettings, Output};
use inband_export::{Exports, JsonlSettings, Topic};
use inband_model::{EventKind, ExportLedger, Ledger, LedgerView, Nanos, NodeId};
use inband_store::{Cell, Disk, Limits, LogFile, RealDisk, Store, StoreSettings};
use inband_testkit::{inner_only, md_frame, report_group};

use super::{Pipeline, Stage, Unanswered};
use crate::clock::Clock;
use crate::keep::Keep;
use crate::processor_time::processor_time;
use crate::receive::{Batch, Feed, Reception, Replay, feed};
use crate::settings::{ReceiveSettings, Settings};

#[test]
fn every_datagram_that_was_sent_is_in_the_ledger_once() {
    let (reception, pipeline) = collector(ReceiveSettings::default());
    let socket = sender(reception.addresses()[0]);
    for sequence in 0..300 {
        socket.send(&report(7, sequence)).unwrap();
    }
    socket.send(&report(7, 299)).unwrap();
    socket.send(b"no report").unwrap();
    reception.stop();
    let ledger = pipeline.stop().unwrap().ledger;

    assert!(ledger.total.balances());
    assert_eq!(
        ledger.total,
        Ledger {
            received: 302,
            accepted: 300,
            accepted_reports: 300,
            duplicate: 1,
            malformed: 1,
            ..Ledger::default()
        }
    );
    assert_eq!(ledger.streams.len(), 1);
    assert_eq!((ledger.streams[0].node_id, ledger.streams[0].accepted), (NodeId(7), 300));
}

#[test]
fn what_does_not_fit_is_shed_and_the_ledger_balances() {
    let (reception, pipeline) = collector(ReceiveSettings { queue_bytes: 0, ..ReceiveSettings::default() });
    let socket = sender(reception.addresses()[0]);
    for sequence in 0..100 {
        socket.send(&report(7, sequence)).unwrap();
    }
    reception.stop();
    let total = pipeline.stop().unwrap().ledger.total;

    assert_eq!(total, Ledger { received: 100, shed: 100, ..Ledger::default() });
}

#[test]
fn a_question_is_answered_while_reports_come_in() {
    let (reception, pipeline) = collector(ReceiveSettings::default());
    let asker = pipeline.asker();
    let socket = sender(reception.addresses()[0]);
    socket.send(&report(7, 0)).unwrap();

    let mut seen = 0;
    for _ in 0..1_000 {
        let ledger = asker.ask(|sight| sight.ledger()).unwrap();
        assert!(ledger.total.balances());
        seen = ledger.total.accepted;
        if seen > 0 {
            break;
        }
    }
    assert_eq!(seen, 1);
    let (total, ledger) = asker.ask(|sight| (sight.total(), sight.ledger())).unwrap();
    assert_eq!(total, ledger.total);
    reception.stop();
    pipeline.stop().unwrap();
    assert_eq!(asker.ask(|_| ()), Err(Unanswered::Stopped));
}

#[test]
fn the_processor_time_of_queries_is_counted_apart_from_that_of_reports() {
    let (reception, pipeline) = collector(ReceiveSettings::default());
    let asker = pipeline.asker();
    let used = Duration::from_millis(20);
    asker
        .ask(move |_| {
            let begun = processor_time();
            while processor_time() - begun < used {}
        })
        .unwrap();
    let processor = asker.ask(|sight| sight.processor).unwrap();
    reception.stop();
    drop(pipeline.stop());

    assert!(processor.queries >= used, "{processor:?}");
    assert!(processor.reports < processor.queries, "{processor:?}");
}

#[test]
fn questions_beyond_the_bound_are_turned_away() {
    let (reception, pipeline) = collector(ReceiveSettings::default());
    let asker = pipeline.asker();
    let (release, held) = std::sync::mpsc::sync_channel::<()>(0);
    asker.put(move |_| assert!(held.recv().is_err())).unwrap();

    let turned_away = (0..1_000).filter(|_| asker.put(|_| ()) == Err(Unanswered::Busy)).count();

    assert!(turned_away >= 1_000 - 2 * super::MAX_QUESTIONS, "{turned_away}");
    drop(release);
    reception.stop();
    pipeline.stop().unwrap();
}

#[test]
fn a_capture_is_read_in_its_own_time_and_its_gaps_are_confirmed() {
    let (replay, feed) = Replay::feed(&[]);
    let pipeline =
        Pipeline::start(CollectorSettings::default(), feed, vec![Box::new(Events::default())]).unwrap();
    let start = Nanos::from_secs(1_000);
    for sequence in (0..1_000_u32).filter(|sequence| sequence % 10 != 5) {
        let captured_at = start + Nanos::from_millis(u64::from(sequence));
        assert!(replay.put(captured_at, address(), address(), &report(7, sequence)));
    }
    drop(replay);
    let total = pipeline.stop().unwrap().ledger.total;

    assert_eq!(
        total,
        Ledger {
            received: 900,
            accepted: 900,
            accepted_reports: 900,
            lost: 100,
            stored: 1,
            ..Ledger::default()
        }
    );
}

#[test]
fn no_timer_runs_ahead_of_datagrams_that_wait() {
    // A pipeline that gets its turn two seconds late: report 2 arrived 100 ms after report 3, long before the
    // gap would be a loss.
    let clock = Clock::started_before(Duration::from_secs(2));
    let began_at = clock.started_at();
    let (inlet, feed) = feed(usize::MAX, clock);
    for (after_ms, sequence) in [(0, 1), (50, 3), (150, 2), (200, 4)] {
        let mut batch = Batch::new(began_at + Nanos::from_millis(after_ms), address());
        batch.push(address(), &report(7, sequence));
        inlet.put(batch);
    }
    let stage = Box::new(Events::default());
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, vec![stage]).unwrap();
    drop(inlet);
    let total = pipeline.stop().unwrap().ledger.total;

    assert_eq!((total.received, total.accepted, total.lost, total.stored), (4, 4, 0, 0));
}

#[test]
fn senders_that_may_not_report_may_not_in_a_replay() {
    let (replay, feed) = Replay::feed(&["192.0.2.0/24".parse().unwrap()]);
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, Vec::new()).unwrap();
    for from in ["192.0.2.7:1", "198.51.100.7:1", "192.0.2.8:1"] {
        assert!(replay.put(Nanos::from_secs(1_000), from.parse().unwrap(), address(), &report(7, 0)));
    }
    drop(replay);
    let total = pipeline.stop().unwrap().ledger.total;

    assert_eq!((total.received, total.refused), (2, 1));
}

#[test]
fn a_replay_without_a_reader_ends() {
    let (replay, feed) = Replay::feed(&[]);
    drop(feed);

    assert!(!replay.put(Nanos::ZERO, address(), address(), &[]));
}

#[test]
fn a_disk_that_stalls_costs_history_and_no_report_goes_uncounted() {
    let folder = std::env::temp_dir().join(format!("inband-stall-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let settings = StoreSettings {
        path: folder.clone(),
        queue_rows: 2_000,
        sync_after: Duration::ZERO,
        retain: Duration::from_secs(100 * 365 * 24 * 3_600),
        ..StoreSettings::default()
    };
    let store = Arc::new(Store::open_on(settings, Stalling).unwrap());
    let (replay, feed) = Replay::feed(&[]);
    let stages: Vec<Box<dyn Stage>> = vec![Box::new(Keep::new(Arc::clone(&store)))];
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
    let begun = Instant::now();
    for sequence in 0..20_000 {
        let captured_at = Nanos::from_secs(1_700_000_000) + Nanos::from_millis(u64::from(sequence));
        assert!(replay.put(captured_at, address(), address(), &with_a_hop(sequence)));
    }
    drop(replay);
    let total = pipeline.stop().unwrap().ledger.total;
    // A stall for each report would take more than an hour.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());

    assert!(total.balances());
    assert_eq!((total.received, total.accepted, total.lost), (20_000, 20_000, 0));
    assert_eq!(total.stored + total.store_failed, 20_000);
    assert!(total.store_failed > 0 && total.stored > 0, "{total:?}");
    let sql = "SELECT count(*) FROM observations";
    let answer = store.history().unwrap().query(sql, Limits::default()).unwrap();
    assert_eq!(answer.rows, [[Cell::Integer(i64::try_from(total.stored).unwrap())]]);
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn history_and_messages_end_with_the_ledger_of_the_end() {
    let folder = std::env::temp_dir().join(format!("inband-last-ledger-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let settings = StoreSettings { path: folder.join("history"), ..StoreSettings::default() };
    let store = Arc::new(Store::open(settings).unwrap());
    let lines = folder.join("lines");
    let jsonl = JsonlSettings { path: lines.clone(), what: vec![Topic::Ledger], ..JsonlSettings::default() };
    let (reception, feed) = Reception::start(&ReceiveSettings {
        listen: vec![address()],
        allow: vec!["127.0.0.1/32".parse().unwrap()],
        ..ReceiveSettings::default()
    })
    .unwrap();
    let (_exports, outputs) =
        Exports::start(&Settings { jsonl, ..Settings::default() }.exports(), &Arc::default()).unwrap();
    let keep: Box<dyn Stage> = Box::new(Keep::new(Arc::clone(&store)));
    let stages = std::iter::once(keep).chain(outputs).collect();
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
    let socket = sender(reception.addresses()[0]);
    let stranger = UdpSocket::bind("127.0.0.2:0").unwrap();
    for sequence in 0..50 {
        socket.send(&with_a_hop(sequence)).unwrap();
        stranger.send_to(&with_a_hop(sequence), reception.addresses()[0]).unwrap();
    }

    reception.stop();
    let total = pipeline.stop().unwrap().ledger.total;

    assert_eq!((total.received, total.stored, total.refused), (50, 50, 50));
    let sql = "SELECT received, refused, accepted_reports, stored, exported FROM ledger
               WHERE node_id IS NULL ORDER BY time DESC LIMIT 1";
    let numbers = [50, 50, 50, 50, total.exported].map(|number| Cell::Integer(number.try_into().unwrap()));
    assert_eq!(store.history().unwrap().query(sql, Limits::default()).unwrap().rows, [numbers]);
    let text = std::fs::read_to_string(&lines).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["received"], &last["stored"]), (&50.into(), &50.into()), "{last}");
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A disk on which everything takes a fifth of a second to become durable.
struct Stalling;

struct StallingFile(Box<dyn LogFile>);

impl Disk for Stalling {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(StallingFile(RealDisk.create(path)?)))
    }
}

impl LogFile for StallingFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(200));
        self.0.sync()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.cut(length)
    }
}

fn with_a_hop(sequence: u32) -> Vec<u8> {
    let individual = inner_only().flags(0x20).inner(3, &md_frame().hop(7).build());
    report_group(7).sequence(sequence).with(individual).build()
}

/// Counts the first event of lost reports in the ledger, as a store counts what it stores.
#[derive(Default)]
struct Events(u64);

impl Stage for Events {
    fn handle_output(&mut self, output: &Output) {
        if matches!(output, Output::Event(event) if event.kind() == EventKind::ReportLoss) {
            self.0 = 1;
        }
    }

    fn count(&self, ledger: &mut Ledger) {
        ledger.stored += self.0;
    }
}

#[test]
fn outputs_wind_up_together_and_history_ends_behind_them() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let stage =
        |name, is_output| Box::new(Ending { name, is_output, calls: Arc::clone(&calls) }) as Box<dyn Stage>;
    let (replay, feed) = Replay::feed(&[]);
    let stages = vec![stage("history", false), stage("first", true), stage("second", true)];
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
    drop(replay);
    pipeline.stop().unwrap();

    let calls = calls.lock().unwrap();
    let position = |call: &str| calls.iter().position(|made| made == call).unwrap();
    assert!(position("first winds up") < position("second finishes"), "{calls:?}");
    assert!(position("second winds up") < position("second finishes"), "{calls:?}");
    let last: Vec<_> = calls.iter().rev().take(4).rev().map(String::as_str).collect();
    assert_eq!(last, ["second finishes", "first finishes", "history gets the ledger", "history finishes"]);
}

/// Records its end.
struct Ending {
    name: &'static str,
    is_output: bool,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Ending {
    fn note(&self, call: &str) {
        self.calls.lock().unwrap().push(format!("{} {call}", self.name));
    }
}

impl Stage for Ending {
    fn handle_output(&mut self, _output: &Output) {}

    fn wants_ledger(&self, _now: Nanos) -> bool {
        true
    }

    fn handle_ledger(&mut self, _now: Nanos, _taken_at: Nanos, _ledger: &LedgerView) {
        self.note("gets the ledger");
    }

    fn wind_up(&mut self) {
        self.note("winds up");
    }

    fn finish(&mut self) {
        self.note("finishes");
    }

    fn export(&self) -> Option<ExportLedger> {
        self.is_output.then(ExportLedger::default)
    }
}

fn collector(settings: ReceiveSettings) -> (Reception, Pipeline) {
    let settings = ReceiveSettings { listen: vec![address()], ..settings };
    let (reception, feed): (Reception, Feed) = Reception::start(&settings).unwrap();
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, Vec::new()).unwrap();
    (reception, pipeline)
}

fn report(node_id: u32, sequence: u32) -> Vec<u8> {
    report_group(node_id).sequence(sequence).with(inner_only()).build()
}

fn address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn sender(to: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind(address()).unwrap();
    socket.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    socket.connect(to).unwrap();
    socket
}
