//! `inband collect`: receives reports, counts each of them, keeps history, and answers.

mod clock;
mod exports;
mod health;
mod missing;
mod privileges;
mod replay;
mod settings;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, anyhow};
use inband_collector::CollectorSettings;
use inband_export::Stage;
use inband_model::Names;
use inband_server::{
    ApiError, Keep, Listening, Monitor, MonitorParts, Outcome, Pipeline, Reception, ReceptionError, Replay,
    Settings, Stopped,
};
use inband_store::{Store, StoreError, Tally};

use crate::failure::Failure;
use crate::input::Input;
use crate::note::note;
use crate::number::count;
use crate::out;
use crate::signals;
use clock::ClockWatch;
use exports::Outputs;
use health::Health;
use replay::{Found, Pace};
pub(crate) use settings::{name_list, read_checked, read_names};

/// Receive reports of every version, count each of them, keep history and answer questions
///
/// Without -c it listens on 127.0.0.1:32766, keeps history in ./inband-data and answers on 127.0.0.1:8080.
/// SIGINT, SIGTERM or SIGHUP ends it: what has arrived is counted and stored first.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Settings; without them the defaults apply
    #[arg(short, long, value_name = "COLLECTOR.TOML")]
    config: Option<PathBuf>,
    /// Print the settings in force, and exit
    #[arg(long)]
    print_config: bool,
    /// Read the reports from a capture file instead of sockets; `-` is stdin
    #[arg(long, value_name = "CAPTURE")]
    read: Option<PathBuf>,
    /// Replay them at the speed of the capture, not as fast as possible
    #[arg(long, requires = "read")]
    recorded_speed: bool,
    /// UDP port that reports are sent to in the capture; can be given more than once
    #[arg(long, value_name = "PORT", requires = "read", default_values_t = [32_766])]
    report_port: Vec<u16>,
    /// Print the ledger at the end as JSON
    #[arg(long, conflicts_with = "print_config")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  inband collect
  inband collect -c collector.toml
  inband collect --print-config > collector.toml
  inband collect --read reports.pcap --json | jq .total
  tcpdump -i eth0 -w - udp port 32766 | inband collect --read -";

/// Runs the collector to its end.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let settings = settings::read(args.config.as_deref())?;
    if args.print_config {
        let text = toml::to_string(&settings).context("cannot write the settings down")?;
        return out::print(&text);
    }
    let stop = signals::until_stopped()?;
    signals::stop_when_left_alone(&stop)?;
    let (outcome, trouble) = match &args.read {
        None => collect(&settings, &stop)?,
        Some(capture) => replay(args, &settings, capture, &stop)?,
    };
    note!("{}", summary::text(&outcome).trim_end());
    if args.json {
        let json = serde_json::to_string(&outcome.ledger).context("cannot write the ledger down")?;
        out::print(&format!("{json}\n"))?;
    }
    trouble.map_or(Ok(()), |trouble| Err(Failure::Work(trouble)))
}

/// Receives until it is stopped.
fn collect(settings: &Settings, stop: &AtomicBool) -> Result<(Outcome, Option<Error>), Failure> {
    exports::check(settings)?;
    let path = settings.store.path.display();
    let names = Arc::new(read_names(&settings.names.file)?);
    // Opening ports and the certificate may need privileges; nothing after this does.
    let listening = Listening::open(&settings.api).map_err(|error| match error {
        ApiError::Open(_) | ApiError::Readers | ApiError::BasePath(_) => Failure::Usage(error.into()),
        ApiError::Certificate { .. } => Failure::Usage(error.into()),
        other => Failure::Work(other.into()),
    })?;
    if listening.max_connections() < settings.api.max_connections {
        let (granted, asked) = (listening.max_connections(), settings.api.max_connections);
        note!(
            "note: files for {granted} of {asked} connections to the API; a larger `ulimit -n` allows more"
        );
    }
    let (reception, feed) = Reception::start(&settings.receive).map_err(|error| match error {
        ReceptionError::NoAddress => Failure::Usage(error.into()),
        other => Failure::Work(other.into()),
    })?;
    privileges::drop(&settings.process, &directories(settings))?;
    let store = open_store(settings, None)?;
    for address in reception.addresses() {
        let workers = count(settings.receive.workers.get().into(), "worker");
        note!("receiving reports on {address}, {workers}");
    }
    let asked = settings.receive.socket_buffer_bytes;
    if reception.buffer_bytes() < usize::try_from(asked).unwrap_or(usize::MAX) {
        note!(
            "note: the kernel grants {} of {asked} bytes for each socket; `sysctl net.core.rmem_max` allows more",
            reception.buffer_bytes()
        );
    }
    let (mut outputs, (exports, stages)) = Outputs::start(settings, &names)?;
    let mut health = Health::new(store.clone());
    let mut clock = ClockWatch::new(reception.clock());
    let collector = collector(settings, &names);
    let listening = Some(listening);
    let parts = MonitorParts { reception, feed, collector, store, names, listening, exports, stages };
    let monitor = Monitor::start(parts).map_err(|error| Failure::Work(error.into()))?;
    if let Some(api) = monitor.api() {
        note!("answering on {}", api.url());
    }
    while !stop.load(Ordering::Relaxed) && !monitor.has_failed() {
        std::thread::sleep(PATIENCE);
        health.look();
        clock.look();
        outputs.look(monitor.exports());
    }
    drop(health);
    let Stopped { outcome, tally } = monitor.stop();
    let gone = tally.map_or(0, |tally| tally.gone);
    let trouble = (gone > 0).then(|| {
        anyhow!("history: {gone} reports that were stored are gone: {path} was removed or replaced")
    });
    Ok((outcome.ok_or_else(|| anyhow!("the collector has failed"))?, trouble))
}

/// Replays the reports of a capture, whose timestamps are the time. An error after the start of the capture
/// is returned beside the outcome of the reports before it.
fn replay(
    args: &Args,
    settings: &Settings,
    capture: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<(Outcome, Option<Error>), Failure> {
    exports::check(settings)?;
    let names = Arc::new(read_names(&settings.names.file)?);
    let mut input = Input::open_until(capture, stop)?;
    // Retention would delete old captures at once.
    let store = open_store(settings, Some(FOREVER))?;
    let (replay, feed) = Replay::feed(&settings.receive.allow);
    // No webhook calls for what happened when the capture was made.
    let told = Settings { webhook: Vec::new(), ..settings.clone() };
    let exports = exports::start_for_replay(&told, &names, stop)?;
    let keep = store.as_ref().map(|store| Box::new(Keep::for_replay(Arc::clone(store))) as Box<dyn Stage>);
    let stages = keep.into_iter().chain(exports).collect();
    let settings = collector(settings, &names);
    let pipeline = Pipeline::start(settings, feed, stages).context("cannot start the collector")?;
    let pace = if args.recorded_speed { Pace::Recorded } else { Pace::Full };
    let mut found = Found::default();
    let read = replay::replay(&mut input, &args.report_port, pace, &replay, stop, &mut found);
    drop(replay);
    let outcome = pipeline.stop().ok_or_else(|| anyhow!("the collector has failed"))?;
    let missing = missing::text(&outcome.ledger, store.as_deref());
    close(store);
    let unread = found.unread.report(&capture.display().to_string());
    if unread.is_ok() && found.datagrams == 0 && found.fragmented == 0 {
        note!("note: {} holds no datagram to a port of reports", capture.display());
    }
    if found.fragmented > 0 {
        let datagrams = count(found.fragmented, "datagram");
        note!("note: {datagrams} in fragments, passed over: fragments are not put together");
    }
    let incomplete = missing.map(|missing| anyhow!("the replay is incomplete: {missing}"));
    Ok((
        outcome,
        [read.err(), unread.err(), incomplete]
            .into_iter()
            .flatten()
            .reduce(|read, missing| anyhow!("{read:#}; {missing:#}")),
    ))
}

fn open_store(settings: &Settings, retain: Option<Duration>) -> Result<Option<Arc<Store>>, Failure> {
    let Some(mut store) = settings.store.store() else { return Ok(None) };
    if let Some(retain) = retain {
        store.retain = retain;
        store.retain_tables.clear();
    }
    let path = store.path.display().to_string();
    let open = |error: StoreError| {
        Failure::Work(Error::new(error).context(format!("cannot keep history in {path}")))
    };
    let store = Store::open(store).map_err(open)?;
    let tally = store.tally();
    if tally.recovered > 0 || tally.torn_bytes > 0 {
        let (reports, bytes) = (count(tally.recovered, "report"), count(tally.torn_bytes, "torn byte"));
        note!("history: {reports} taken up, {bytes} cut off");
    }
    for damage in &store.findings().damage {
        note!("history: damaged: {damage}");
    }
    note!("keeping history in {path}");
    Ok(Some(Arc::new(store)))
}

/// The collector's settings: the file's, with the units and links of the names file.
fn collector(settings: &Settings, names: &Names) -> CollectorSettings {
    let mut collector = settings.collector();
    collector.events.units = names.units().clone();
    collector.paths.links.extend(names.links());
    collector
}

/// The directories to create for stored data.
fn directories(settings: &Settings) -> Vec<&Path> {
    let lines = settings.jsonl.path.parent().filter(|_| settings.jsonl.path != Path::new("-"));
    let spools = [
        (!settings.nats.url.is_empty()).then_some(settings.nats.spool.as_path()),
        (!settings.kafka.brokers.is_empty()).then_some(settings.kafka.spool.as_path()),
    ];
    let all = [Some(settings.store.path.as_path()), lines].into_iter().chain(spools).flatten();
    all.filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Turns the log into segments if no other reference to the store is left; returns what became of the
/// reports.
fn close(store: Option<Arc<Store>>) -> Option<Tally> {
    store.and_then(Arc::into_inner).map(Store::close)
}

/// Interval at which `stop` is checked.
const PATIENCE: Duration = Duration::from_millis(50);
/// A hundred years.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
