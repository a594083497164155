//! The demo's monitoring system, and what the screen queries from it.

use std::cell::Cell;
use std::fs::DirBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Error};
use inband_collector::{
    BalanceSettings, ClockSettings, CongestionSettings, EventSettings, LatencyChangeSettings,
    LatencyObjectiveSettings, NewFlowSettings, Output, QueueView, SpikeSettings,
};
use inband_export::{Exports, Stage};
use inband_model::{Flow, Ledger, NameList, Names, Nanos, Path};
use inband_server::{
    Api, ApiSettings, Asker, Listening, MonitorParts, ReceiveSettings, Reception, Settings, Sight,
};
use inband_store::{Store, StoreSettings};

use super::scenario::CLOCKS_APART_NS;

/// The monitoring system as `inband collect` runs it, with the settings of this fabric.
#[derive(Debug)]
pub(super) struct Monitor {
    monitor: inband_server::Monitor,
    asker: Asker,
    outputs: Receiver<Output>,
    untold: Arc<AtomicU64>,
    /// The latest answer, used when the next one is late.
    ledger: Cell<Ledger>,
    /// Removed after everything has stopped.
    _temporary: Option<TemporaryDirectory>,
}

/// Who gets answers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answering {
    /// No one.
    Nobody,
    /// Programs that query this address.
    Questions(SocketAddr),
    /// Browsers and programs that query this address.
    Page(SocketAddr),
    /// Browsers and programs that query the default address, or a free port if it is in use.
    PageAnywhere,
}

/// Where history is kept.
#[derive(Debug)]
pub(super) enum History {
    /// Nowhere.
    None,
    /// In a directory the user chose.
    Kept(PathBuf),
    /// Until the end of the demo.
    Temporary(TemporaryDirectory),
}

/// A directory that is removed with its contents on drop.
#[derive(Debug)]
pub(super) struct TemporaryDirectory(PathBuf);

/// The path of a directory that no other process uses.
pub(super) fn temporary_path() -> PathBuf {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    std::env::temp_dir().join(format!("inband-demo-{}-{started}", std::process::id()))
}

/// Removes a directory into which a store may still write.
pub(super) fn remove_while_written(path: &FilePath) {
    for _ in 0..MAX_REMOVALS {
        // A file created meanwhile makes it fail; without its directory the store creates no further one.
        if std::fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
    }
}

impl History {
    /// Creates the directory at this path, which must not exist.
    pub(super) fn temporary(path: PathBuf) -> Result<Self, Error> {
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot keep history in {}", path.display()))?;
        Ok(Self::Temporary(TemporaryDirectory(path)))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // If it fails, cleaning the directory of temporary files is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A flow whose path is known.
#[derive(Debug)]
pub(super) struct KnownFlow {
    pub(super) flow: Flow,
    pub(super) path: Path,
    /// The latest latency of each hop.
    pub(super) hop_latency: Vec<Option<Nanos>>,
    /// Individual reports about it.
    pub(super) reports: u64,
    /// Whether it was seen within the last second.
    is_live: bool,
}

/// Hop latency above which a queue of this fabric is congested: a few packets waiting on a link of 100 Mbit/s
/// are no congestion, 2 ms of them are.
const CONGESTED_NS: u64 = 2_000_000;
/// Most bytes of history: about an hour of it.
const MAX_HISTORY_BYTES: u64 = 2_000_000_000;
/// Most outputs of the collector that are not yet shown; more are counted and discarded.
const MAX_UNSHOWN: usize = 65_536;
const SECOND: Nanos = Nanos::from_secs(1);
/// Attempts to remove a directory that is still written to.
const MAX_REMOVALS: usize = 100;

impl Monitor {
    /// Receives reports on 127.0.0.1, keeps their history, and answers in `names`.
    pub(super) fn start(history: History, answering: Answering, names: NameList) -> Result<Self, Error> {
        let listening = listen(answering)?;
        let (store, temporary) = match history {
            History::None => (None, None),
            History::Kept(path) => (Some(open_store(&path)?), None),
            History::Temporary(directory) => (Some(open_store(&directory.0)?), Some(directory)),
        };
        let store = store.map(Arc::new);
        let receive =
            ReceiveSettings { listen: vec![(Ipv4Addr::LOCALHOST, 0).into()], ..ReceiveSettings::default() };
        let (reception, feed) = Reception::start(&receive)?;

        let names = Arc::new(Names::new(names));
        let (told, outputs) = sync_channel(MAX_UNSHOWN);
        let untold = Arc::new(AtomicU64::new(0));
        let tell = Tell { told, untold: Arc::clone(&untold) };
        let events = EventSettings { units: names.units().clone(), ..events() };
        let settings = Settings { events, ..Settings::default() };
        let monitor = inband_server::Monitor::start(MonitorParts {
            reception,
            feed,
            collector: settings.collector(),
            store,
            names,
            listening,
            exports: Exports::default(),
            stages: vec![Box::new(tell)],
        })?;
        let asker = monitor.asker();
        Ok(Self { monitor, asker, outputs, untold, ledger: Cell::default(), _temporary: temporary })
    }

    /// The address on which reports are received.
    pub(super) fn address(&self) -> Result<SocketAddr, Error> {
        self.monitor.reception().addresses().first().copied().context("no address to send reports to")
    }

    /// The URL at which queries are answered.
    pub(super) fn url(&self) -> Option<String> {
        self.monitor.api().map(Api::url)
    }

    /// Datagrams received from the socket so far.
    pub(super) fn taken(&self) -> u64 {
        self.monitor.reception().taken()
    }

    /// The next output of the collector.
    pub(super) fn poll_output(&self) -> Option<Output> {
        self.outputs.try_recv().ok()
    }

    /// Whether the collector has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.monitor.has_failed()
    }

    /// The totals so far.
    pub(super) fn ledger(&self) -> Ledger {
        let ledger = self.asker.ask(|sight| sight.ledger().total).unwrap_or(self.ledger.get());
        self.ledger.set(ledger);
        ledger
    }

    /// The flows with a path: those seen lately first, then by port.
    pub(super) fn flows(&self) -> Vec<KnownFlow> {
        let mut flows = self.asker.ask(known_flows).unwrap_or_default();
        flows.sort_by_key(|KnownFlow { flow, is_live, .. }| {
            (!is_live, flow.protocol, flow.source_port, flow.source)
        });
        flows
    }

    /// All queues, deepest lately first.
    pub(super) fn queues(&self) -> Vec<QueueView> {
        self.asker.ask(|sight| sight.collector.deepest_queues(usize::MAX)).unwrap_or_default()
    }

    /// Stops everything, the store last; returns how many outputs could not be shown in time.
    pub(super) fn stop(self) -> Result<u64, Error> {
        let outcome = self.monitor.stop().outcome;
        outcome.context("the collector has failed")?;
        Ok(self.untold.load(Ordering::Relaxed))
    }
}

/// Silences what happens all the time, so that the events of the scenario are visible.
fn events() -> EventSettings {
    EventSettings {
        queue_congestion: CongestionSettings {
            trigger_ns: CONGESTED_NS,
            quiet_ms: 100,
            ..CongestionSettings::default()
        },
        latency_spike: SpikeSettings { least_ns: CONGESTED_NS, ..SpikeSettings::default() },
        latency_change: LatencyChangeSettings {
            min_change_ns: 64 * CONGESTED_NS,
            ..LatencyChangeSettings::default()
        },
        latency_objective: LatencyObjectiveSettings {
            bound_ns: 64 * CONGESTED_NS,
            ..LatencyObjectiveSettings::default()
        },
        new_flow: NewFlowSettings { per_second: 0 },
        ecmp_imbalance: BalanceSettings {
            highest_to_mean_permille: 2_000,
            jain_permille: 0,
            ..BalanceSettings::default()
        },
        clock: ClockSettings { uncertainty_ns: Some(CLOCKS_APART_NS), ..ClockSettings::default() },
        ..EventSettings::default()
    }
}

fn listen(answering: Answering) -> Result<Option<Listening>, Error> {
    let settings = |listen, page| ApiSettings { listen, page, ..ApiSettings::default() };
    let usual = ApiSettings::default().listen;
    let listening = match answering {
        Answering::Nobody => return Ok(None),
        Answering::Questions(address) => Listening::open(&settings(address, false)),
        Answering::Page(address) => Listening::open(&settings(address, true)),
        Answering::PageAnywhere => Listening::open(&settings(usual, true))
            .or_else(|_| Listening::open(&settings((usual.ip(), 0).into(), true))),
    };
    Ok(Some(listening?))
}

fn open_store(path: &FilePath) -> Result<Store, Error> {
    let settings = StoreSettings {
        path: path.to_owned(),
        max_size_bytes: MAX_HISTORY_BYTES,
        ..StoreSettings::default()
    };
    Store::open(settings).with_context(|| format!("cannot keep history in {}", path.display()))
}

fn known_flows(sight: &mut Sight<'_>) -> Vec<KnownFlow> {
    let now = sight.now;
    let known = sight.collector.flows().filter_map(|view| {
        Some(KnownFlow {
            flow: view.flow,
            path: view.path?.clone(),
            hop_latency: view.hop_latency.to_vec(),
            reports: view.reports,
            is_live: now.since(view.last_seen) <= SECOND,
        })
    });
    known.collect()
}

/// The stage that passes the collector's outputs to the display. It never blocks.
#[derive(Debug)]
struct Tell {
    told: SyncSender<Output>,
    untold: Arc<AtomicU64>,
}

impl Stage for Tell {
    fn handle_output(&mut self, output: &Output) {
        if self.told.try_send(output.clone()).is_err() {
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
    }
}
