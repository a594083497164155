//! `docs/node.toml`, the configuration reference, against the program's keys and defaults.
#![allow(clippy::unwrap_used, reason = "a file of ours that cannot be read fails the test")]

use std::fmt::Debug;

use inband_node::NodeConfig;
use inband_node::config::{InterfaceConfig, WatchEntry};
use inband_testkit::reference::{assert_every_key_is_there, with_examples};

const REFERENCE: &str = include_str!("../../../docs/node.toml");

fn assert_same(written: &impl Debug, default: &impl Debug) {
    assert_eq!(format!("{written:#?}"), format!("{default:#?}"));
}

#[test]
fn what_is_written_is_the_default() {
    let mut written: NodeConfig = toml::from_str(REFERENCE).unwrap();

    assert_same(&written.interfaces, &[InterfaceConfig::new(1)]);
    assert_same(&written.watchlist, &[WatchEntry::default()]);
    written.interfaces.clear();
    written.watchlist.clear();
    assert_same(&written, &NodeConfig::new(1));
}

#[test]
fn every_example_is_valid() {
    let config: NodeConfig = toml::from_str(&with_examples(REFERENCE)).unwrap();

    assert_eq!((config.probes.len(), config.domains.len(), config.report.sessions.len()), (1, 1, 1));
    assert_eq!((config.drop_reasons.reasons.len(), config.offline.packets.len()), (1, 1));
}

#[test]
fn examples_show_the_defaults_of_their_tables() {
    let defaults = [
        (
            "probe",
            "source = '10.0.0.1'\ndestination = '10.0.9.1'\negress = 2\nsource_mac = '02:01:00:00:00:01'",
        ),
        ("smart.queue.0", "trigger_ns = 2000\nreset_ns = 1000"),
        (
            "drop_reasons.reason",
            "code = 200\nname = 'policer'\nmeaning = 'over its rate'\ncheck = 'the policer of the port'",
        ),
    ];
    let full: NodeConfig = toml::from_str(&with_examples(REFERENCE)).unwrap();
    for (table, required) in defaults {
        let header = if table.contains("queue") { format!("[{table}]") } else { format!("[[{table}]]") };
        let short: NodeConfig = toml::from_str(&format!("[node]\nid = 1\n{header}\n{required}")).unwrap();
        match table {
            "probe" => assert_same(&full.probes, &short.probes),
            "smart.queue.0" => assert_same(&full.smart.queue, &short.smart.queue),
            _ => assert_same(&full.drop_reasons.reasons, &short.drop_reasons.reasons),
        }
    }
}

#[test]
fn every_known_key_of_every_table_is_there() {
    let tables = assert_every_key_is_there::<NodeConfig>(&with_examples(REFERENCE));

    assert!(tables > 20, "{tables} tables");
}
