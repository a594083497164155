//! Bounded memory and complete accounting with spoofed flows and nodes, and history.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world is to fail")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_collector::CollectorSettings;
use inband_export::Stage;
use inband_model::Nanos;
use inband_server::{Keep, Pipeline, Replay};
use inband_store::{Cell, Limits, Store, StoreSettings};
use inband_testkit::{inner_only, md_frame, report_group};

#[test]
fn made_up_flows_and_nodes_are_all_counted_and_stored() {
    let grown = run("few", 20_000);

    assert_eq!(grown.reports, 40_000);
}

/// Prints the memory at each tenth of the run.
#[test]
#[ignore = "takes minutes and gigabytes of disk; run it with --release -- --ignored --nocapture"]
fn ten_million_flows_and_ten_million_nodes_stay_within_the_default_bounds() {
    let grown = run("ten-million", 10_000_000);

    assert_eq!(grown.reports, 20_000_000);
    assert!(grown.most_bytes < 1_500 << 20, "{} MiB", grown.most_bytes >> 20);
    // The tables are full long before half of the run.
    assert!(grown.most_bytes < grown.half_bytes + grown.half_bytes / 3, "{grown:?}");
}

/// The result of a run.
#[derive(Debug)]
struct Grown {
    /// Reports that are stored.
    reports: u64,
    /// Memory of the process halfway through the run.
    half_bytes: u64,
    /// The highest memory of the process.
    most_bytes: u64,
}

/// Sends `count` reports of a new node each, and as many on a new flow each, through collector and store.
fn run(name: &str, count: u32) -> Grown {
    let folder = std::env::temp_dir().join(format!("inband-spoofed-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let store = Arc::new(Store::open(settings(&folder)).unwrap());
    let (replay, feed) = Replay::feed(&[]);
    let stages: Vec<Box<dyn Stage>> = vec![Box::new(Keep::new(Arc::clone(&store)))];
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
    let mut template = Template::new();
    let begun = Instant::now();
    let (mut most_bytes, mut half_bytes) = (0, 0);
    for number in 0..count {
        let captured_at = Nanos::from_secs(1_700_000_000) + Nanos::from_micros(u64::from(number) * 2);
        assert!(replay.put(captured_at, address(1), address(2), template.of_new_node(number)));
        assert!(replay.put(captured_at, address(1), address(2), template.on_new_flow(number)));
        if (number + 1) % (count / 10) == 0 {
            let bytes = resident_bytes();
            println!("{:>10} of each: {} MiB after {:.1?}", number + 1, bytes >> 20, begun.elapsed());
            most_bytes = bytes.max(most_bytes);
            half_bytes = if number < count / 2 { bytes } else { half_bytes };
        }
        // The capture is read at full speed; pausing gives history time to store all of it.
        while number % 1_024 == 0 && store.tally().waiting > MAX_WAITING {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    drop(replay);
    let ledger = pipeline.stop().unwrap().ledger;

    let total = ledger.total;
    assert!(ledger.balances(), "{total:?}");
    assert_eq!((total.received, total.accepted, total.malformed), (u64::from(count) * 2, total.received, 0));
    assert_eq!((total.stored, total.store_failed), (total.accepted_reports, 0));
    let asked =
        store.history().unwrap().query("SELECT count(*) FROM observations", Limits::default()).unwrap();
    assert_eq!(asked.rows, [[Cell::Integer(i64::try_from(total.stored).unwrap())]]);
    println!("{:?}: {total:?}, {:?}", begun.elapsed(), ledger.overflows);
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
    Grown { reports: total.stored, half_bytes, most_bytes: most_bytes.max(resident_bytes()) }
}

fn settings(folder: &std::path::Path) -> StoreSettings {
    // Old capture times must not expire.
    let retain = Duration::from_secs(100 * 365 * 24 * 3_600);
    StoreSettings { path: folder.to_owned(), retain, ..StoreSettings::default() }
}

/// A report on one hop, with replaceable node, number and flow.
struct Template {
    bytes: Vec<u8>,
    /// The offset of the hop's id.
    hop: usize,
}

impl Template {
    fn new() -> Template {
        let frame = md_frame().hop(MARK).build();
        let bytes = report_group(0).with(inner_only().flags(0x20).inner(3, &frame)).build();
        let hop = bytes.windows(4).position(|word| word == MARK.to_be_bytes()).unwrap();
        Template { bytes, hop }
    }

    /// The first report of an unknown node, on one flow.
    fn of_new_node(&mut self, number: u32) -> &[u8] {
        self.fill(0x4000_0000 + number, 0, 7)
    }

    /// The next report of one node, on an unknown flow.
    fn on_new_flow(&mut self, number: u32) -> &[u8] {
        self.fill(1, number, 0x0b00_0000 + number)
    }

    fn fill(&mut self, node_id: u32, sequence: u32, source: u32) -> &[u8] {
        let group = 0x2000_0000 | (sequence & 0x003f_ffff);
        for (at, word) in [(0, group), (4, node_id), (SOURCE, source), (self.hop, node_id)] {
            self.bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        &self.bytes
    }
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(127, 0, 0, host), 32_766))
}

/// Memory of this process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

const MARK: u32 = 0xdead_beef;
/// Source address in a group header of 8 bytes, a report's word, an Ethernet header and 12 bytes of IPv4.
const SOURCE: usize = 8 + 4 + 14 + 12;
/// Maximum number of reports pending for the disk; the sender waits beyond it.
const MAX_WAITING: u64 = 100_000;
