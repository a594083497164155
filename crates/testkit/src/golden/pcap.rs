//! Little-endian pcap files for golden captures, independent of the program's code.

use super::hex::{Capture, Packet};

/// Writes a capture with nanoseconds.
pub(crate) fn write(capture: &Capture) -> Vec<u8> {
    let mut file = Vec::new();
    let header = [NANOSECONDS, 0x0004_0002, 0, 0, 262_144, capture.link_type];
    file.extend(header.iter().flat_map(|field| field.to_le_bytes()));
    for packet in &capture.packets {
        let length = packet.bytes.len() as u64;
        let fields = [packet.captured_at_ns / SECOND_NS, packet.captured_at_ns % SECOND_NS, length, length];
        // Each field is 32 bits wide; golden packets are far below its limits.
        file.extend(fields.iter().flat_map(|field| field.to_le_bytes().into_iter().take(4)));
        file.extend_from_slice(&packet.bytes);
    }
    file
}

/// Reads a capture with micro- or nanoseconds.
pub(crate) fn read(file: &[u8]) -> Result<Capture, String> {
    let mut rest = file;
    let [magic, _, _, _, _, link_type] = fields(&mut rest).ok_or("shorter than a pcap header")?;
    let unit_ns = match magic {
        NANOSECONDS => 1,
        MICROSECONDS => 1_000,
        other => return Err(format!("{other:#010x} is no magic of little-endian pcap")),
    };
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let [seconds, fraction, length, _] = fields(&mut rest).ok_or("ends inside a record header")?;
        let length = usize::try_from(length).map_err(|error| error.to_string())?;
        let (bytes, behind) = rest.split_at_checked(length).ok_or("ends inside a record")?;
        rest = behind;
        let captured_at_ns = u64::from(seconds) * SECOND_NS + u64::from(fraction) * unit_ns;
        packets.push(Packet { captured_at_ns, bytes: bytes.to_vec() });
    }
    Ok(Capture { link_type, packets })
}

fn fields<const N: usize>(rest: &mut &[u8]) -> Option<[u32; N]> {
    let (head, behind) = rest.split_at_checked(N * 4)?;
    *rest = behind;
    let mut words = head.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let mut fields = [0; N];
    for field in &mut fields {
        *field = words.next()?;
    }
    Some(fields)
}

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const SECOND_NS: u64 = 1_000_000_000;
