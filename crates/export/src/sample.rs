//! Events and servers for the tests of outputs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use inband_model::{
    Confidence, Event, EventDetail, ExportLedger, Nanos, NodeId, Phase, ReportReference, Severity,
    UnknownNode,
};

pub(super) use inband_testkit::http_server::{Reply, Server};

use super::tally::Tally;

/// An event: this node is unknown.
pub(super) fn event(number: u32, phase: Phase) -> Event {
    let node_id = NodeId(number);
    let report = ReportReference { node_id, hw_id: 0, sequence: 17, received_at: FIRST };
    let detail = EventDetail::UnknownNode(UnknownNode { node_id, address: None });
    let key = format!("node {number}");
    Event { phase, ..Event::of_report(detail, Severity::Warning, key, Confidence::Certain, report) }
}

/// A temporary directory, removed on drop.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("inband-export-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Waits until an output's counts satisfy `is_wanted`.
pub(super) fn wait_for(tally: &Arc<Tally>, is_wanted: impl Fn(&ExportLedger) -> bool) -> ExportLedger {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let ledger = tally.ledger();
        if is_wanted(&ledger) {
            return ledger;
        }
        assert!(Instant::now() < deadline, "{ledger:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// When the events of [`event`] begin: 2023-11-14T22:13:20Z.
const FIRST: Nanos = Nanos::from_secs(1_700_000_000);
