//! Fuzz targets for parsers: results lie inside the input, and write back to the same bytes.

use inband_wire::int::earlier::{HopByHop, Metadata};
use inband_wire::int::locate::HeaderType;
use inband_wire::int::metadata::NOT_AVAILABLE;
use inband_wire::int::{
    CodePoints, Deviations, Dialect, Hop, Instructions, Location, Md, Mx, Original, Reading, Version, domain,
    locate,
};
use inband_wire::report::first_word::TO_THE_END;
use inband_wire::report::{Draft, IndividualReport, Leniency, ReportGroup, ReportType};
use inband_wire::verify::l4_checksum;
use inband_wire::{Layers, Link, Strictness};

/// The first byte selects link and strictness, the rest is a frame whose layers are parsed.
///
/// # Panics
/// Layers that are not nested, or outside a complete frame.
pub fn layers(input: &[u8]) {
    let Some((link, strictness, frame)) = reading(input) else { return };
    let Ok(Some(layers)) = Layers::parse(link, frame, strictness) else { return };
    assert!(layers.l3 < layers.l4 && layers.l4 <= layers.end, "{layers:?}");
    assert!(strictness == Strictness::Truncated || layers.end <= frame.len(), "{layers:?}");
    assert_eq!(frame.get(layers.protocol_at), Some(&layers.protocol), "{layers:?}");
    let flow = layers.five_tuple(frame);
    assert_eq!(flow.source.is_ipv4(), flow.destination.is_ipv4());
    assert!(layers.dscp(frame) <= 0x3f);
    let _ = (flow.entropy(), l4_checksum(frame, &layers), layers.checksum_at());
    let _ = locate::limit(frame, &layers).map(|limit| assert!(limit <= layers.end));
}

/// The first byte selects link, strictness and how strictly INT follows the formats, the rest is a frame to
/// dissect.
///
/// # Panics
/// INT outside the packet that carries it.
pub fn dissect(input: &[u8]) {
    let Some((link, strictness, frame)) = reading(input) else { return };
    let reading = match input[0] >> 2 & 7 {
        0..=3 => Reading::Strict,
        4 => Reading::Of(Dialect::Geant),
        5 => Reading::Of(Dialect::Onos),
        6 => Reading::Of(Dialect::Cablelabs),
        _ => Reading::Lenient,
    };
    let dialect_marks: &[Dialect] = if reading == Reading::Lenient { &Dialect::ALL } else { &[] };
    let code_points = CodePoints { reading, dialect_marks, udp_ports: &[33122, 555], ..CodePoints::DEFAULT };
    let found = inband_wire::dissect(link, frame, &code_points, strictness);
    for (layers, location) in found.int() {
        assert!(layers.l4 < location.shim && location.shim + 4 == location.header, "{location:?}");
        assert!(location.header <= location.end && location.end <= layers.end, "{location:?}");
        read_int(frame, location);
    }
    if let Some(error) = found.error {
        assert!(strictness == Strictness::Truncated || error.at <= frame.len(), "{error}");
    }
}

/// A shim and what follows it: an INT-MD header with its stack, or an INT-MX header.
///
/// # Panics
/// Hops that do not write back to the bytes they were read from.
pub fn md_stack(input: &[u8]) {
    let Some([kind, words, _, _]) = input.first_chunk::<4>() else { return };
    let Some(header_type) = HeaderType::from_code(kind >> 4) else { return };
    let end = 4 + usize::from(*words) * 4;
    let encapsulation = locate::Encapsulation::Dscp;
    let version = Version::V2_1;
    read_int(
        input,
        &Location {
            encapsulation,
            header_type,
            version,
            deviations: Deviations::NONE,
            shim: 0,
            header: 4,
            end,
        },
    );
}

/// A report datagram, read strictly and leniently, whole and truncated.
///
/// # Panics
/// Reports that overlap, reach past the datagram, or do not write back to the bytes they were read from.
pub fn report(input: &[u8]) {
    for leniency in [Leniency::Strict, Leniency::Lenient] {
        for strictness in [Strictness::Whole, Strictness::Truncated] {
            let Ok(group) = ReportGroup::parse_with(input, leniency, strictness) else { continue };
            let mut behind = 8;
            for report in group.reports().flatten() {
                assert!(report.at == behind && report.end > report.at && report.end <= input.len());
                behind = report.end;
                read_report(input, &report);
                if leniency == Leniency::Strict && strictness == Strictness::Whole {
                    write_back(input, &report);
                }
            }
        }
    }
}

fn reading(input: &[u8]) -> Option<(Link, Strictness, &[u8])> {
    let (choice, frame) = input.split_first()?;
    let link = if choice & 1 == 0 { Link::Ethernet } else { Link::Ip };
    let strictness = if choice & 2 == 0 { Strictness::Whole } else { Strictness::Truncated };
    Some((link, strictness, frame))
}

/// Reads the INT at `location`, and checks that its hops write back.
pub(super) fn read_int(frame: &[u8], location: &Location) {
    match location.header_type {
        HeaderType::Md if location.version.is_before_2() => {
            if let Ok(int) = HopByHop::parse(frame, location) {
                read_hop_by_hop(frame, location, &int);
            }
        }
        HeaderType::Md => {
            if let Ok(md) = Md::parse(frame, location, domain::WELL_KNOWN) {
                let hops = md.stack.hops();
                assert!(hops.len() <= md.stack.hop_count());
                assert_eq!(hops.len() < md.stack.hop_count(), md.stack.is_cut());
                let mut at = location.header + 12;
                for hop in hops {
                    let end = at + md.header.hop_ml().bytes();
                    assert_hop_is(&frame[at..end], &hop);
                    at = end;
                }
                assert!(at + md.stack.source_only().len() <= location.end);
            }
        }
        HeaderType::Mx => {
            if let Ok(mx) = Mx::parse(frame, location) {
                assert!(mx.source_inserted.len() <= location.end - location.header - 12);
            }
        }
        HeaderType::Destination => {}
    }
}

fn read_hop_by_hop(frame: &[u8], location: &Location, int: &HopByHop<'_>) {
    let hops = int.hops();
    assert!(hops.len() <= int.hop_count());
    assert_eq!(hops.len() < int.hop_count(), int.is_cut());
    let mut at = location.header + 8;
    for hop in hops {
        let end = at + int.hop_ml.bytes();
        let mut written = vec![0xa5; end - at];
        let metadata = hop.metadata();
        assert_eq!(metadata.write(hop.layout(), hop.instruction_bitmap(), &mut written), end - at);
        assert_eq!(Metadata::read(hop.layout(), hop.instruction_bitmap(), &written), metadata);
        let has_reserved = hop.reserved().next().is_some();
        let has_bottom_of_stack = location.version == Version::V2016;
        assert!(has_reserved || has_bottom_of_stack || written == frame[at..end], "{metadata:?}");
        at = end;
    }
    assert!(at <= location.end);
    let _ = Original::read(frame, location);
}

/// Checks that a parsed hop writes back to `bytes`; reserved words hold no value to write.
fn assert_hop_is(bytes: &[u8], hop: &Hop<'_>) {
    let instructions = hop.instructions();
    let mut written = vec![0xa5; bytes.len()];
    let mut at = hop.metadata().write(instructions, &mut written);
    let known =
        instructions.without(Instructions::RESERVED | Instructions::CHECKSUM_COMPLEMENT).words().bytes();
    let reserved: Vec<_> = hop.reserved().collect();
    for (place, (_, value)) in written[known..at].as_chunks_mut().0.iter_mut().zip(&reserved) {
        *place = value.unwrap_or(NOT_AVAILABLE).to_be_bytes();
    }
    written[at..at + hop.domain().len()].copy_from_slice(hop.domain());
    at += hop.domain().len();
    if instructions.contains(Instructions::CHECKSUM_COMPLEMENT) {
        let value = hop.metadata().checksum_complement.unwrap_or(NOT_AVAILABLE);
        written[at..at + 4].copy_from_slice(&value.to_be_bytes());
        at += 4;
    }
    assert_eq!((&written[..], at), (bytes, bytes.len()));
}

fn read_report(input: &[u8], report: &IndividualReport<'_>) {
    assert!(report.inner_at() > report.at && report.inner_at() + report.inner().len() == report.end);
    assert_eq!(&input[report.inner_at()..report.end], report.inner());
    let _ = (report.metadata(), report.drop(), report.domain_metadata());
    for tlv in report.tlvs().flatten() {
        assert!(tlv.data_at + tlv.data.len() <= report.inner().len());
    }
    if let Some((link, packet, at)) = report.packet() {
        assert!(at + packet.len() <= report.inner().len());
        let found = inband_wire::dissect(link, packet, &CodePoints::DEFAULT, Strictness::Truncated);
        for (_, location) in found.int() {
            read_int(packet, location);
        }
    }
}

/// Checks that a report writes back to its bytes, if it contains only what a writer produces.
fn write_back(input: &[u8], report: &IndividualReport<'_>) {
    let bits = report.rep_md_bits();
    let wanted = bits.without(Instructions::CHECKSUM_COMPLEMENT);
    let domain = match (report.domain_specific_id(), report.ds_md_bits()) {
        (0, _) => None,
        (id, bits) => Some((id, bits, report.domain_metadata())),
    };
    let draft = Draft {
        inner_type: report.first_word.inner_type(),
        dropped: report.dropped(),
        congested_queue: report.congested_queue(),
        tracked_flow: report.tracked_flow(),
        intermediate: report.intermediate(),
        own_hop: report.first_word.report_type() == ReportType::Int,
        metadata: report.metadata(),
        instructions: wanted,
        drop: report.drop(),
        domain,
        inner: report.inner(),
    };
    let bytes = &input[report.at..report.end];
    let [_, length, md_length, flags] = *bytes.first_chunk::<4>().expect("the first word was read");
    let has_reserved = flags & 0x0f != 0 || bits.intersects(Instructions::RESERVED | Instructions::NODE_ID);
    let all_ones = report.metadata().available(wanted) != wanted;
    let main_is_plain = match report.first_word.report_type() {
        ReportType::InnerOnly => md_length == 0,
        ReportType::Int => {
            let domain_is_known = domain.is_some() || bytes[8..10] == [0, 0];
            bytes[10..12] == [0, 0] && domain_is_known && drop_pad_is_zero(report, bytes)
        }
        ReportType::Ioam | ReportType::Unknown(_) => false,
    };
    let has_exact_length = bytes.len().is_multiple_of(4) && (length != TO_THE_END || bytes.len() / 4 > 255);
    if has_reserved || all_ones || !main_is_plain || !has_exact_length {
        return;
    }
    let mut written = vec![0xa5; bytes.len() + 4];
    assert_eq!(draft.write(&mut written), Some(bytes.len()), "{draft:?}");
    assert_eq!((&written[..bytes.len()], &written[bytes.len()..]), (bytes, &[0xa5; 4][..]));
}

fn drop_pad_is_zero(report: &IndividualReport<'_>, bytes: &[u8]) -> bool {
    let end = report.inner_at() - report.at - report.domain_metadata().len();
    report.drop().is_none() || bytes[end - 2..end] == [0, 0]
}
