use std::fs;
use std::path::Path;

use inband_model::api::{DecodeStart, Decoded};
use inband_testkit::{inner_only, int_report, md_frame, packet, report_group};
use proptest::prelude::{ProptestConfig, any, proptest};

use super::explain;
use super::layouts::{DROP, FIRST_WORD, GROUP, MAIN_CONTENTS, MD_HEADER, METADATA, MX_HEADER, SHIM};

#[test]
fn fields_of_a_report_stand_at_their_bits() {
    // Hop latency, queue, and drop reason.
    let report = int_report(0x3001).flags(0x80).words(&[900, 3 << 24 | 55, 4 << 24 | 71 << 16]);
    let datagram = report_group(7).hw_id(5).sequence(17).with(report).build();

    let decoded = explain(&datagram, DecodeStart::Report);

    assert_eq!((decoded.error.as_ref(), decoded.left_out), (None, 0));
    assert_eq!(decoded.hex.len(), datagram.len() * 2);
    for (name, value, at, bit, bits) in [
        ("Version", 2, 0, 0, 4),
        ("hw_id", 5, 0, 4, 6),
        ("Sequence Number", 17, 1, 2, 22),
        ("Node ID", 7, 4, 0, 32),
        ("RepType", 1, 8, 0, 4),
        ("D", 1, 11, 0, 1),
        ("Q", 0, 11, 1, 1),
        ("RepMdBits", 0x3001, 12, 0, 16),
        ("hop latency", 900, 20, 0, 32),
        ("queue occupancy", 55, 25, 0, 24),
        ("drop reason", 71, 29, 0, 8),
    ] {
        let found = fields(&decoded, name);
        assert_eq!(found, [(Some(value.to_string()), at, bit, bits)], "{name}");
    }
    let meaning = |name: &str| decoded.fields.meaning[place(&decoded, name)].clone();
    assert_eq!(meaning("RepType").as_deref(), Some("INT"));
    assert_eq!(meaning("D").as_deref(), Some("a packet was dropped"));
    assert_eq!(decoded.fields.requirement[place(&decoded, "D")].as_deref(), Some("report-2.0/individual-08"));
}

#[test]
fn the_hops_of_a_reported_packet_are_told_last_hop_first_as_they_stand() {
    let hops = [7, 1 << 16 | 2, u32::MAX, 8, 3 << 16 | 4, 60];
    let frame = md_frame().with(|int| int.bitmap(0xe000).words(&hops)).over(packet().udp(5, 6)).build();
    let datagram = report_group(7).with(inner_only().flags(0x20).inner(3, &frame)).build();

    let decoded = explain(&datagram, DecodeStart::Report);

    assert_eq!(decoded.error, None);
    let values =
        |name| fields(&decoded, name).into_iter().map(|(value, ..)| value.unwrap()).collect::<Vec<_>>();
    assert_eq!(values("node id"), ["7", "8"]);
    assert_eq!((values("ingress interface"), values("egress interface")), (texts([1, 3]), texts([2, 4])));
    let latency = place(&decoded, "hop latency");
    assert_eq!(decoded.fields.meaning[latency].as_deref(), Some("not available"));
    let hop = place(&decoded, "hop");
    assert_eq!(decoded.fields.meaning[hop].as_deref(), Some("hop 2 of the path"));
    // The bytes at a field's position contain its value.
    let at = decoded.fields.at[place(&decoded, "node id")] as usize;
    assert_eq!(datagram[at..at + 4], [0, 0, 0, 7]);
    let flow = decoded.fields.meaning[place(&decoded, "reported packet")].clone().unwrap();
    assert!(flow.contains("port 5 to") && flow.contains("port 6, protocol 17"), "{flow}");
}

#[test]
fn a_report_is_found_behind_the_headers_of_its_datagram() {
    let report = report_group(9).with(inner_only()).build();
    let frame = packet().udp(1, 32_766).payload(&report).build();
    let decoded = explain(&frame, DecodeStart::Ethernet);
    assert_eq!(decoded.error, None);
    let node = fields(&decoded, "Node ID");
    let start = frame.windows(report.len()).position(|part| part == report).unwrap();
    let start = u32::try_from(start).unwrap();
    assert_eq!(node, [(Some("9".to_owned()), start + 4, 0, 32)]);

    let error = explain(&report, DecodeStart::Ip).error.unwrap();
    assert_eq!(error.at, 0, "{error:?}");
}

#[test]
fn what_was_read_before_a_fault_is_told_with_the_byte_of_the_fault() {
    let whole = report_group(7).sequence(17).with(inner_only()).with(int_report(0x2000).words(&[9])).build();
    let decoded = explain(&whole[..whole.len() - 1], DecodeStart::Report);
    let error = decoded.error.clone().unwrap();
    assert_eq!(error.at, 12, "{error:?}");
    assert_eq!(fields(&decoded, "Sequence Number").len(), 1);
    assert_eq!(fields(&decoded, "individual report").len(), 1);
    assert_eq!(explain(&[], DecodeStart::Report).error.unwrap().at, 0);
}

#[test]
fn requirements_that_fields_name_are_there() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/requirements");
    let metadata = METADATA.iter().map(|(_, layout)| *layout);
    let layouts =
        [GROUP, FIRST_WORD, MAIN_CONTENTS, DROP, SHIM, MD_HEADER, MX_HEADER].into_iter().chain(metadata);
    for id in layouts.flatten().filter_map(|(.., requirement)| *requirement) {
        let (document, name) = id.split_once('/').unwrap();
        let (section, _) = name.rsplit_once('-').unwrap();
        let text = fs::read_to_string(spec.join(document).join(format!("{section}.toml"))).unwrap();
        assert!(text.contains(&format!("id = \"{name}\"")), "{id}");
    }
}

#[test]
fn fields_beyond_those_that_are_listed_are_counted() {
    let group = (0..400).fold(report_group(1), |group, _| group.with(inner_only().report_length(0)));
    let decoded = explain(&group.build(), DecodeStart::Report);
    // Each report is a header and nine fields, and the group has four fields and itself.
    assert_eq!((decoded.fields.name.len(), decoded.left_out, decoded.error), (4_005, 0, None));
    let group = (0..500).fold(group, |group, _| group.with(inner_only().report_length(0)));
    let decoded = explain(&group.build(), DecodeStart::Report);
    assert_eq!((decoded.fields.name.len(), decoded.left_out), (4_096, 9_005 - 4_096));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_explained_and_no_field_is_outside_of_them(
        noise in proptest::collection::vec(any::<u8>(), 0..120),
        flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        is_noise in any::<bool>(),
        start in 0u8..3,
    ) {
        let frame = md_frame().hop(9).hop(8).over(packet().udp(5, 6)).build();
        let report = int_report(0xffff).words(&[1; 20]).inner(3, &frame);
        let mut bytes = if is_noise { noise } else { report_group(7).with(inner_only()).with(report).build() };
        let length = bytes.len().max(1);
        for (at, byte) in flips {
            if let Some(place) = bytes.get_mut(at % length) {
                *place = byte;
            }
        }
        inband_testkit::fuzz::explain_bytes(&[&[start][..], &bytes].concat());
    }
}

/// The fields with a name: value, byte, bit, width.
fn fields(decoded: &Decoded, name: &str) -> Vec<(Option<String>, u32, u8, u32)> {
    let fields = &decoded.fields;
    let field = |at: usize| (fields.value[at].clone(), fields.at[at], fields.bit[at], fields.bits[at]);
    (0..fields.name.len()).filter(|at| fields.name[*at] == name).map(field).collect()
}

fn place(decoded: &Decoded, name: &str) -> usize {
    decoded.fields.name.iter().position(|known| known == name).unwrap()
}

fn texts(numbers: [u32; 2]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}
