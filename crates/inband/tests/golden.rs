//! Does the program do what every golden directory shows, and do they show what the specification prints?

use std::fs;
use std::path::{Path, PathBuf};

use inband_testkit::golden::{Capture, Golden};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden")
}

#[test]
fn every_golden_directory_holds() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    let golden = Golden::new(Path::new(env!("CARGO_BIN_EXE_inband")), &scratch);

    let (count, failures) = golden.run_all(&root()).expect("the golden directories can be read");

    assert!(count > 0, "there are golden directories");
    assert!(failures.is_empty(), "{} of {count} fail\n\n{}", failures.len(), failures.join("\n\n"));
}

/// What the figures of INT 2.1 "Examples" print for the packet that arrives at the sink. A golden directory can be
/// blessed by mistake; these bytes cannot.
// int-2.1/l4-25, int-2.1/l4-26, int-2.1/l4-29, int-2.1/l4-12, int-2.1/l4-28, int-2.1/l4-06, int-2.1/l4-07
// int-2.1/gre-06, int-2.1/gre-07, int-2.1/gre-10, int-2.1/gre-12
// int-2.1/vxlan-01, int-2.1/vxlan-02, int-2.1/vxlan-03, int-2.1/vxlan-06, int-2.1/vxlan-07
// int-2.1/geneve-01, int-2.1/geneve-02, int-2.1/mx-17, int-2.1/md-10, int-2.1/md-20, int-2.1/md-21
const FIGURES: [(&str, &str, &str); 16] = [
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

#[test]
fn worked_examples_hold_the_bytes_of_the_figures() {
    for (directory, capture, figure) in FIGURES {
        let capture = read(directory, capture);
        let figure = Capture::parse(figure).expect("a figure is hexadecimal").packets.remove(0).bytes;
        let packet = &capture.packets[0].bytes;
        assert!(packet.windows(figure.len()).any(|bytes| bytes == figure), "{directory}: {packet:02x?}");
    }
}

#[test]
fn worked_examples_leave_the_domain_as_they_entered() {
    // int-2.1/sink-01
    for (directory, _, _) in FIGURES {
        assert_eq!(read(directory, "host2"), read(directory, "host1"), "{directory}");
    }
}

fn read(directory: &str, capture: &str) -> Capture {
    let path = root().join(directory).join(capture).with_extension("hex");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Capture::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
