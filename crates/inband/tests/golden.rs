//! Every golden directory shows what the program does; those of the specification's figures show the printed
//! bytes.

use std::fs;
use std::path::{Path, PathBuf};

use inband_testkit::golden::{Capture, Golden};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden")
}

#[test]
fn every_golden_directory_holds() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{}", std::process::id()));
    let golden = Golden::new(Path::new(env!("CARGO_BIN_EXE_inband")), &scratch);

    let (count, failures) = golden.run_all(&root()).expect("the golden directories can be read");

    assert!(count > 0, "there are golden directories");
    assert!(failures.is_empty(), "{} of {count} fail\n\n{}", failures.len(), failures.join("\n\n"));
    let _ = fs::remove_dir_all(&scratch);
}

/// What the figures of INT 2.1 "Examples" print for the packet that arrives at the sink. A golden directory can be
/// blessed by mistake; these bytes cannot.
// int-2.1/l4-25, int-2.1/l4-26, int-2.1/l4-29, int-2.1/l4-12, int-2.1/l4-28, int-2.1/l4-06, int-2.1/l4-07
// int-2.1/gre-06, int-2.1/gre-07, int-2.1/gre-10, int-2.1/gre-12
// int-2.1/vxlan-01, int-2.1/vxlan-02, int-2.1/vxlan-03, int-2.1/vxlan-06, int-2.1/vxlan-07
// int-2.1/geneve-01, int-2.1/geneve-02, int-2.1/mx-17, int-2.1/md-10, int-2.1/md-20, int-2.1/md-21
const FIGURES: [(&str, &str, &str); 18] = [
    ("int-2.1-md-tcp", "switch2", "10070000 20000206 90000000 00000000 00000002"),
    ("int-2.1-mx-tcp", "switch2", "30030000 20000000 90000000 00000000"),
    ("int-2.1-new-udp-md-tcp", "switch2", "18070006 20000206 90000000 00000000 00000002"),
    ("int-2.1-new-udp-mx-tcp", "switch2", "38030006 20000000 90000000 00000000"),
    // The original port, 7777, is 0x1e61.
    ("int-2.1-md-udp", "switch2", "14071e61 20000206 90000000 00000000 00000002"),
    ("int-2.1-mx-udp", "switch2", "34031e61 20000000 90000000 00000000"),
    ("int-2.1-new-ip-mx-ipsec", "switch2", "38030004 20000000 90000000 00000000 45"),
    ("int-2.1-gre-md-ipv4", "switch2", "00004569 18070800 20000206 90000000 00000000 00000002"),
    ("int-2.1-gre-mx-ipv4", "switch2", "00004569 38030800 20000000 90000000 00000000 45"),
    ("int-2.1-gre-md-ethernet", "switch2", "00004569 18076558 20000206 90000000 00000000 00000002"),
    ("int-2.1-gre-mx-ethernet", "switch2", "00004569 38036558 20000000 90000000 00000000"),
    ("int-2.1-vxlan-gpe-md", "switch4", "0c000082 00002a00 10090003 20000205 90000000 00000000 00000004"),
    ("int-2.1-vxlan-gpe-mx", "switch4", "0c000082 00002a00 30030003 20000000 90000000 00000000"),
    ("int-2.1-vxlan-md", "switch2", "0c000082 00002a00 10078003 20000206 90000000 00000000 00000002"),
    // The figures count the option without its own header; OptLen is 1 more, as RFC 8926 has it.
    ("int-2.1-geneve-md", "switch4", "0a006558 00002a00 01030109 20000205 90000000 00000000 00000004"),
    ("int-2.1-geneve-mx", "switch4", "04006558 00002a00 01030303 20000000 90000000 00000000"),
    ("int-2.1-mx-source-inserted", "switch2", "38050006 20000000 9000abcd c0000000 0000000f 12345678"),
    (
        "int-2.1-md-source-only",
        "switch3",
        "18080006 20000105 80005453 80004000 00000003 00000002 00000001 a61af6b1 647d0000",
    ),
];

/// The worked examples of the documents, by their headings.
const WORKED_EXAMPLES: [&str; 30] = [
    "INT 2.1, Examples: Example with INT-MD over TCP",
    "INT 2.1, Examples: Example with INT-MX over TCP",
    "INT 2.1, Examples: Example with new UDP header and INT-MD inserted before TCP",
    "INT 2.1, Examples: Example with new UDP header and INT-MX inserted before TCP",
    "INT 2.1, Examples: Example with INT-MD in-between UDP header and UDP payload",
    "INT 2.1, Examples: Example with INT-MX in-between UDP header and UDP payload",
    "INT 2.1, Examples: Example with new IP and UDP headers and INT-MX inserted before IPSec",
    "INT 2.1, Examples: Example with INT-MD over IPv4/GRE (Original packet IPv4)",
    "INT 2.1, Examples: Example with INT-MX over IPv4/GRE (Original packet IPv4)",
    "INT 2.1, Examples: Example with INT-MD over IPv4/GRE (Original packet CE or IP)",
    "INT 2.1, Examples: Example with INT-MX over IPv4/GRE (Original packet CE or IP)",
    "INT 2.1, Examples: Example with INT-MD over VXLAN GPE",
    "INT 2.1, Examples: Example with INT-MX over VXLAN GPE",
    "INT 2.1, Examples: Example with INT-MD over Geneve",
    "INT 2.1, Examples: Example with INT-MX over Geneve",
    "INT 2.1, Examples: Example with INT-MX including domain specific source-inserted metadata",
    "INT 2.1, Examples: Example with INT-MD including domain specific source-only metadata",
    "INT 1.0, Examples: Example with INT over TCP",
    "INT 1.0, Examples: Example with INT over VXLAN-GPE",
    "INT 1.0, Examples: Example with INT over Geneve",
    "INT 0.5, Examples: Example with INT over TCP",
    "INT 0.5, Examples: Example with VXLAN GPE encapsulation",
    "INT 0.5, Examples: Example with Geneve encapsulation",
    "INT 2016, 5.4 Examples: Example with Geneve encapsulation",
    "INT 2016, 5.4 Examples: Example with VXLAN GPE encapsulation",
    "Host INT extensions: Combined INT header sequence sent in packets from source hosts",
    "Host INT extensions: Drop Report",
    "Telemetry Report 2.0, Examples",
    "Telemetry Report 1.0",
    "Telemetry Report 0.5",
];

#[test]
fn every_worked_example_is_a_golden_directory() {
    let cases = fs::read_dir(root()).expect("the golden directories can be read").map(|entry| {
        let case = entry.expect("a directory has a name").path().join("case.toml");
        fs::read_to_string(&case).unwrap_or_else(|error| panic!("{}: {error}", case.display()))
    });
    let cases: Vec<String> = cases.collect();
    for example in WORKED_EXAMPLES {
        let section = format!("section = \"{example}\"");
        assert!(cases.iter().any(|case| case.lines().any(|line| line == section)), "{example}");
    }
}

#[test]
fn worked_examples_hold_the_bytes_of_the_figures() {
    for (directory, capture, figure) in FIGURES {
        let capture = read(directory, capture);
        let figure = Capture::parse(figure).expect("a figure is hexadecimal").packets.remove(0).bytes;
        let packet = &capture.packets[0].bytes;
        assert!(packet.windows(figure.len()).any(|bytes| bytes == figure), "{directory}: {packet:02x?}");
    }
}

/// The figures of versions before 2.0: of INT 2016 "Examples" and of Host-INT "Combined INT header sequence
/// sent in packets from source hosts". The stacks of 2016 are in its figures; their values are ours.
const OLDER_FIGURES: [(&str, &str, &str); 8] = [
    (
        "int-2016-geneve",
        "switch3",
        "0f006558 12345600 00ab0108 00021003 90000000 00000003 000000aa 00000002 00000102 00000001 80000203 \
         00ab0205 00011003 10000000 00000003 00000002 80000001",
    ),
    (
        "int-2016-vxlan-gpe",
        "switch3",
        "0c000005 12345600 01000905 00021003 90000000 00000003 000000aa 00000002 00000102 00000001 80000203 \
         02000603 00011003 10000000 00000003 00000002 80000001",
    ),
    ("int-2016-geneve-source", "switch1", "03006558 12345600 00ab0102 00021000 90000000 02"),
    ("int-2016-geneve-source", "switch4", "09006558 12345600 00ab0108 00021003 90000000 00000003"),
    ("int-2016-vxlan-gpe-source", "switch1", "0c000005 12345600 01000303 00021000 90000000 02"),
    ("int-2016-vxlan-gpe-source", "switch4", "0c000005 12345600 01000903 00021003 90000000 00000003"),
    (
        "host-int-over-tcp-udp-tcp",
        "switch1",
        "03000900 00040201 cc000000 00000002 00040004 59682f00 59682f00",
    ),
    ("host-int-extension-udp-udp", "switch1", "9c418162 00440000 03000900 00040201 cc000000 00000002"),
];

/// Packets built by others that our nodes send too.
const SAME_PACKETS: [(&str, &str, &str); 10] = [
    ("int-1.0-tcp", "switch2", "int-1.0-tcp-dscp17-hbh"),
    ("int-1.0-geneve", "switch3", "int-1.0-geneve-hbh"),
    ("int-1.0-vxlan-gpe", "switch3", "int-1.0-vxlan-gpe-hbh"),
    ("int-0.5-tcp", "switch2", "int-0.5-tcp-dscp17-hbh"),
    ("int-0.5-geneve", "switch3", "int-0.5-geneve-hbh-plus-dest"),
    ("int-0.5-vxlan-gpe", "switch3", "int-0.5-vxlan-gpe-hbh-plus-dest"),
    ("host-int-over-tcp-udp-tcp", "switch1", "host-int-over-tcp-udp-tcp"),
    ("host-int-over-tcp-udp-udp", "switch1", "host-int-over-tcp-udp-udp"),
    ("host-int-extension-udp-tcp", "switch1", "host-int-extension-udp-tcp"),
    ("host-int-extension-udp-udp", "switch1", "host-int-extension-udp-udp"),
];

#[test]
fn worked_examples_of_older_versions_hold_the_bytes_of_the_figures() {
    for (directory, capture, figure) in OLDER_FIGURES {
        let figure = Capture::parse(figure).expect("a figure is hexadecimal").packets.remove(0).bytes;
        let packet = read(directory, capture).packets.remove(0).bytes;
        assert!(packet.windows(figure.len()).any(|bytes| bytes == figure), "{directory}: {packet:02x?}");
    }
}

#[test]
fn nodes_of_older_versions_send_the_packets_that_others_built() {
    for (directory, capture, packet) in SAME_PACKETS {
        let ours = read(directory, capture).packets.remove(0).bytes;
        let theirs = read("../packets", packet).packets.remove(0).bytes;
        assert_eq!(ours, theirs, "{directory}");
    }
}

#[test]
fn a_sink_of_host_int_tells_latency_in_the_report_that_others_built() {
    // host-int-0.5/report-01, host-int-0.5/report-03, host-int-0.5/report-04
    for (ours, theirs) in
        [("reports", "host-int-latency-report-nodeid"), ("unnamed", "host-int-latency-report-no-nodeid")]
    {
        let mut ours = read("host-int-latency", ours).packets.remove(0).bytes.split_off(42);
        let mut theirs = read("../packets", theirs).packets.remove(0).bytes.split_off(42);
        assert_eq!(ours.len(), theirs.len());
        // Length and checksum of the reported UDP header are not corrected; the reference has a placeholder
        // there.
        let udp = ours.len() - 48 - 8;
        ours.drain(udp + 4..udp + 8);
        theirs.drain(udp + 4..udp + 8);
        // Sequence number and time of the report are the sender's own.
        ours.drain(4..12);
        theirs.drain(4..12);
        assert_eq!(ours, theirs);
    }
}

#[test]
fn a_transit_hop_of_2016_adds_what_the_known_one_added() {
    // The reference is a router's: MAC addresses, TTL and header checksum are its own.
    let ours = read("int-2016-transit", "transit").packets.remove(0).bytes;
    let theirs = read("../packets", "int-2016-transit-1hop-out").packets.remove(0).bytes;
    assert_eq!(ours[26..], theirs[26..]);
}

/// Shim and metadata header of the packet that the second node of a dialect's domain sends, written bit by
/// bit after the implementations: E is 0x04 with a version of 2 bits, and 0x01 of the first byte two bits
/// lower.
const DIALECTS: [(&str, &str); 4] = [
    ("int-1.0-geant", "01001700 10000a06 ff000001 00000002"),
    ("int-0.5-geant", "01000900 04030101 8c000000 00000001"),
    ("int-0.5-onos", "01000600 04020101 90000000 00000001"),
    ("int-2.1-cablelabs", "022b0048 0000 18060006 21000100 80005453 80004000 00000001"),
];

#[test]
fn nodes_write_a_dialect_as_its_implementation_does() {
    for (directory, figure) in DIALECTS {
        let figure = Capture::parse(figure).expect("a figure is hexadecimal").packets.remove(0).bytes;
        let packet = read(directory, "switch2").packets.remove(0).bytes;
        assert!(packet.windows(figure.len()).any(|bytes| bytes == figure), "{directory}: {packet:02x?}");
    }
}

#[test]
fn worked_examples_leave_the_domain_as_they_entered() {
    // int-2.1/sink-01
    for (directory, _, _) in FIGURES {
        assert_eq!(read(directory, "host2"), read(directory, "host1"), "{directory}");
    }
    // In the excluded ones host1 inserts INT itself.
    let is_plain =
        |directory: &&str| !directory.starts_with("int-0.5-g") && !directory.starts_with("int-0.5-v");
    for directory in SAME_PACKETS.into_iter().map(|(directory, _, _)| directory).filter(is_plain) {
        assert_eq!(read(directory, "host2"), read(directory, "host1"), "{directory}");
    }
    for (directory, _) in DIALECTS {
        assert_eq!(read(directory, "host2"), read(directory, "host1"), "{directory}");
    }
}

fn read(directory: &str, capture: &str) -> Capture {
    let path = root().join(directory).join(format!("{capture}.hex"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Capture::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
