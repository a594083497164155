//! Packets pass source, transit hop and sink unchanged, in every capture format.

use std::fs;
use std::path::Path;

use inband_capture::{ByteOrder, Format, Interface, LinkType, Reader, Record, Resolution, Writer};
use serde_json::Value;

use crate::folder::Folder;

const SOURCE: &str = "\
[node]
id = 1
[[interface]]
id = 1
edge = true
[[interface]]
id = 2
[source]
instructions = [\"node-id\", \"level1-interfaces\", \"ingress-timestamp\", \"egress-timestamp\"]
[[watch]]
destination_port = 80
";

const TRANSIT: &str = "\
[node]
id = 2
[[interface]]
id = 3
[[interface]]
id = 4
[offline]
hop_latency = 500
unavailable = [\"level1-interfaces\"]
";

const SINK: &str = "\
[node]
id = 3
[[interface]]
id = 5
[[interface]]
id = 6
edge = true
[report]
collector = \"192.0.2.100:40000\"
";

/// IPv4 and UDP from 10.0.0.1 to port 80 of 10.0.0.2, with a wrong UDP checksum and 5 bytes of payload.
const WATCHED: [u8; 33] = [
    0x45, 0, 0, 33, 0, 0, 0x40, 0, 64, 17, 0x26, 0xca, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
    4, 210, 0, 80, 0, 13, 0xba, 0xad, b'h', b'e', b'l', b'l', b'o', // UDP
];

/// 2023-11-14, with nanoseconds.
const TIME_NS: u64 = 1_700_000_000_123_456_789;

fn record(number: u64, link_type: LinkType, link_header: &[u8], packet: &[u8]) -> Record {
    let data = [link_header, packet].concat();
    let original_length = u32::try_from(data.len()).unwrap();
    let captured_at_ns = TIME_NS + number;
    Record { number, captured_at_ns, link_type, original_length, data, ..Record::default() }
}

fn capture(format: Format, interfaces: &[Interface], records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format).unwrap();
    for record in records {
        writer.write_record(record, interfaces).unwrap();
    }
    writer.finish().unwrap()
}

fn records(file: &[u8]) -> Vec<Record> {
    let mut reader = Reader::new(file).unwrap();
    let (mut all, mut record) = (Vec::new(), Record::default());
    while reader.read_record(&mut record).unwrap() {
        all.push(record.clone());
    }
    all
}

/// Runs a capture through the three nodes: `in` to `source`, `transit` and `out`, with reports in `reports`.
fn domain(name: &str, input: &[u8]) -> Folder {
    domain_of(name, input, [SOURCE, TRANSIT, SINK])
}

fn domain_of(name: &str, input: &[u8], [source, transit, sink]: [&str; 3]) -> Folder {
    let folder = Folder::new(name)
        .with("in", input)
        .with("source.toml", source)
        .with("transit.toml", transit)
        .with("sink.toml", sink);
    for arguments in [
        "node -c source.toml --read in --write source --ingress 1 --egress 2",
        "node -c transit.toml --read source --write transit --ingress 3 --egress 4",
        "node -c sink.toml --read transit --write out --reports reports --ingress 5 --egress 6",
    ] {
        let outcome = folder.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome:?}");
    }
    folder
}

fn json(folder: &Folder, arguments: &str) -> Vec<Value> {
    let outcome = folder.run(arguments);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_link_type_and_format_comes_through_unchanged() {
    let mut sll = [0; 16];
    sll[14..].copy_from_slice(&[0x08, 0x00]);
    let mut sll2 = [0; 20];
    sll2[..2].copy_from_slice(&[0x08, 0x00]);
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    let links: [(LinkType, &[u8]); 7] = [
        (LinkType::ETHERNET, &ethernet),
        (LinkType::RAW, &[]),
        (LinkType::IPV4, &[]),
        (LinkType::LINUX_SLL, &sll),
        (LinkType::LINUX_SLL2, &sll2),
        (LinkType::NULL, &[2, 0, 0, 0]),
        (LinkType::LOOP, &[0, 0, 0, 2]),
    ];
    for (link_type, header) in links {
        let all = [record(1, link_type, header, &WATCHED), record(2, link_type, header, &[0x60; 7])];
        let interfaces = [Interface { link_type, name: Some(b"eth0".to_vec()), description: None }];
        let link = u32::from(link_type.0);
        for format in [
            Format::Pcap { order: ByteOrder::Big, resolution: Resolution::Nanoseconds, link },
            Format::Pcapng { order: ByteOrder::Little },
        ] {
            let input = capture(format, &interfaces, &all);
            let folder = domain("links", &input);
            let in_flight = records(&folder.read("transit"));
            let grown = u32::try_from(in_flight[0].data.len() - all[0].data.len()).unwrap();
            // Shim, INT-MD header, and two hops of 24 bytes.
            assert_eq!(grown, 4 + 12 + 2 * 24, "{link_type} {format:?}");
            assert_eq!(in_flight[0].original_length, all[0].original_length + grown);
            assert_eq!(in_flight[1], all[1], "{link_type} {format:?}");
            assert_eq!(folder.read("out"), input, "{link_type} {format:?}");
            assert_eq!(
                json(&folder, "decode --json --report-port 40000 reports").len(),
                1,
                "{link_type} {format:?}"
            );
        }
    }
}

#[test]
fn a_report_says_what_each_node_saw() {
    // int-2.1/md-22, int-2.1/md-23, int-2.1/md-24, report-2.0/transport-01, report-2.0/transport-02
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let folder = domain("report", &capture(format, &[], &[record(1, LinkType::RAW, &[], &WATCHED)]));

    let reports = records(&folder.read("reports"));
    assert_eq!(reports[0].captured_at_ns, TIME_NS + 1, "the time of the packet that caused it");
    assert_eq!(reports[0].link_type, LinkType::ETHERNET);
    // report-2.0/transport-04
    assert_eq!(reports[0].data[20] & 0x40, 0x40, "IPv4 with DF");
    let line = &json(&folder, "decode --json --report-port 40000 reports")[0];
    assert_eq!((&line["node_id"], &line["sequence"]), (&3.into(), &1.into()));
    let hops = &line["reports"][0]["int"][0]["hops"];
    let hop = |node: u32, ids: Value, latency: u64| {
        let (ingress, egress) = (TIME_NS + 1, TIME_NS + 1 + latency);
        serde_json::json!({
            "node_id": node, "ingress_interface": ids[0], "egress_interface": ids[1],
            "ingress_timestamp": ingress, "egress_timestamp": egress,
        })
    };
    let none = Value::Null;
    let expected = [hop(3, [5, 6].into(), 1_000), hop(2, none, 500), hop(1, [1, 2].into(), 1_000)];
    assert_eq!(hops, &Value::from(expected.to_vec()));
}

#[test]
fn the_checksum_stays_as_wrong_as_it_was() {
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let folder = domain("checksum", &capture(format, &[], &[record(1, LinkType::RAW, &[], &WATCHED)]));
    assert_eq!(json(&folder, "decode --json source")[0]["checksum"], "bad");
    assert_eq!(records(&folder.read("out"))[0].data, WATCHED);
}

#[test]
fn a_truncated_capture_is_carried_as_far_as_it_goes() {
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let all = [record(1, LinkType::RAW, &[], &WATCHED), record(2, LinkType::RAW, &[], &WATCHED)];
    let mut input = capture(format, &[], &all);
    input.pop();
    let folder = Folder::new("cut").with("in", input).with("source.toml", SOURCE);
    let outcome = folder.run("node -c source.toml --read in --write out --ingress 1 --egress 2");
    assert_eq!(outcome.code, 1);
    assert!(
        outcome
            .stderr
            .ends_with("error: in: capture ends inside a pcap record at byte 73: 49 bytes needed, 48 left\n")
    );
    assert_eq!(records(&folder.read("out")).len(), 1);
}

#[test]
fn counters_are_one_json_object() {
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let all = [record(1, LinkType::RAW, &[], &WATCHED), record(2, LinkType::RAW, &[], &[0; 28])];
    let folder = Folder::new("counters").with("in", capture(format, &[], &all)).with("source.toml", SOURCE);
    let counters = json(&folder, "node -c source.toml --read in --write out --ingress 1 --egress 2 --json");
    let [counters] = counters.as_slice() else { panic!("one line") };
    assert_eq!(
        (&counters["packets"], &counters["started"], &counters["not_ip"]),
        (&2.into(), &1.into(), &1.into())
    );
    assert_eq!(counters["stripped"], 0);
}

#[test]
fn a_packet_with_the_discard_bit_is_reported_and_not_written() {
    // int-2.1/md-02, int-2.1/modes-07
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let folder = Folder::new("discard")
        .with("in", capture(format, &[], &[record(1, LinkType::RAW, &[], &WATCHED)]))
        .with("source.toml", SOURCE.replace("[source]", "[source]\ndiscard = true"))
        .with("sink.toml", SINK);
    folder.run("node -c source.toml --read in --write source --ingress 1 --egress 2");
    let outcome =
        folder.run("node -c sink.toml --read source --write out --reports rep --ingress 5 --egress 6");
    assert!(outcome.stderr.contains("1 discarded"), "{outcome:?}");
    assert_eq!((records(&folder.read("out")).len(), records(&folder.read("rep")).len()), (0, 1));
}

#[test]
fn real_sessions_come_through_and_their_reports_show_the_path() {
    // int-2.1/checksum-03
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures/sessions.pcap");
    let input = fs::read(sessions).unwrap();
    // Everything is watched, and full-sized packets find room to grow.
    let mtu = "mtu = 9000\n[source]";
    let source = SOURCE.replace("destination_port = 80\n", "").replace("[source]", mtu);
    let transit = TRANSIT.replace("[offline]", "mtu = 9000\n[offline]");
    let sink = SINK.replace("[report]", "[report]\ntruncate = 256");
    let folder = domain_of("sessions", &input, [&source, &transit, &sink]);

    assert_eq!(folder.read("out"), input, "bit for bit");
    let packets = json(&folder, "decode --json transit");
    let reports = json(&folder, "decode --json --report-port 40000 reports");
    let is_ip = |record: &Record| record.data[12..14] == [0x08, 0x00] || record.data[12..14] == [0x86, 0xdd];
    let tcp_or_udp = records(&input).iter().filter(|record| is_ip(record)).filter(has_ports).count();
    assert_eq!((packets.len(), reports.len()), (tcp_or_udp, tcp_or_udp));
    assert!(tcp_or_udp >= 20, "{tcp_or_udp} TCP and UDP packets");
    for (packet, report) in packets.iter().zip(&reports) {
        assert_eq!(packet["checksum"], "ok", "{packet}");
        assert_eq!(report["reports"][0]["flow"], packet["flow"]);
        let hops = report["reports"][0]["int"][0]["hops"].as_array().unwrap();
        let path: Vec<_> = hops.iter().map(|hop| &hop["node_id"]).collect();
        assert_eq!(path, [3, 2, 1], "{report}");
    }
}

/// Whether an Ethernet frame carries TCP or UDP right behind its IPv4 or IPv6 header.
fn has_ports(record: &&Record) -> bool {
    let protocol = if record.data[12] == 0x08 { record.data[23] } else { record.data[20] };
    [6, 17].contains(&protocol)
}

/// Each instruction with the keys it asks for.
const INSTRUCTIONS: [(&str, &[&str]); 10] = [
    ("node-id", &["node_id"]),
    ("level1-interfaces", &["ingress_interface", "egress_interface"]),
    ("hop-latency", &["hop_latency"]),
    ("queue-occupancy", &["queue_id", "queue_occupancy"]),
    ("ingress-timestamp", &["ingress_timestamp"]),
    ("egress-timestamp", &["egress_timestamp"]),
    ("level2-interfaces", &["ingress_interface_level2", "egress_interface_level2"]),
    ("egress-utilization", &["egress_utilization"]),
    ("buffer-occupancy", &["buffer_id", "buffer_occupancy"]),
    ("checksum-complement", &["checksum_complement"]),
];

#[test]
fn whatever_is_unavailable_is_all_ones_and_nothing_else_is() {
    // int-2.1/md-24
    let names = INSTRUCTIONS.map(|(name, _)| name);
    let source = SOURCE
        .replace(
            "[\"node-id\", \"level1-interfaces\", \"ingress-timestamp\", \"egress-timestamp\"]",
            &format!("{names:?}"),
        )
        .replace("id = 1\nedge", "id = 1\nlevel2_id = 76\nedge")
        .replace("id = 2\n", "id = 2\nlevel2_id = 77\n")
        .replace("[source]", "[checksum]\nupdate = \"complement\"\n[source]");
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let input = capture(format, &[], &[record(1, LinkType::RAW, &[], &WATCHED)]);
    let keys_of_all: Vec<_> = INSTRUCTIONS.iter().flat_map(|(_, keys)| *keys).copied().collect();
    let cases = INSTRUCTIONS.map(|(name, keys)| (vec![name], keys));
    for (unavailable, keys) in cases.into_iter().chain([(vec![], &[][..]), (names.to_vec(), &keys_of_all)]) {
        let source = format!("{source}[offline]\nunavailable = {unavailable:?}\n");
        let folder = Folder::new("unavailable").with("in", &input).with("source.toml", source);
        folder.run("node -c source.toml --read in --write out --ingress 1 --egress 2");

        let packet = &json(&folder, "decode --json out")[0];
        let hop = packet["int"][0]["hops"][0].as_object().unwrap();

        assert_eq!(hop.len(), keys_of_all.len());
        let null: Vec<_> = hop.iter().filter(|(_, value)| value.is_null()).map(|(key, _)| key).collect();
        let mut expected = keys.to_vec();
        expected.sort_unstable();
        assert_eq!(null, expected, "unavailable = {unavailable:?}");
    }
}

#[test]
fn a_packet_without_a_capture_time_has_no_timestamps() {
    let at_1970 = Record { captured_at_ns: 0, ..record(1, LinkType::RAW, &[], &WATCHED) };
    let interfaces = [Interface { link_type: LinkType::RAW, ..Interface::default() }];
    let mut input = capture(Format::Pcapng { order: ByteOrder::Little }, &interfaces, &[at_1970]);
    // A simple packet: its type, its length, the packet's length and data.
    let length = u32::try_from(16 + WATCHED.len().next_multiple_of(4)).unwrap().to_le_bytes();
    let original_length = u32::try_from(WATCHED.len()).unwrap().to_le_bytes();
    let padding = vec![0; WATCHED.len().next_multiple_of(4) - WATCHED.len()];
    let simple = [&3_u32.to_le_bytes()[..], &length, &original_length, &WATCHED, &padding, &length].concat();
    input.extend(simple);
    let folder = domain("without-time", &input);

    let reports = json(&folder, "decode --json --report-port 40000 reports");
    let [of_1970, without_time] = &reports[..] else { panic!("{reports:?}") };
    for (report, available) in [(of_1970, true), (without_time, false)] {
        for hop in report["reports"][0]["int"][0]["hops"].as_array().unwrap() {
            assert_eq!(hop["ingress_timestamp"].is_u64(), available, "{hop}");
            assert_eq!(hop["egress_timestamp"].is_u64(), available, "{hop}");
        }
    }
}

#[test]
fn half_an_interface_word_of_all_ones_is_null_and_the_other_half_stays() {
    // int-2.1/md-24
    let source = SOURCE.replace("id = 1\nedge", "id = 65535\nedge");
    let format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 101 };
    let input = capture(format, &[], &[record(1, LinkType::RAW, &[], &WATCHED)]);
    let folder = Folder::new("half-a-word").with("in", &input).with("source.toml", source);
    folder.run("node -c source.toml --read in --write out --ingress 65535 --egress 2");

    let hop = &json(&folder, "decode --json out")[0]["int"][0]["hops"][0];
    assert!(hop["ingress_interface"].is_null(), "{hop}");
    assert_eq!(hop["egress_interface"], 2);
}
