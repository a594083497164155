//! Cores that share the work of one node: shared and per-core state.
#![allow(unsafe_code, reason = "an allocator that counts is unsafe by its trait")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use inband_node::config::{
    Actions, EncapsulationKind, Mode, NodeConfig, Prefix, ProbeConfig, ReportFilter, WatchEntry,
};
use inband_node::{Core, Frame, Node, Outcome, Profile};
use inband_wire::layers::Link;
use inband_wire::report::ReportGroup;

use support::{next_packet, next_report, node_config, passage, tcp_frame};

/// Counts the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Held by one test at a time: memory is counted for the whole process.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

const CORES: u8 = 16;

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn xd() -> NodeConfig {
    node_config(9, (false, false), EncapsulationKind::Dscp, Mode::Xd)
}

fn cores(config: &NodeConfig, count: u8) -> Vec<Node> {
    let profile = Profile::compile(config).unwrap();
    let core = |index| Node::on_core(Arc::clone(&profile), Core::new(index, count).unwrap()).unwrap();
    (0..count).map(core).collect()
}

fn send(node: &mut Node) {
    let mut buffer = vec![0xa5; 1100];
    buffer.extend(tcp_frame(b"payload"));
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
    let _ = node.handle_frame(Link::Ethernet, &mut frame, &passage());
}

/// hw_id and sequence number of every pending report.
fn streams(node: &mut Node) -> Vec<(u8, u32)> {
    let mut streams = Vec::new();
    while let Some(payload) = next_report(node) {
        let header = ReportGroup::parse(&payload).unwrap().header;
        streams.push((header.hw_id(), header.sequence()));
    }
    streams
}

fn entry(number: u32) -> WatchEntry {
    let address = Ipv4Addr::from_bits(0x0a00_0000 + number * 4);
    WatchEntry { either: Some(Prefix::new(address.into(), 30)), ..WatchEntry::default() }
}

#[test]
fn sixteen_cores_with_fifty_thousand_entries_take_less_than_a_fifth_more_than_one() {
    let _alone = alone();
    let mut config = xd();
    config.watchlist = (0..50_000).map(entry).collect();
    config.watchlist.extend(
        (0..100).map(|number| WatchEntry { sample: NonZeroU32::new(10).unwrap(), ..entry(60_000 + number) }),
    );

    let before = IN_USE.load(Ordering::Relaxed);
    let one = Node::new(&config).unwrap();
    let of_one = IN_USE.load(Ordering::Relaxed) - before;
    drop(one);
    let mut sixteen = cores(&config, CORES);
    for node in &mut sixteen {
        send(node);
        while node.poll_output().is_some() {}
    }
    let of_sixteen = IN_USE.load(Ordering::Relaxed) - before;

    assert!(of_one > 1 << 20, "{of_one} bytes");
    assert!(of_sixteen * 10 < of_one * 12, "one takes {of_one} bytes, sixteen take {of_sixteen}");
}

#[test]
fn threads_share_a_profile_and_do_the_same_with_it() {
    let _alone = alone();
    let nodes = cores(&xd(), CORES);
    let profile = Arc::clone(nodes[0].profile());
    assert_eq!(Arc::strong_count(&profile), usize::from(CORES) + 1);

    let threads: Vec<_> = nodes
        .into_iter()
        .map(|mut node| {
            thread::spawn(move || {
                (0..100).for_each(|_| send(&mut node));
                (streams(&mut node).len(), node.counters().get(Outcome::Reported))
            })
        })
        .collect();

    for thread in threads {
        assert_eq!(thread.join().unwrap(), (100, 100));
    }
    assert_eq!(Arc::strong_count(&profile), 1);
}

#[test]
fn every_core_numbers_its_reports_under_an_hw_id_of_its_own() {
    // report-2.0/group-03
    let _alone = alone();
    let mut config = xd();
    config.report.hw_id = 5;

    let mut seen = BTreeSet::new();
    for (index, node) in (0..).zip(&mut cores(&config, 4)) {
        (0..3).for_each(|_| send(node));
        let streams = streams(node);
        assert_eq!(streams, [1, 2, 3].map(|number| (5 + index, number)));
        seen.extend(streams);
    }
    assert_eq!(seen.len(), 12, "no stream has a number twice");
}

#[test]
fn cores_whose_hw_ids_would_not_be_their_own_are_refused() {
    let _alone = alone();
    let refuse = |config: &NodeConfig, count| {
        let profile = Profile::compile(config).unwrap();
        Node::on_core(profile, Core::new(0, count).unwrap()).map(|_| ()).unwrap_err()
    };
    let mut config = xd();
    config.report.hw_id = 62;
    assert!(Node::on_core(Profile::compile(&config).unwrap(), Core::new(1, 2).unwrap()).is_ok());
    let error = refuse(&config, 3);
    assert_eq!(error.key(), "report.hw_id");
    assert!(error.to_string().contains("0 to 61, where 3 cores report"), "{error}");

    config.report = toml::from_str(
        r#"session = [
            { collector = "192.0.2.1:32766", hw_id = 0 },
            { collector = "192.0.2.1:32766", hw_id = 2 },
        ]"#,
    )
    .unwrap();
    assert!(Node::on_core(Profile::compile(&config).unwrap(), Core::new(1, 2).unwrap()).is_ok());
    assert_eq!(refuse(&config, 3).key(), "report.session");
    assert_eq!((Core::new(3, 3), Core::new(0, 0)), (None, None));
}

#[test]
fn cores_share_the_rate_of_reports() {
    let _alone = alone();
    let mut config = xd();
    config.report.reports_per_second = 8;

    for node in &mut cores(&config, 4) {
        (0..10).for_each(|_| send(node));
        assert_eq!(node.counters().get(Outcome::Reported), 2);
        assert_eq!(node.counters().get(Outcome::ReportLimited), 8);
    }
}

#[test]
fn the_first_core_makes_the_probes() {
    let _alone = alone();
    let mut config = node_config(1, (true, false), EncapsulationKind::Dscp, Mode::Md);
    let probe: ProbeConfig =
        toml::from_str("source = \"192.0.2.1\"\ndestination = \"198.51.100.7\"\negress = 2").unwrap();
    config.probes = vec![probe];

    let made = cores(&config, 3).into_iter().map(|mut node| {
        node.handle_timeout(1_700_000_000_000_000_000);
        (node.next_probe_at().is_some(), std::iter::from_fn(|| next_packet(&mut node)).count())
    });

    assert_eq!(made.collect::<Vec<_>>(), [(true, 1), (false, 0), (false, 0)]);
}

#[test]
fn another_profile_keeps_what_a_core_knows() {
    let _alone = alone();
    let mut config = xd();
    config.report.filter = ReportFilter::Smart;
    let mut nodes = cores(&config, 2);
    nodes.iter_mut().for_each(send);
    assert!(nodes.iter_mut().all(|node| streams(node).len() == 1));

    config.watchlist = vec![WatchEntry { action: Actions::REPORT_FLOW, ..WatchEntry::default() }];
    let profile = nodes[0].profile().reload(&config).unwrap();
    for node in &mut nodes {
        node.adopt(Arc::clone(&profile));
        send(node);
        // The filter still knows the flow, and the counters continue.
        assert_eq!(node.counters().get(Outcome::ReportWithheld), 1);
        assert_eq!(node.counters().get(Outcome::Reported), 1);
        assert!(Arc::ptr_eq(node.profile(), &profile));
    }

    config.watchlist.clear();
    let profile = profile.reload(&config).unwrap();
    for node in &mut nodes {
        node.adopt(Arc::clone(&profile));
        send(node);
        assert_eq!(node.counters().get(Outcome::ReportWithheld), 1, "nothing is watched");
    }
}
