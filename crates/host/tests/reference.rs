//! Is `docs/host.toml`, the reference of a host's configuration, what the program knows and defaults to?
#![allow(clippy::unwrap_used, reason = "a file of ours that cannot be read fails the test")]

use std::collections::BTreeSet;

use inband_host::HostSettings;
use serde::Deserialize;
use toml::{Table, Value};

const REFERENCE: &str = include_str!("../../../docs/host.toml");

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

#[test]
fn what_is_written_is_the_default() {
    let written: HostSettings = toml::from_str(REFERENCE).unwrap();
    let shortest = "node.id = 1\nhost.devices = ['eth0']\n[[interface]]\nid = 1\n[[watch]]\n";
    let default: HostSettings = toml::from_str(shortest).unwrap();

    assert_eq!(format!("{written:#?}"), format!("{default:#?}"));
    written.check().unwrap();
}

#[test]
fn every_example_is_valid_and_peers_default_to_leases() {
    let all: HostSettings = toml::from_str(&with_examples()).unwrap();

    assert_eq!((all.peers.len(), all.report.sessions.len(), all.smart.queue.len()), (1, 1, 1));
    assert!(
        toml::from_str::<HostSettings>(&with_examples().replace("lease = true", "")).unwrap().peers[0].lease
    );
    // What a host cannot do is named by its key.
    assert!(all.check().unwrap_err().key().is_some());
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
    assert!(tables > 12, "{tables} tables");
}

#[test]
fn settings_out_of_range_are_refused_by_their_key() {
    let settings = |text: &str| -> HostSettings {
        let shortest = "node.id = 1\nhost.devices = ['eth0']\n";
        toml::from_str(&format!("{shortest}{text}")).unwrap()
    };
    for (text, key) in [
        ("host.devices = []", "host.devices"),
        ("host.shim = ''", "host.shim"),
        ("host.shim = 'a/b'", "host.shim"),
        ("host.shim = 'elevenchars'", "host.shim"),
        ("host.lease_ms = 999", "host.lease_ms"),
        ("host.lease_ms = 10001", "host.lease_ms"),
        ("host.metrics = '192.0.2.1:9464'", "host.metrics"),
        ("source.clone = 10", "source.clone"),
        ("report.port_entropy = true", "report.port_entropy"),
        ("encapsulation.kind = 'gre'", "encapsulation.kind"),
        ("watch = [{ vni = 5 }]", "watch.vni"),
        ("report.hw_id = 64", "report.hw_id"),
    ] {
        let text = text.replace("host.devices = []", "");
        let mut settings = settings(&text);
        if key == "host.devices" {
            settings.host.devices.clear();
        }
        assert_eq!(settings.check().unwrap_err().key(), Some(key), "{text}");
    }
    settings("host.shim = 'ten_letter'\nhost.lease_ms = 10000\nhost.metrics = '[::1]:9464'").check().unwrap();
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
    let error = HostSettings::deserialize(Value::Table(document)).unwrap_err().to_string();
    let (_, expected) = error.split_once("unknown field `no_such_key`, expected ")?;
    let expected = expected.lines().next().unwrap_or_default();
    Some(expected.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}
