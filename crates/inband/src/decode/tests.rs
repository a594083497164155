//! Every packet is shown as what it is, and no packet stops the decoding.

use clap::Parser;
use inband_capture::{LinkType, Record};
use inband_explain::Options;
use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use serde_json::Value;

use super::options::OptionsArgs;
use super::packet::Packet;

/// TCP with INT-MD behind it: shim at byte 54, header at 58, two hops from 70 and 78.
const INT_MD: &str = "\
    0200000000020200000000010800455c0058000040004006233f0a0101010a0202029c400050000010000000200050182000\
    9a7a00001007000020000206900000000000000022222222030001021111111101000203494e542d746573742d7061796c6f6164";

/// A report 2.0 with an embedded INT-MD packet: group header at byte 42, report at 50, inner packet at 66.
const REPORT: &str = "\
    001e67d2eeee00000000aa010800450000840000400040115519c0a80001c0a863fe00007ffe0070000020000003000000031417\
    012010000000000000000000004d4500006000004000401123880a0101010a020202c0de8162004c00001807000620000206900000\
    00000000002222222203000102111111110100020\
    39c400050000010000000200050182000ac360000";

/// IPv4 and UDP to the report port, marked by DSCP 0x17, with INT-MD behind UDP: the shim at byte 28.
const INSTRUMENTED_REPORT: &str = "\
    455c00400000400040110000c0a80001c0a863fe00007ffe002c0000\
    100500002000020790000000000000002222222203000102\
    0000000000000000000000000000000000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn record(link_type: LinkType, data: Vec<u8>) -> Record {
    let original_length = u32::try_from(data.len()).unwrap();
    Record { number: 7, captured_at_ns: 5, link_type, original_length, data, ..Record::default() }
}

fn ethernet(hex: &str) -> Record {
    record(LinkType::ETHERNET, bytes(hex))
}

fn options(arguments: &[&str]) -> Options {
    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        options: OptionsArgs,
    }
    let arguments = std::iter::once("decode").chain(arguments.iter().copied());
    Only::try_parse_from(arguments).unwrap().options.resolve().unwrap()
}

/// The JSON line and the text of a record; `None` when it carries neither INT nor a report.
fn decoded(record: &Record, options: &Options) -> Option<(Value, String)> {
    let packet = Packet::read(record, options)?;
    let (mut line, mut block) = (Vec::new(), Vec::new());
    packet.write_json(&mut line).unwrap();
    packet.write_text(&mut block).unwrap();
    Some((serde_json::from_slice(&line).unwrap(), String::from_utf8(block).unwrap()))
}

fn line(record: &Record, arguments: &[&str]) -> Value {
    decoded(record, &options(arguments)).map_or(Value::Null, |(line, _)| line)
}

#[test]
fn a_whole_packet_gives_the_last_hop_first() {
    let line = line(&ethernet(INT_MD), &[]);
    assert_eq!((&line["packet"], &line["time"]), (&7.into(), &5.into()));
    assert_eq!(line["checksum"], "ok");
    assert_eq!(line["int"][0]["hops"][0]["node_id"], 0x2222_2222);
    assert_eq!(line["int"][0]["hops"][1]["queue_occupancy"], 0x203);
}

#[test]
fn a_packet_cut_by_the_capture_gives_the_hops_that_are_there() {
    let mut cut = ethernet(INT_MD);
    cut.data.truncate(81);
    let (line, text) = decoded(&cut, &options(&[])).unwrap();
    assert_eq!(line["checksum"], "unverifiable");
    assert_eq!(line["int"][0]["hops"].as_array().unwrap().len(), 1);
    assert_eq!(line["int"][0]["hops_missing"], 1);
    assert!(text.contains("81 of 102 bytes") && text.contains("1 hop more, cut off here"), "{text}");
}

#[test]
fn a_packet_cut_inside_a_header_is_malformed_and_says_why() {
    let mut cut = ethernet(INT_MD);
    cut.data.truncate(60);
    let (line, text) = decoded(&cut, &options(&[])).unwrap();
    assert_eq!(line["kind"], "malformed");
    assert_eq!(line["error"], "INT-MD header at byte 58: 12 bytes needed, 2 left");
    assert!(text.contains("The capture kept only the beginning"), "{text}");
}

#[test]
fn offsets_count_from_the_start_of_the_captured_frame() {
    let mut cooked = vec![0; 14];
    cooked.extend([0x08, 0x00]);
    cooked.extend(&bytes(INT_MD)[14..]);
    cooked[16 + 41] = 2; // The shim's Length.
    let line = line(&record(LinkType::LINUX_SLL, cooked), &[]);
    assert_eq!(line["error"], "INT shim at byte 56: Length 2 is less than 3");

    let mut report = vec![0; 14];
    report.extend([0x08, 0x00]);
    report.extend(&bytes(REPORT)[14..]);
    report[16 + 81] = 0; // Length of the shim in the reported packet, which is at byte 96.
    let (line, text) = decoded(&record(LinkType::LINUX_SLL, report), &options(&[])).unwrap();
    assert_eq!(line["reports"][0]["inner_error"], "INT shim at byte 96: Length 0 is less than 3");
    assert!(text.contains("Individual report 1 at byte 52"), "{text}");
}

#[test]
fn a_report_shows_the_int_of_the_packet_in_it() {
    let (line, text) = decoded(&ethernet(REPORT), &options(&[])).unwrap();
    assert_eq!(line["reports"][0]["metadata"]["queue_occupancy"], 77);
    assert_eq!(line["reports"][0]["flow"]["destination_port"], 80);
    assert_eq!(line["reports"][0]["int"][0]["original"]["ip_protocol"], 6);
    assert!(text.contains("INT shim at byte 94"), "{text}");
}

#[test]
fn what_can_be_read_to_the_letter_decides_between_int_and_report() {
    // A report whose DSCP happens to be the one that marks INT.
    let mut marked = ethernet(REPORT);
    marked.data[15] = 0x17 << 2;
    assert_eq!(line(&marked, &[])["kind"], "report");

    // A report on its way through an INT domain.
    let mut carried = record(LinkType::RAW, bytes(INSTRUMENTED_REPORT));
    for arguments in [&[][..], &["--lenient"]] {
        let line = line(&carried, arguments);
        assert_eq!((&line["kind"], &line["flow"]["destination_port"]), (&"int".into(), &32766.into()));
    }
    // Neither: the port is the stronger evidence.
    carried.data[29] = 2;
    assert_eq!(
        line(&carried, &[])["error"],
        "report header at byte 28: Length is 0, the other fields imply 5"
    );
}

#[test]
fn options_replace_the_defaults() {
    assert_eq!(line(&ethernet(INT_MD), &["--dscp", "0x20/0x20"]), Value::Null);
    assert_eq!(line(&ethernet(INT_MD), &["--dscp", "1", "--dscp", "0x17"])["kind"], "int");
    assert_eq!(line(&ethernet(INT_MD), &["--udp-port", "5000"])["kind"], "int");
    assert_eq!(line(&ethernet(REPORT), &["--report-port", "5000"]), Value::Null);
    // The reported packet carries INT behind UDP port 33122, which this option replaces.
    assert_eq!(line(&ethernet(REPORT), &["--udp-port", "5000"])["reports"][0]["int"], Value::Array(vec![]));
}

#[test]
fn a_packet_that_claims_to_be_a_report_and_is_longer_than_its_frame_is_malformed() {
    let mut long = ethernet(REPORT);
    long.data[17] += 1;
    assert_eq!(line(&long, &[])["error"], "IPv4 header at byte 14: 133 bytes needed, 132 left");
    let mut long = ethernet(REPORT);
    long.data[39] += 1;
    assert_eq!(line(&long, &[])["error"], "UDP header at byte 34: Length 113 is more than 112");
}

#[test]
fn other_packets_give_nothing() {
    let mut plain = ethernet(INT_MD);
    plain.data[15] = 0;
    assert_eq!(line(&plain, &[]), Value::Null);
    assert_eq!(line(&record(LinkType(42), bytes(INT_MD)), &[]), Value::Null);
    assert_eq!(line(&record(LinkType::ETHERNET, Vec::new()), &[]), Value::Null);
}

proptest! {
    #[test]
    fn no_packet_stops_the_decoding(
        hex in 0..3_usize,
        changes in vec((any::<usize>(), any::<u8>()), 0..6),
        cut in any::<usize>(),
        lenient in any::<bool>(),
        claimed in 0..200_u32,
    ) {
        let mut data = bytes([INT_MD, REPORT, INSTRUMENTED_REPORT][hex]);
        for (at, value) in changes {
            let at = at % data.len();
            data[at] = value;
        }
        data.truncate(cut % (data.len() + 1));
        let link_type = if hex == 2 { LinkType::RAW } else { LinkType::ETHERNET };
        let record = Record { original_length: claimed, ..record(link_type, data) };
        let options = options(if lenient { &["--lenient"] } else { &[] });
        if let Some((line, text)) = decoded(&record, &options) {
            assert!(["int", "report", "malformed"].contains(&line["kind"].as_str().unwrap()));
            assert!(text.starts_with("Packet 7") && text.ends_with("\n\n"));
        }
    }
}
