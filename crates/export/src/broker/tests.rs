//! Tests that a broker gets every message, in order, however often it is away.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use inband_model::{ExportLedger, Output, Phase};
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::{Broker, Delivery, Entry, Next, Parcel, Shared, Spool, Wanted, decode, encode, start};
use crate::answer::Answer;
use crate::delivery::Export;
use crate::message::{Topic, Topics};
use crate::patience::Patience;
use crate::sample::{Folder, event, wait_for};
use crate::stage::Stage;
use crate::tally::Tally;

#[test]
fn every_message_arrives_once_and_in_order() {
    let folder = Folder::new();
    let broker = Fake::default();
    let mut output = Running::start(&folder, &broker, BOUND);
    output.tell(0..3_000);
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.exported, ledger.export_failed, ledger.trouble), (3_000, 0, None));
    assert_eq!(broker.keys(), expected(0..3_000));
}

#[test]
fn a_broker_that_goes_in_the_middle_of_batches_loses_nothing() {
    let folder = Folder::new();
    let broker = Fake::default();
    broker.goes_after.store(7, Ordering::Relaxed);
    let mut output = Running::start(&folder, &broker, BOUND);
    output.tell(0..30);
    let ledger = wait_for(&output.tally, |ledger| ledger.exported == 30);
    assert!(ledger.retries >= 3 && ledger.balances(), "{ledger:?}");
    assert_eq!(broker.keys(), expected(0..30));
}

#[test]
fn a_broker_hears_again_and_again_that_nothing_waits() {
    let folder = Folder::new();
    let broker = Fake::default();
    let mut output = Running::start(&folder, &broker, BOUND);
    for round in 1..=2 {
        wait_for(&output.tally, |_| broker.silences.load(Ordering::Relaxed) >= round * 2);
        output.tell(round..round + 1);
        wait_for(&output.tally, |ledger| ledger.exported == u64::from(round));
    }
}

#[test]
fn what_a_broker_does_not_want_is_counted_and_the_rest_arrives() {
    let folder = Folder::new();
    let broker = Fake::default();
    *broker.refused.lock().unwrap() = Some("node 5".to_owned());
    let mut output = Running::start(&folder, &broker, BOUND);
    output.tell(0..10);
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.exported, ledger.failures), (9, [("refused".to_owned(), 1)].into()));
    assert_eq!(broker.keys().len(), 9);
}

#[test]
fn what_waits_at_the_end_is_delivered_by_the_next_collector_under_the_same_ids() {
    let folder = Folder::new();
    let away = Fake::default();
    away.is_away.store(1, Ordering::Relaxed);
    let mut output = Running::start(&folder, &away, BOUND);
    output.tell(0..50);
    output.export.finish();
    let ledger = output.tally.ledger();
    assert_eq!((ledger.offered, ledger.waiting, ledger.export_failed), (50, 50, 0));
    assert!(ledger.spool_bytes > 0 && ledger.trouble.is_some());
    drop(output);

    let back = Fake::default();
    let mut output = Running::start(&folder, &back, BOUND);
    output.tell(50..60);
    let ledger = wait_for(&output.tally, |ledger| ledger.exported == 60);
    assert_eq!((ledger.offered, ledger.waiting), (60, 0));
    assert_eq!(back.keys(), expected(0..60));
    let ids: Vec<_> = back.taken.lock().unwrap().iter().map(|parcel| parcel.id.clone()).collect();
    let spool = ids[0].strip_suffix("-0").unwrap();
    assert_eq!(ids, (0..60).map(|number| format!("{spool}-{number}")).collect::<Vec<_>>());
}

#[test]
fn messages_of_a_spool_that_is_removed_count_as_lost_at_the_end() {
    let folder = Folder::new();
    let away = Fake::default();
    away.is_away.store(1, Ordering::Relaxed);
    let mut output = Running::start(&folder, &away, BOUND);
    output.tell(0..50);
    wait_for(&output.tally, |ledger| ledger.spool_bytes > 0);
    std::fs::remove_dir_all(folder.path("spool")).unwrap();
    output.tell(50..60);
    let is_told = |ledger: &ExportLedger| ledger.trouble.as_ref().is_some_and(|why| why.contains("is gone"));
    wait_for(&output.tally, is_told);
    output.export.finish();

    let ledger = output.tally.ledger();
    assert_eq!((ledger.offered, ledger.waiting, ledger.failures["disk"]), (60, 0, 60));
}

#[test]
fn a_spool_that_cannot_be_read_for_a_while_keeps_its_messages() {
    let folder = Folder::new();
    let path = folder.path("spool");
    let mut spool = Spool::open(&path, BOUND).unwrap().0;
    assert!(spool.append(&[encode(Topic::Events, "node 1", b"{}")]).error.is_none());
    let shared = Shared {
        spool: Mutex::new(spool),
        news: Condvar::new(),
        is_closed: AtomicBool::new(false),
        unread_since: Mutex::default(),
        tally: Arc::new(Tally::new("broker".to_owned())),
        ending: Arc::default(),
    };
    let (file, aside) = (path.join("00000000000000000000.spool"), path.join("aside"));
    std::fs::rename(&file, &aside).unwrap();
    // Opening it fails, as it does without a free descriptor.
    std::os::unix::fs::symlink(&file, &file).unwrap();

    assert!(matches!(shared.next_batch(), Next::Nothing));
    let trouble = shared.tally.ledger().trouble.unwrap();
    assert!(trouble.starts_with("cannot read the spool"), "{trouble}");
    std::fs::rename(&aside, &file).unwrap();

    let Next::Item(batch) = shared.next_batch() else { panic!("no batch") };
    assert_eq!((batch.first, batch.parcels.len()), (0, 1));
    assert_eq!(shared.tally.ledger().export_failed, 0);
}

#[test]
fn a_full_spool_drops_the_oldest_and_everything_is_counted() {
    let folder = Folder::new();
    let broker = Fake::default();
    broker.is_away.store(1, Ordering::Relaxed);
    let mut output = Running::start(&folder, &broker, 40_000);
    output.tell(0..1_000);
    // About as many as the spool holds; the others were spooled and dropped.
    let full = wait_for(&output.tally, |ledger| ledger.waiting < 150);
    assert!(full.spool_bytes <= 40_000 && full.balances(), "{full:?}");
    broker.is_away.store(0, Ordering::Relaxed);
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!(ledger.exported + ledger.failures["spool-full"], 1_000);
    let kept = u32::try_from(ledger.exported).unwrap();
    assert!(kept > 20, "{kept}");
    assert_eq!(broker.keys(), expected(1_000 - kept..1_000));
}

#[test]
fn a_delivered_message_is_never_counted_as_spool_full() {
    // A slow broker, and one whose answers are lost, with more messages than the spool holds.
    for (takes_ms, forgets) in [(30, 0), (5, 4)] {
        let folder = Folder::new();
        let broker = Fake::default();
        broker.takes_ms.store(takes_ms, Ordering::Relaxed);
        broker.forgets.store(forgets, Ordering::Relaxed);
        let mut output = Running::start(&folder, &broker, 40_000);
        for round in 0..100 {
            output.tell(round * 100..(round + 1) * 100);
            std::thread::sleep(Duration::from_millis(5));
        }
        let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
        let delivered = broker.taken.lock().unwrap().len() as u64;
        assert!(ledger.failures["spool-full"] > 0, "{ledger:?}");
        assert_eq!((ledger.offered, ledger.exported), (10_000, delivered), "{ledger:?}");
        assert_eq!(ledger.exported + ledger.export_failed, 10_000, "{ledger:?}");
    }
}

#[test]
fn a_replay_waits_for_a_broker_and_drops_nothing_from_a_small_spool() {
    let folder = Folder::new();
    let broker = Fake::default();
    broker.takes_ms.store(20, Ordering::Relaxed);
    let patience = Patience::new(Arc::default());
    let tally = Tally::new("broker".to_owned()).with_patience(Some(patience));
    let mut output = Running::start_with(&folder, &broker, 40_000, tally);
    output.tell(0..1_000);
    output.export.drain();

    let ledger = output.tally.ledger();
    assert_eq!((ledger.exported, ledger.export_failed, ledger.waiting), (1_000, 0, 0));
    assert_eq!(broker.keys(), expected(0..1_000));
}

proptest! {
    #[test]
    fn a_message_reads_back_as_it_was_written(key in any::<String>(), body: Vec<u8>, topic in 0usize..4) {
        let topic = Topic::ALL[topic];
        let entry = Entry { number: 7, payload: encode(topic, &key, &body) };
        prop_assert_eq!(decode("a", &entry), Some(Parcel { id: "a-7".to_owned(), topic, key, body }));
    }

    #[test]
    fn any_bytes_are_read_without_panic(payload: Vec<u8>) {
        let _ = decode("a", &Entry { number: 0, payload });
    }
}

#[test]
fn a_key_is_cut_between_letters() {
    let entry = Entry { number: 0, payload: encode(Topic::Events, &"ä".repeat(1_000), b"{}") };
    let parcel = decode("a", &entry).unwrap();
    assert_eq!((parcel.key, parcel.body), ("ä".repeat(512), b"{}".to_vec()));
}

/// An in-memory broker with failures on demand.
#[derive(Clone, Default)]
struct Fake {
    taken: Arc<Mutex<Vec<Parcel>>>,
    /// 1: it is away.
    is_away: Arc<AtomicU32>,
    /// Messages after which it goes away each time; 0: never.
    goes_after: Arc<AtomicU32>,
    /// The key of messages it refuses.
    refused: Arc<Mutex<Option<String>>>,
    /// How long it takes for a batch.
    takes_ms: Arc<AtomicU32>,
    /// Batches that it accepts without answering.
    forgets: Arc<AtomicU32>,
    /// Calls of `handle_silence`.
    silences: Arc<AtomicU32>,
}

impl Fake {
    fn keys(&self) -> Vec<String> {
        self.taken.lock().unwrap().iter().map(|parcel| parcel.key.clone()).collect()
    }
}

impl Broker for Fake {
    fn deliver(&mut self, batch: &[Parcel], _left: Duration) -> Delivery {
        let away = Answer::Away { why: "away".to_owned(), again: None };
        if self.is_away.load(Ordering::Relaxed) == 1 {
            return Delivery { acknowledged: 0, next: away, may_have_more: false };
        }
        let pause = self.takes_ms.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(pause.into()));
        if self.forgets.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        {
            // It has the whole batch, but its answer is lost.
            let known = self.taken.lock().unwrap().len();
            let fresh = batch.iter().filter(|parcel| {
                let id = |taken: &Parcel| taken.id == parcel.id;
                !self.taken.lock().unwrap()[..known].iter().any(id)
            });
            let fresh: Vec<_> = fresh.cloned().collect();
            self.taken.lock().unwrap().extend(fresh);
            return Delivery { acknowledged: 0, next: away, may_have_more: true };
        }
        let most = match self.goes_after.load(Ordering::Relaxed) {
            0 => batch.len(),
            most => batch.len().min(usize::try_from(most).unwrap()),
        };
        for (index, parcel) in batch[..most].iter().enumerate() {
            if self.refused.lock().unwrap().as_ref() == Some(&parcel.key) {
                let next = Answer::Refused("no".to_owned());
                return Delivery { acknowledged: index, next, may_have_more: false };
            }
            let mut taken = self.taken.lock().unwrap();
            // Like a stream that recognizes duplicates.
            if !taken.iter().any(|taken| taken.id == parcel.id) {
                taken.push(parcel.clone());
            }
        }
        let next = if most < batch.len() { away } else { Answer::Taken };
        Delivery { acknowledged: most, next, may_have_more: false }
    }

    fn handle_silence(&mut self) {
        self.silences.fetch_add(1, Ordering::Relaxed);
    }
}

/// An output to a fake broker.
struct Running {
    export: Export<Topics>,
    tally: Arc<Tally>,
}

impl Running {
    fn start(folder: &Folder, broker: &Fake, spool_bytes: u64) -> Running {
        Running::start_with(folder, broker, spool_bytes, Tally::new("broker".to_owned()))
    }

    fn start_with(folder: &Folder, broker: &Fake, spool_bytes: u64, tally: Tally) -> Running {
        let tally = Arc::new(tally);
        let spool = folder.path("spool");
        let wanted = Wanted {
            what: &[Topic::Events],
            queue: 10_000,
            spool: &spool,
            spool_bytes,
            names: &Arc::default(),
        };
        let export = start(&wanted, broker.clone(), Arc::clone(&tally)).unwrap();
        Running { export, tally }
    }

    fn tell(&mut self, nodes: std::ops::Range<u32>) {
        for node in nodes {
            self.export.handle_output(&Output::Event(event(node, Phase::Once)));
        }
    }
}

fn expected(nodes: std::ops::Range<u32>) -> Vec<String> {
    nodes.map(|node| format!("node {node}")).collect()
}

const BOUND: u64 = 100_000_000;
