//! Is `docs/node.toml`, the reference of a node's configuration, what the program knows and defaults to?
#![allow(clippy::unwrap_used, reason = "a file of ours that cannot be read fails the test")]

use std::collections::BTreeSet;
use std::fmt::Debug;

use inband_node::NodeConfig;
use inband_node::config::{InterfaceConfig, WatchEntry};
use serde::Deserialize;
use toml::{Table, Value};

const REFERENCE: &str = include_str!("../../../docs/node.toml");

/// The reference with its examples: what is commented out, and is a key or a table, is not.
fn with_examples() -> String {
    let is_example = |rest: &str| {
        let key = rest.split(['=', ' ']).next().unwrap_or_default();
        rest.starts_with('[')
            || (rest.contains(" = ") && key.chars().all(|c| c == '_' || c.is_alphanumeric()))
    };
    let line = |line: &'static str| match line.strip_prefix("# ") {
        Some(rest) if is_example(rest) => rest,
        _ => line,
    };
    REFERENCE.lines().map(line).collect::<Vec<_>>().join("\n")
}

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
    let config: NodeConfig = toml::from_str(&with_examples()).unwrap();

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
    let full: NodeConfig = toml::from_str(&with_examples()).unwrap();
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
    let document: Table = toml::from_str(&with_examples()).unwrap();
    let mut tables = 0;
    visit(&document, &mut Vec::new(), &mut |path| {
        let Some(known) = known_keys(&document, path) else { return };
        let written: BTreeSet<String> = at(&document, path).keys().cloned().collect();
        assert_eq!(written, known, "in [{}]", path.join("."));
        tables += 1;
    });
    assert!(tables > 20, "{tables} tables");
}

/// Calls `f` with the path to every table; of an array of tables to its first.
fn visit(table: &Table, path: &mut Vec<String>, f: &mut impl FnMut(&[String])) {
    f(path);
    for (key, value) in table {
        let inner = match value {
            Value::Table(inner) => Some(inner),
            Value::Array(all) => all.first().and_then(Value::as_table),
            _ => None,
        };
        if let Some(inner) = inner {
            path.push(key.clone());
            visit(inner, path, f);
            path.pop();
        }
    }
}

fn at<'a>(table: &'a Table, path: &[String]) -> &'a Table {
    path.iter().fold(table, |table, key| match &table[key] {
        Value::Array(all) => all[0].as_table().unwrap(),
        value => value.as_table().unwrap(),
    })
}

/// The keys that the program knows in a table, from what it says of one it does not; `None` where keys are free.
fn known_keys(document: &Table, path: &[String]) -> Option<BTreeSet<String>> {
    let mut document = document.clone();
    let table = path.iter().fold(&mut document, |table, key| match &mut table[key] {
        Value::Array(all) => all[0].as_table_mut().unwrap(),
        value => value.as_table_mut().unwrap(),
    });
    table.insert("no_such_key".to_owned(), Value::Integer(1));
    let error = NodeConfig::deserialize(Value::Table(document)).unwrap_err().to_string();
    let (_, expected) = error.split_once("unknown field `no_such_key`, expected ")?;
    let expected = expected.lines().next().unwrap_or_default();
    Some(expected.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}
