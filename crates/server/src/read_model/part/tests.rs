use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use inband_collector::CollectorSettings;

use super::{MIN_AGE, Part, lifetime};
use crate::pipeline::{Pipeline, Unanswered};
use crate::receive::Reception;
use crate::settings::ReceiveSettings;

#[test]
fn a_thousand_questions_cost_the_pipeline_as_much_as_a_few() {
    let (_reception, pipeline) = started();
    let part = Part::new(&pipeline.asker(), |sight| {
        MADE.fetch_add(1, Ordering::Relaxed);
        sight.now
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();

    let began = Instant::now();
    let mut asked = 0;
    runtime.block_on(async {
        while asked < 1_000 || began.elapsed() < Duration::from_millis(300) {
            part.get().await.unwrap();
            asked += 1;
        }
    });

    let most = 2 + u32::try_from(began.elapsed().as_millis() / 100).unwrap();
    let made = MADE.load(Ordering::Relaxed);
    assert!(made <= most, "{made} snapshots for {asked} questions in {:?}", began.elapsed());
    assert!(pipeline.stop().is_some());
    thread::sleep(Duration::from_millis(150));
    assert_eq!(runtime.block_on(part.get()), Err(Unanswered::Stopped));
}

#[test]
fn a_costly_snapshot_is_used_for_longer_and_grows_no_older_than_ten_seconds_unless_it_costs_a_fiftieth() {
    let cases = [
        (0, 100),
        (100, 100),
        (500, 150),
        (1_000, 300),
        (30_000, 9_000),
        (50_000, 10_000),
        (200_000, 10_000),
        (400_000, 20_000),
    ];
    for (cost_us, milliseconds) in cases {
        let expected = Duration::from_millis(milliseconds);
        assert_eq!(lifetime(Duration::from_micros(cost_us)), expected, "{cost_us} us");
    }
    assert_eq!(lifetime(Duration::MAX), Duration::MAX);
}

/// A collector that waits for reports.
fn started() -> (Reception, Pipeline) {
    let receive =
        ReceiveSettings { listen: vec!["127.0.0.1:0".parse().unwrap()], ..ReceiveSettings::default() };
    let (reception, feed) = Reception::start(&receive).unwrap();
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, Vec::new()).unwrap();
    (reception, pipeline)
}

/// A snapshot that notes which thread drops it.
#[derive(Debug)]
struct Noted;

impl Drop for Noted {
    fn drop(&mut self) {
        DROPPED_BY.lock().unwrap().push(thread::current().name().map(str::to_owned));
    }
}

#[test]
fn the_pipeline_drops_no_snapshot() {
    let (_reception, pipeline) = started();
    let part = Part::new(&pipeline.asker(), |_| Noted);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();

    for _ in 0..4 {
        runtime.block_on(part.get()).unwrap();
        thread::sleep(MIN_AGE);
    }

    let dropped_by = DROPPED_BY.lock().unwrap();
    assert_eq!(dropped_by.len(), 3);
    assert!(dropped_by.iter().all(|name| name.as_deref() != Some("understand")), "{dropped_by:?}");
    drop(dropped_by);
    assert!(pipeline.stop().is_some());
}

static DROPPED_BY: Mutex<Vec<Option<String>>> = Mutex::new(Vec::new());
static MADE: AtomicU32 = AtomicU32::new(0);
