//! The command line: exit codes, messages, stdin, help.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use inband_capture::{ByteOrder, Format, Interface, LinkType, Record, Writer};

use crate::folder::Folder;

const NODE: &str = "\
node.id = 1

[[interface]]
id = 1
edge = true

[[interface]]
id = 2
";

/// A capture of `testdata/vectors`.
fn vector(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors").join(name)).unwrap()
}

#[test]
fn every_subcommand_explains_itself_with_an_example() {
    let folder = Folder::new("help");
    let help = folder.run("--help");
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for subcommand in ["decode", "doctor", "node", "host", "query"] {
        assert!(help.stdout.contains(subcommand), "{}", help.stdout);
        let help = folder.run(&format!("{subcommand} --help"));
        assert_eq!((help.code, help.stderr.as_str()), (0, ""));
        assert!(help.stdout.contains(&format!("\n  inband {subcommand} ")), "{}", help.stdout);
    }
}

#[test]
fn a_wrong_command_line_gives_2() {
    let folder = Folder::new("usage");
    for arguments in [
        "",
        "decod x",
        "decode",
        "decode --jason x",
        "decode --dscp 0x40 x",
        "decode --dscp 3/1 x",
        "decode --udp-port 65536 x",
        "node -c node.toml",
    ] {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments}: {outcome:?}");
        assert!(outcome.stdout.is_empty() && !outcome.stderr.is_empty(), "{arguments}: {outcome:?}");
    }
}

#[test]
fn wrong_options_of_trace_and_top_give_2() {
    let encapsulation = format!("{NODE}[encapsulation]\nkind = \"geneve\"\n");
    let folder = Folder::new("wrong_options").with("geneve.toml", encapsulation);
    for arguments in [
        "trace 127.0.0.1 --collector ftp://x",
        "trace 127.0.0.1 --collector=",
        "trace 127.0.0.1 -c geneve.toml",
        "top ftp://x",
        "top https://x --authorities missing.pem",
    ] {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments}: {outcome:?}");
    }
}

#[test]
fn a_mistake_in_an_interface_of_a_switch_is_shown_there() {
    let interface = |id: u8, more: &str| format!("[[interface]]\nid = {id}\ndevice = \"none{id}\"\n{more}");
    let file = format!("node.id = 1\n{}{}", interface(1, ""), interface(2, "queue_bytes = 5\n"));
    let folder = Folder::new("switch_interface").with("leaf.toml", file);

    let outcome = folder.run("switch -c leaf.toml");

    assert_eq!(outcome.code, 2, "{outcome:?}");
    let expected = "leaf.toml:8:15: interface.queue_bytes is 5 for interface 2, expected at least 1600";
    assert!(outcome.stderr.contains(expected), "{outcome:?}");
}

#[test]
fn a_capture_that_cannot_be_read_gives_1() {
    let folder = Folder::new("unreadable").with("text.pcap", "hello, world\n").with("empty.pcap", "");
    let cases = [
        ("decode missing.pcap", "error: cannot open missing.pcap: No such file"),
        ("decode text.pcap", "error: text.pcap: not a pcap or pcapng file: its first four bytes are"),
        ("decode empty.pcap", "error: empty.pcap: not a pcap or pcapng file: it is empty"),
        ("decode .", "error: .: cannot read at byte 0: Is a directory"),
    ];
    for (arguments, message) in cases {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, 1, "{arguments}: {outcome:?}");
        assert!(outcome.stderr.starts_with(message), "{arguments}: {outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 1, "one message: {outcome:?}");
    }
}

#[test]
fn a_truncated_capture_gives_what_could_be_read_and_one_message() {
    let file = vector("int_v2_1.pcap");
    let folder = Folder::new("truncated").with("cut.pcap", &file[..300]);
    let outcome = folder.run("decode --json cut.pcap");
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (1, 2), "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "error: cut.pcap: capture ends inside a pcap record at byte 268: 130 bytes needed, 32 left\n"
    );
}

#[test]
fn malformed_packets_alone_are_no_failure() {
    let folder = Folder::new("malformed").with("int.pcap", vector("int_v2_1.pcap"));
    let outcome = folder.run("decode --json int.pcap");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert_eq!(
        outcome.stdout.lines().last().unwrap(),
        "{\"packet\":5,\"time\":1700000000004000000,\"kind\":\"malformed\",\
         \"error\":\"INT shim at byte 42: Length 2 is less than 3\"}"
    );
}

#[test]
fn a_capture_without_int_says_so() {
    let folder = Folder::new("without").with("int.pcap", vector("int_v2_1.pcap"));
    let options = "--dscp 1 --udp-port 1 --gre-protocol 1 --vxlan-gpe-next-protocol 1";
    let outcome = folder.run(&format!("decode {options} int.pcap"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""));
    assert_eq!(outcome.stderr, "int.pcap: 5 packets read, none with INT or a telemetry report\n");
}

#[test]
fn a_capture_of_a_link_type_that_is_not_known_gives_1_and_names_it() {
    let mut file = vector("report_v2_0.pcap");
    // The link type of a pcap file.
    file[20..24].copy_from_slice(&147_u32.to_le_bytes());
    let folder =
        Folder::new("link-type").with("other.pcap", &file).with("collector.toml", "[store]\npath = \"\"\n");
    let message = "error: other.pcap: 8 packets of link type 147, which is not known: nothing was read\n";

    let decoded = folder.run("decode --json other.pcap");
    let collected = folder.run("collect -c collector.toml --read other.pcap");

    assert_eq!((decoded.code, decoded.stdout.as_str(), decoded.stderr.as_str()), (1, "", message));
    assert_eq!(collected.code, 1, "{collected:?}");
    assert!(collected.stderr.ends_with(message), "{}", collected.stderr);
    assert!(!collected.stderr.contains("holds no datagram"), "{}", collected.stderr);
}

#[test]
fn packets_of_a_link_type_that_is_not_known_are_noted_beside_others() {
    let interfaces =
        [LinkType(147), LinkType::ETHERNET].map(|link_type| Interface { link_type, ..Interface::default() });
    let mut writer = Writer::new(Vec::new(), Format::Pcapng { order: ByteOrder::Little }).unwrap();
    for (number, link_type) in (1..).zip([LinkType(147), LinkType::ETHERNET, LinkType(147)]) {
        let record = Record {
            number,
            interface: usize::from(link_type == LinkType::ETHERNET),
            link_type,
            original_length: 60,
            data: vec![0; 60],
            ..Record::default()
        };
        writer.write_record(&record, &interfaces).unwrap();
    }
    let folder = Folder::new("link-types").with("both.pcapng", writer.finish().unwrap());

    let outcome = folder.run("decode both.pcapng");

    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "note: both.pcapng: 2 of 3 packets not read: link type 147 is not known\n\
         both.pcapng: 3 packets read, none with INT or a telemetry report\n"
    );
}

#[test]
fn stdin_is_read_for_a_dash() {
    let folder = Folder::new("stdin");
    let outcome = folder.run_with("decode --json -", &vector("report_v2_0.pcap"));
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 8), "{outcome:?}");
    let outcome = folder.run_with("decode -", b"hello");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.starts_with("error: stdin: not a pcap"), "{outcome:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let file = vector("int_v2_1.pcap");
    let long = [&file[..24], &file[24..].repeat(2_000)].concat();
    let folder = Folder::new("pipe").with("long.pcap", long);
    let mut child = folder.command("decode long.pcap").spawn().unwrap();
    let mut first = String::new();
    // The reader is dropped after one line, as `head -1` does.
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first.starts_with("Packet 1, "));
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]));
}

#[test]
fn a_reader_that_is_gone_before_the_result_is_no_failure() {
    let folder = Folder::new("pipe-of-a-lab");
    let mut child = folder.command("lab traffic send 127.0.0.1 --port 9 --for 300ms").spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_wrong_configuration_gives_2_and_names_line_and_nearest_key() {
    let cases = [
        (
            "[source]\nmod = \"md\"",
            "error: node.toml:11:1: unknown key `mod` in [source]; did you mean `mode`?\n",
        ),
        (
            "[source]\ninstructions = [\"nodeid\", \"queue\"]",
            "error: node.toml:11:16: unknown instructions `nodeid`, `queue` in [source]; did you mean `node-id`, \
             `queue-occupancy`?\n",
        ),
        (
            "[[watch]]\nsource = \"10.0.0.0/33\"",
            "error: node.toml:11:10: the length of prefix `10.0.0.0/33` is not a number from 0 to 32\n",
        ),
        (
            "[encapsulation]\nkind = \"udpport\"",
            "error: node.toml:11:8: unknown value `udpport` in [encapsulation]; did you mean `udp-port`?\n",
        ),
        ("[report]\nhw_id = 64", "error: node.toml:11:9: report.hw_id is 64, expected 0 to 63\n"),
        ("[sorce]", "error: node.toml:10:2: unknown key `sorce`; did you mean `source`?\n"),
    ];
    for (text, message) in cases {
        let folder = Folder::new("configuration").with("node.toml", format!("{NODE}\n{text}\n"));
        let outcome = folder.run("node -c node.toml --read in --write out --ingress 1 --egress 2");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with(message), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 3, "message, line and mark: {}", outcome.stderr);
    }
}

#[test]
fn a_configuration_that_is_missing_gives_2() {
    let folder = Folder::new("no-configuration");
    for arguments in
        ["node -c node.toml --read in --write out --ingress 1 --egress 2", "decode -c node.toml in.pcap"]
    {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.starts_with("error: cannot read node.toml: No such file"), "{outcome:?}");
    }
}

#[test]
fn decode_takes_code_points_from_a_node() {
    let node = format!("{NODE}\n[encapsulation]\ndscp = 0x20\nudp_port = 5000\n");
    let folder = Folder::new("decode-node").with("node.toml", node).with("int.pcap", vector("int_v2_1.pcap"));
    let kinds = |arguments: &str| {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        outcome.stdout.lines().count()
    };
    assert_eq!(kinds("decode --json int.pcap"), 5);
    // GRE and VXLAN-GPE have the default marks, DSCP and UDP port do not.
    assert_eq!(kinds("decode --json -c node.toml int.pcap"), 2);
    assert_eq!(kinds("decode --json -c node.toml --dscp 0x17 int.pcap"), 4);
}

#[test]
fn node_refuses_what_would_destroy_its_input() {
    let folder = Folder::new("same").with("node.toml", NODE).with("in.pcap", vector("int_v2_1.pcap"));
    std::os::unix::fs::symlink("in.pcap", folder.path("link.pcap")).unwrap();
    let cases = [
        ("--read in.pcap --write in.pcap", "--read and --write are the same file: in.pcap"),
        ("--read in.pcap --write ./link.pcap", "--read and --write are the same file: ./link.pcap"),
        (
            "--read in.pcap --write out.pcap --reports ./out.pcap",
            "--write and --reports are the same file: ./out.pcap",
        ),
        ("--read in.pcap --write - --json", "--json and --write - both want stdout"),
    ];
    for (arguments, message) in cases {
        let outcome = folder.run(&format!("node -c node.toml {arguments} --ingress 1 --egress 2"));
        assert_eq!((outcome.code, outcome.stderr), (2, format!("error: {message}\n")));
    }
    assert_eq!(folder.read("in.pcap"), vector("int_v2_1.pcap"));
}

#[test]
fn node_refuses_to_write_over_its_configurations() {
    let folder = Folder::new("own-configuration")
        .with("node.toml", NODE)
        .with("later.toml", NODE)
        .with("in.pcap", vector("int_v2_1.pcap"));
    for (arguments, message) in [
        ("--write node.toml", "--config and --write are the same file: node.toml"),
        ("--write out --reports ./node.toml", "--config and --reports are the same file: ./node.toml"),
        (
            "--write out --reports later.toml --reload 3:later.toml",
            "--reload and --reports are the same file: later.toml",
        ),
        (
            "--write out --replies later.toml --reload 1:node.toml --reload 3:later.toml",
            "--reload and --replies are the same file: later.toml",
        ),
    ] {
        let arguments = format!("node -c node.toml --read in.pcap {arguments} --ingress 1 --egress 2");
        let outcome = folder.run(&arguments);
        assert_eq!((outcome.code, outcome.stderr), (2, format!("error: {message}\n")), "{arguments}");
    }
    assert_eq!((folder.read("node.toml"), folder.read("later.toml")), (NODE.into(), NODE.into()));
}

#[test]
fn node_notes_a_reload_that_comes_to_nothing() {
    let folder = Folder::new("late-reload").with("node.toml", NODE).with("in.pcap", vector("int_v2_1.pcap"));
    let run = |reload: &str| {
        let options = "--read in.pcap --write out --ingress 1 --egress 2 --json";
        folder.run(&format!("node -c node.toml {options} --reload {reload}:node.toml"))
    };

    let (applied, last, late) = (run("4"), run("5"), run("99"));

    assert_eq!((applied.code, applied.stderr.as_str()), (0, ""));
    for (outcome, after) in [(last, 5), (late, 99)] {
        let note =
            format!("note: --reload {after}:node.toml had no effect: no packet follows packet {after}\n");
        assert_eq!((outcome.code, outcome.stderr), (0, note));
    }
}

#[test]
fn node_refuses_values_that_no_packet_can_have() {
    let cases = [
        (
            "[offline]\nqueue_occupancy = 16777216",
            "offline.queue_occupancy is 16777216, expected 0 to 16777215",
        ),
        ("[offline]\nbuffer_occupancy = 16777216", "offline.buffer_occupancy is 16777216, expected 0 to"),
        (
            "[[offline.packets]]\nfrom = 1\nqueue_occupancy = 16777216",
            "queue_occupancy is 16777216, expected",
        ),
        ("[[offline.packets]]\nfrom = 0", "offline.packets.from is 0, expected 1, the first packet, or more"),
        ("[[offline.packets]]\nfrom = 3\nto = 2", "offline.packets.to is 2, expected 3, `from`, or more"),
        (
            "[[watch]]\nsource = \"10.0.0.0/8\"\ndestination = \"2001:db8::/32\"",
            "watch.destination is a prefix of IPv6, expected the IP version of watch.source",
        ),
        (
            "[[watch]]\ndestination = \"2001:db8::/32\"\neither = \"10.0.0.0/8\"",
            "watch.either is a prefix of IPv4, expected the IP version of watch.destination",
        ),
        (
            "[report]\ncollector = \"127.0.0.1:0\"",
            "report.collector is 127.0.0.1:0, expected an address with a port from 1 to 65535",
        ),
        ("[[report.session]]\ncollector = \"127.0.0.1:0\"", "report.collector is 127.0.0.1:0, expected"),
    ];
    let run = |text: &str| {
        let folder = Folder::new("impossible-values")
            .with("node.toml", format!("{NODE}\n{text}\n"))
            .with("in.pcap", vector("int_v2_1.pcap"));
        folder.run("node -c node.toml --read in.pcap --write out --ingress 1 --egress 2")
    };
    for (text, message) in cases {
        let outcome = run(text);
        assert_eq!(outcome.code, 2, "{text}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{text}: {}", outcome.stderr);
    }
    for text in [
        "[offline]\nqueue_occupancy = 0xffffff\n[[offline.packets]]\nfrom = 1\nto = 1",
        "[[watch]]\nsource = \"2001:db8::/32\"\ndestination = \"::/0\"\neither = \"2001:db8::1\"",
        "[report]\ncollector = \"127.0.0.1:1\"",
    ] {
        assert_eq!(run(text).code, 0, "{text}");
    }
}

#[test]
fn domain_metadata_without_a_placement_is_source_only() {
    let packets = |placement: &str| {
        let node = format!(
            "{NODE}\n[[watch]]\n[source.domain]\nid = 1\ninstructions = [0]\n[[domain]]\nid = 1\n\
             [[domain.metadata]]\nbit = 0\nvalue = \"a61af6b1\"\n{placement}\n"
        );
        let folder =
            Folder::new("placement").with("node.toml", node).with("in.pcap", vector("report_v2_0.pcap"));
        let outcome = folder.run("node -c node.toml --read in.pcap --write out --ingress 1 --egress 2");
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        folder.read("out")
    };

    let default = packets("");

    assert_eq!(default, packets("placement = \"source-only\""));
    assert_ne!(default, packets("placement = \"every-hop\""));
}

#[test]
fn host_refuses_key_files_without_a_secret_and_notes_short_ones() {
    let host = |keys: &str| format!("[node]\nid = 1\n[host]\ndevices = [\"no-such-device\"]\n{keys}\n");
    let folder = Folder::new("host-keys")
        .with("empty", "")
        .with("newline", "\n")
        .with("short", "0123456789abcde\n")
        .with("long", "0123456789abcdef\n");
    let check = |keys: &str, arguments: &str| {
        fs::write(folder.path("host.toml"), host(keys)).unwrap();
        folder.run(&format!("host -c host.toml {arguments}"))
    };
    for (keys, message) in [
        ("keys = [\"long\", \"empty\"]", "host.keys: no secret in empty: it is empty"),
        ("key_file = \"newline\"", "host.key_file: no secret in newline: it is empty"),
        ("keys = [\"missing\"]", "host.keys: no secret in missing: No such file or directory"),
    ] {
        for arguments in ["--check", ""] {
            let outcome = check(keys, arguments);
            assert_eq!(outcome.code, 2, "{keys}: {outcome:?}");
            assert!(outcome.stderr.starts_with("error: host.toml:5:"), "{}", outcome.stderr);
            assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        }
    }
    let short = check("keys = [\"long\", \"short\"]", "--check");
    let note = "note: the secret in short has fewer than 16 bytes: it may be guessed\n";
    assert_eq!((short.code, short.stderr.as_str()), (0, note));
    let long = check("keys = [\"long\"]", "--check");
    assert_eq!((long.code, long.stderr.as_str()), (0, ""));
}

#[test]
fn node_gives_an_interface_that_is_not_listed_the_defaults_and_says_so() {
    let folder = Folder::new("interface").with("node.toml", NODE).with("in.pcap", vector("int_v2_1.pcap"));
    let outcome = folder.run("node -c node.toml --read in.pcap --write out.pcap --ingress 1 --egress 0x7");
    assert_eq!(outcome.code, 0);
    let note = "note: --egress 7: node.toml lists only the interfaces 1, 2; this one has the defaults\n";
    assert!(outcome.stderr.starts_with(note), "{}", outcome.stderr);
    assert!(folder.path("out.pcap").exists());
}
