//! `inband convert` keeps names, and the collector uses them.

use serde_json::{Value, json};

use crate::collector::Collector;
use crate::folder::Folder;

#[test]
fn a_topology_of_deepinsight_names_what_the_collector_shows() {
    let topology = json!({
        "switches": [
            { "switchId": 7, "name": "device:leaf1", "deviceType": "legacy", "ip": "192.168.1.1" },
            { "switchId": "101", "name": "device:vswitch0", "ip": "192.168.99.20", "hostname": "host1_1" },
            { "name": "no id" },
        ],
        "links": [
            { "node1": "device:leaf1", "port1": "5/0", "node2": "device:vswitch0", "port2": "1/0", "switchPort1": 260, "switchPort2": 132 },
            { "node1": "device:leaf1", "port1": "6", "node2": "10.0.1.0/24", "port2": "-1" },
        ],
        "subnets": [{ "ip_subnet": "0.0.0.0/0", "name": "everybody", "subnet_id": 1 }],
        "hosts": [{ "ip": "192.0.2.1", "name": "00:00:00:00:00:01/None_1" }],
    });
    let folder = Folder::new("convert-deepinsight").with("topology.json", topology.to_string());

    let converted = folder.run("convert deepinsight-topology topology.json");

    assert_eq!(converted.code, 0, "{}", converted.stderr);
    assert!(converted.stderr.contains("note: a switch without switchId or name"), "{}", converted.stderr);
    let names: toml::Value = toml::from_str(&converted.stdout).unwrap();
    let expected = json!({
        "node": [{ "id": 7, "name": "device:leaf1" }, { "id": 101, "name": "host1_1" }],
        "interface": [
            { "node": 7, "id": 260, "name": "5/0", "to": "device:vswitch0" },
            { "node": 101, "id": 132, "name": "1/0", "to": "device:leaf1" },
            { "node": 7, "id": 6, "name": "6", "to": "10.0.1.0/24" },
        ],
        "host": [{ "address": "192.0.2.1", "name": "00:00:00:00:00:01/None_1" }],
        "subnet": [{ "prefix": "0.0.0.0/0", "name": "everybody" }],
    });
    assert_eq!(serde_json::to_value(&names).unwrap(), expected);

    std::fs::write(folder.path("names.toml"), &converted.stdout).unwrap();
    let collector = Collector::start_with(&folder, "[names]\nfile = \"names.toml\"\n", "exec \"$0\" \"$@\"");
    collector.send(0..3);
    collector.wait_for("accepted", 3);
    let flows: Value = serde_json::from_str(&collector.get("/api/v1/flows")).unwrap();
    assert_eq!(flows[0]["path_names"], json!(["device:leaf1"]), "{flows}");
    assert_eq!(flows[0]["destination_name"], json!("everybody"), "{flows}");
    let shown = folder.run(&format!("top {} --once", collector.api));
    assert!(shown.stdout.contains("everybody:"), "{}", shown.stdout);
    assert!(shown.stdout.contains("leaf1"), "{}", shown.stdout);
}

#[test]
fn a_thing_that_a_topology_names_twice_has_its_last_name() {
    let host = |name: &str| json!({ "ip": "192.0.2.1", "name": name });
    let topology = json!({ "hosts": [host("first"), host("last")] });
    let folder = Folder::new("convert-twice").with("topology.json", topology.to_string());

    let converted = folder.run("convert deepinsight-topology topology.json");

    assert_eq!(converted.stderr, "note: [[host]] 192.0.2.1 is named twice: the last name applies\n");
    let names: toml::Value = toml::from_str(&converted.stdout).unwrap();
    let expected = json!({ "host": [{ "address": "192.0.2.1", "name": "last" }] });
    assert_eq!(serde_json::to_value(&names).unwrap(), expected);
}

#[test]
fn a_device_of_a_file_without_devices_is_refused_in_words() {
    let folder = Folder::new("convert-no-device").with("netcfg.json", "{\"apps\":{}}");
    let converted = folder.run("convert onos-netcfg netcfg.json --device X --node-id 1");
    assert!(!converted.stderr.contains("only: \n"), "{}", converted.stderr);
}

#[test]
fn what_onos_says_in_several_files_is_put_together() {
    let netcfg = json!({
        "devices": {
            "device:leaf1": { "segmentrouting": { "ipv4NodeSid": 101, "ipv4Loopback": "192.168.1.1" } },
            "device:spine1": { "segmentrouting": { "ipv4NodeSid": 201 }, "basic": { "name": "spine one" } },
            "device:other": {},
        },
        "ports": {
            "device:leaf1/260": { "interfaces": [{ "ips": ["10.0.1.254/24"], "name": "leaf1-rack1" }] },
            "device:nowhere/1": { "interfaces": [] },
        },
        "hosts": { "00:00:00:00:00:02/None": { "basic": { "ips": ["10.0.1.2"], "name": "db" } } },
    });
    let devices = json!({ "devices": [{ "id": "device:leaf1", "annotations": { "name": "leaf one" } }] });
    let links = json!({ "links": [
        { "src": { "device": "device:leaf1", "port": "[5/0](268)" }, "dst": { "device": "device:spine1", "port": "1" } },
    ] });
    let hosts = json!({ "hosts": [{ "id": "00:00:00:00:00:01/None", "ipAddresses": ["10.0.1.1", "fd00::1", "none"] }] });
    let folder = Folder::new("convert-onos")
        .with("netcfg.json", netcfg.to_string())
        .with("devices.json", devices.to_string())
        .with("links.json", links.to_string())
        .with("hosts.json", hosts.to_string());

    let converted = folder.run("convert onos-topology hosts.json links.json devices.json netcfg.json");

    assert_eq!(converted.code, 0, "{}", converted.stderr);
    for note in ["device:other has no", "device:nowhere/1", "an address that is none"] {
        assert!(converted.stderr.contains(note), "{note}: {}", converted.stderr);
    }
    let names: toml::Value = toml::from_str(&converted.stdout).unwrap();
    let expected = json!({
        "node": [{ "id": 101, "name": "leaf one" }, { "id": 201, "name": "spine one" }],
        "interface": [
            { "node": 101, "id": 260, "name": "leaf1-rack1" },
            { "node": 101, "id": 268, "name": "268", "to": "spine one" },
            { "node": 201, "id": 1, "name": "1", "to": "leaf one" },
        ],
        "host": [
            { "address": "10.0.1.1", "name": "00:00:00:00:00:01/None" },
            { "address": "10.0.1.2", "name": "db" },
            { "address": "fd00::1", "name": "00:00:00:00:00:01/None" },
        ],
        "subnet": [{ "prefix": "10.0.1.0/24", "name": "10.0.1.0/24" }],
    });
    assert_eq!(serde_json::to_value(&names).unwrap(), expected);
}

#[test]
fn node_takes_what_convert_makes_of_a_network_configuration_of_onos() {
    let netcfg = include_bytes!("../../../../testdata/golden/convert-onos-netcfg/netcfg.json");
    let block = include_bytes!("../../../../testdata/golden/convert-onos-netcfg/block.json");
    let capture = include_bytes!("../../../../testdata/vectors/int_v2_1.pcap");
    let folder = Folder::new("convert-netcfg")
        .with("netcfg.json", netcfg)
        .with("block.json", block)
        .with("in.pcap", capture);
    // ONOS's file lists edge ports only; other ports have a node's defaults.
    for (convert, ingress, egress) in [
        ("netcfg.json --device device:leaf1", 260, 268),
        ("netcfg.json --device device:leaf1", 260, 1),
        ("block.json --node-id 0x65", 1, 2),
    ] {
        let converted = folder.run(&format!("convert onos-netcfg {convert}"));
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        std::fs::write(folder.path("node.toml"), &converted.stdout).unwrap();
        let outcome = folder.run(&format!(
            "node -c node.toml --read in.pcap --write out.pcap --ingress {ingress} --egress {egress} --json"
        ));
        assert_eq!(outcome.code, 0, "{convert}: {}", outcome.stderr);
        let said: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(said.is_object(), "{convert}: {said}");
    }
}

#[test]
fn what_is_no_topology_is_refused() {
    let folder =
        Folder::new("convert-none").with("a.json", "{}").with("b.json", "{\"devices\": 3}").with("c", "[");
    for (arguments, error) in [
        ("deepinsight-topology a.json", "no topology for DeepInsight"),
        ("onos-topology a.json", "nothing ONOS says"),
        ("onos-topology b.json", "ipv4NodeSid"),
        ("deepinsight-topology c", "EOF"),
        ("onos-topology missing.json", "cannot read missing.json"),
    ] {
        let outcome = folder.run(&format!("convert {arguments}"));
        assert_eq!(outcome.code, 1, "{arguments}");
        assert!(outcome.stderr.contains(error), "{arguments}: {}", outcome.stderr);
    }
}
