//! `docs/host.toml`, the reference of a host's configuration, has the program's keys and defaults.
#![allow(clippy::unwrap_used, reason = "a file of ours that cannot be read fails the test")]

use inband_host::HostSettings;
use inband_testkit::reference::{assert_every_key_is_there, with_examples};

const REFERENCE: &str = include_str!("../../../docs/host.toml");

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
    let all: HostSettings = toml::from_str(&with_examples(REFERENCE)).unwrap();

    assert_eq!((all.peers.len(), all.report.sessions.len(), all.smart.queue.len()), (1, 1, 1));
    assert!(
        toml::from_str::<HostSettings>(&with_examples(REFERENCE).replace("lease = true", "")).unwrap().peers
            [0]
        .lease
    );
    // An unsupported setting is named by its key.
    assert!(all.check().unwrap_err().key().is_some());
}

#[test]
fn every_known_key_of_every_table_is_there() {
    let tables = assert_every_key_is_there::<HostSettings>(&with_examples(REFERENCE));

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
        ("host.drop_namespaces = ['netns']", "host.drop_namespaces"),
        ("host.drop_namespaces = ['/run/*/netns']", "host.drop_namespaces"),
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
