//! Reads reports of version 1.0.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::int::metadata::{HopMetadata, Interfaces, NOT_AVAILABLE, Queue};
use crate::layers::Link;
use crate::report::earlier::header_1_0::{HEADER_BYTES, HEADER_WORDS, HeaderV1_0, RepMdBits};
use crate::report::earlier::local_header::available_time;
use crate::report::earlier::report::{EarlierReport, ReportKind};
use crate::report::individual::Drop;
use crate::report::version::ReportVersion;
use crate::report::{Deviation, Leniency};
use crate::view::{short, view};
use crate::words::Words;

pub(super) fn read(bytes: &[u8], leniency: Leniency) -> Result<EarlierReport<'_>, ParseError> {
    let header: &HeaderV1_0 = view(bytes, 0, Header::ReportHeader)?;
    let (length, deviation) = length(header, leniency)?;
    let Some((_, packet)) = bytes.split_at_checked(length.bytes()) else {
        return Err(short(0, Header::ReportHeader, length.bytes(), bytes.len()));
    };
    let link = match header.next_proto() {
        0 => Link::Ethernet,
        1 | 2 => Link::Ip,
        other => {
            let kind = ErrorKind::Undefined { field: "NProto", found: other.into() };
            return Err(ParseError::new(0, Header::ReportHeader, kind));
        }
    };
    let words = bytes.get(HEADER_BYTES..length.bytes()).unwrap_or_default();
    let (metadata, drop) = metadata(header.rep_md_bits(), words);
    Ok(EarlierReport {
        version: ReportVersion::V1_0,
        kind: if drop.is_some() { ReportKind::Drop } else { ReportKind::Local },
        node_id: Some(header.node_id()),
        hw_id: header.hw_id(),
        sequence: header.sequence(),
        reported_at_s: None,
        dropped: header.dropped(),
        congested_queue: header.congested_queue(),
        tracked_flow: header.tracked_flow(),
        instructions: header.rep_md_bits().instructions() | Instructions::INGRESS_TIMESTAMP,
        metadata: HopMetadata { ingress_timestamp: available_time(header.ingress_timestamp()), ..metadata },
        drop,
        drop_summary: None,
        deviation,
        packet: (!packet.is_empty()).then_some((link, packet)),
        packet_at: length.bytes(),
    })
}

/// The length of header and metadata by RepMdBits, which the Length field must match.
fn length(header: &HeaderV1_0, leniency: Leniency) -> Result<(Words, Option<Deviation>), ParseError> {
    let implied = Words::new(HEADER_WORDS.count() + header.rep_md_bits().words().count());
    if header.length() == implied {
        return Ok((implied, None));
    }
    // Some nodes count in another unit, or leave the field empty.
    if leniency == Leniency::Lenient && header.length() < HEADER_WORDS {
        return Ok((implied, Some(Deviation::HeaderLength)));
    }
    let (found, expected) = (header.length().count().into(), implied.count().into());
    let kind = ErrorKind::Mismatch { field: "Length", found, expected };
    Err(ParseError::new(0, Header::ReportHeader, kind))
}

fn metadata(bits: RepMdBits, bytes: &[u8]) -> (HopMetadata, Option<Drop>) {
    let mut hop = HopMetadata::default();
    let mut drop = None;
    for (bit, word) in bits.iter().zip(bytes.as_chunks::<4>().0) {
        let value = Some(u32::from_be_bytes(*word)).filter(|value| *value != NOT_AVAILABLE);
        let [first, second, ..] = *word;
        match bit {
            0 => {
                hop.interfaces = value
                    .map(|ids| Interfaces { ingress: (ids >> 16) as u16, egress: (ids & 0xffff) as u16 });
            }
            1 => hop.hop_latency = value,
            2 => hop.queue = value.map(|value| Queue { id: first, occupancy: value & 0x00ff_ffff }),
            3 => hop.egress_timestamp = value.map(u64::from),
            4 => drop = Some(Drop { queue_id: first, reason: second }),
            _ => hop.egress_utilization = value,
        }
    }
    (hop, drop)
}
