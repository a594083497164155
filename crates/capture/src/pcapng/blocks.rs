//! Blocks of a pcapng file: section header, interface description and three kinds of packet.
//!
//! ```text
//! type 4 | total length 4 | body, padded to 4 | total length 4
//! ```

use crate::bytes::Fields;
use crate::{ByteOrder, Interface, LinkType, Record};

pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(crate) const INTERFACE_DESCRIPTION: u32 = 1;
pub(crate) const OBSOLETE_PACKET: u32 = 2;
pub(crate) const SIMPLE_PACKET: u32 = 3;
pub(crate) const ENHANCED_PACKET: u32 = 6;

/// Length of the type and total length before a block's body, and of the repeated length after it.
pub(crate) const BLOCK_OVERHEAD_BYTES: u32 = 12;

/// The time unit and the snap length of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// `if_tsresol`: a negative power of ten, or of two when the highest bit is set.
    resolution: u8,
    /// `if_tsoffset`: seconds to add to every time.
    offset_s: i64,
    /// Bytes kept of each packet; 0 for all.
    snap_length: u32,
}

impl Clock {
    /// Converts a timestamp of this interface to nanoseconds since 1970, clamped to the range of `u64`.
    fn nanoseconds(&self, ticks: u64) -> u64 {
        let scaled = u128::from(ticks) * u128::from(SECOND_NS);
        let exponent = u32::from(self.resolution & 0x7f);
        let since_offset = if self.resolution & 0x80 != 0 {
            scaled >> exponent
        } else {
            // A unit below 10^-38 s makes every 64-bit count less than a nanosecond.
            10_u128.checked_pow(exponent).map_or(0, |ticks_per_second| scaled / ticks_per_second)
        };
        let since_1970 = i128::try_from(since_offset)
            .unwrap_or(i128::MAX)
            .saturating_add(i128::from(self.offset_s) * i128::from(SECOND_NS));
        u64::try_from(since_1970.max(0)).unwrap_or(u64::MAX)
    }
}

/// Byte order of a section, from the byte-order magic its body starts with.
pub(crate) fn section_order(magic: [u8; 4]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(magic) == BYTE_ORDER_MAGIC)
}

/// Checks the version at the start of what follows a section's byte-order magic.
pub(crate) fn check_section(order: ByteOrder, body: &[u8]) -> Result<(), String> {
    let mut fields = Fields::new(order, body);
    match fields.u16().zip(fields.u16()) {
        // Some writers use 1.2 for the same format.
        Some((1, 0 | 2)) => Ok(()),
        Some((major, minor)) => Err(format!("version {major}.{minor}, only 1.0 is known")),
        None => Err("too short".to_owned()),
    }
}

/// Reads an interface description's body.
pub(crate) fn parse_interface(order: ByteOrder, body: &[u8]) -> Result<(Interface, Clock), String> {
    let mut fields = Fields::new(order, body);
    let fixed = (|| {
        let link_type = LinkType(fields.u16()?);
        fields.u16()?;
        Some((link_type, fields.u32()?))
    })();
    let (link_type, snap_length) = fixed.ok_or("too short")?;
    let mut interface = Interface { link_type, ..Interface::default() };
    let mut clock = Clock { resolution: 6, offset_s: 0, snap_length };
    let too_short = |code: u16| format!("option {code} runs past the block");
    while let Some(code) = fields.u16().filter(|code| *code != OPTION_END) {
        let length = usize::from(fields.u16().ok_or_else(|| too_short(code))?);
        let value = fields.bytes(length).ok_or_else(|| too_short(code))?;
        fields.bytes(padding(length)).ok_or_else(|| too_short(code))?;
        match (code, value) {
            (OPTION_NAME, text) if length <= TEXT_LIMIT_BYTES => interface.name = Some(text.to_vec()),
            (OPTION_DESCRIPTION, text) if length <= TEXT_LIMIT_BYTES => {
                interface.description = Some(text.to_vec());
            }
            (OPTION_TIME_RESOLUTION, [resolution]) => clock.resolution = *resolution,
            (OPTION_TIME_OFFSET, value) => clock.offset_s = offset(order, value).unwrap_or(0),
            _ => {}
        }
    }
    Ok((interface, clock))
}

fn offset(order: ByteOrder, value: &[u8]) -> Option<i64> {
    let value = <[u8; 8]>::try_from(value).ok()?;
    Some(match order {
        ByteOrder::Little => i64::from_le_bytes(value),
        ByteOrder::Big => i64::from_be_bytes(value),
    })
}

/// The fields of a packet block; the data is borrowed from the block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    /// Number of the interface within its section.
    pub(crate) interface: usize,
    /// `None` in a simple packet.
    pub(crate) captured_at_ns: Option<u64>,
    pub(crate) original_length: u32,
    pub(crate) data: &'a [u8],
}

/// Reads a packet block of type `block_type`, given the clocks of its section's interfaces.
pub(crate) fn parse_packet<'a>(
    order: ByteOrder,
    block_type: u32,
    body: &'a [u8],
    clocks: &[Clock],
) -> Result<Packet<'a>, String> {
    let mut fields = Fields::new(order, body);
    let too_short = || "too short".to_owned();
    if block_type == SIMPLE_PACKET {
        let original_length = fields.u32().ok_or_else(too_short)?;
        return simple_packet(original_length, fields.rest(), clocks);
    }
    let fixed = (|| {
        let interface = match block_type {
            OBSOLETE_PACKET => {
                let interface = u32::from(fields.u16()?);
                fields.u16()?;
                interface
            }
            _ => fields.u32()?,
        };
        let ticks = u64::from(fields.u32()?) << 32 | u64::from(fields.u32()?);
        Some((interface, ticks, fields.u32()?, fields.u32()?))
    })();
    let (interface, ticks, captured_length, original_length) = fixed.ok_or_else(too_short)?;
    let interface = usize::try_from(interface).unwrap_or(usize::MAX);
    let clock = clocks.get(interface).ok_or_else(|| unknown_interface(interface, clocks.len()))?;
    let data = usize::try_from(captured_length)
        .ok()
        .and_then(|length| fields.bytes(length))
        .ok_or_else(|| format!("{captured_length} bytes captured, {} in the block", fields.rest().len()))?;
    Ok(Packet { interface, captured_at_ns: Some(clock.nanoseconds(ticks)), original_length, data })
}

/// A simple packet has no time and no captured length: the snap length of interface 0 decides what is padding.
fn simple_packet<'a>(original_length: u32, rest: &'a [u8], clocks: &[Clock]) -> Result<Packet<'a>, String> {
    let clock = clocks.first().ok_or_else(|| unknown_interface(0, 0))?;
    let snap_length = if clock.snap_length == 0 { u32::MAX } else { clock.snap_length };
    let kept = usize::try_from(original_length.min(snap_length)).unwrap_or(usize::MAX);
    let data =
        rest.get(..kept).ok_or_else(|| format!("{kept} bytes captured, {} in the block", rest.len()))?;
    Ok(Packet { interface: 0, captured_at_ns: None, original_length, data })
}

fn unknown_interface(interface: usize, known: usize) -> String {
    format!("interface {interface} is not described, the section has {known}")
}

pub(crate) fn put_section_header(out: &mut Vec<u8>, order: ByteOrder) {
    put_block(out, order, SECTION_HEADER, |body| {
        order.put_u32(body, BYTE_ORDER_MAGIC);
        order.put_u16(body, 1);
        order.put_u16(body, 0);
        // Section length: not given.
        body.extend_from_slice(&[0xff; 8]);
    });
}

pub(crate) fn put_interface(out: &mut Vec<u8>, order: ByteOrder, interface: &Interface) {
    put_block(out, order, INTERFACE_DESCRIPTION, |body| {
        order.put_u16(body, interface.link_type.0);
        order.put_u16(body, 0);
        // Snap length: none, since packets may have outgrown that of the file they were read from.
        order.put_u32(body, 0);
        let options = [
            (OPTION_NAME, interface.name.as_deref()),
            (OPTION_DESCRIPTION, interface.description.as_deref()),
            (OPTION_TIME_RESOLUTION, Some(&[9_u8][..])),
            (OPTION_END, Some(&[][..])),
        ];
        for (code, value) in options {
            let Some(value) = value else { continue };
            let Ok(length) = u16::try_from(value.len()) else { continue };
            order.put_u16(body, code);
            order.put_u16(body, length);
            put_padded(body, value);
        }
    });
}

/// Appends a packet block: a simple one for a whole packet without a time on interface 0, else an enhanced
/// one; `None` when a number does not fit in its field.
pub(crate) fn put_packet(out: &mut Vec<u8>, order: ByteOrder, record: &Record) -> Option<()> {
    let interface = u32::try_from(record.interface).ok()?;
    let captured_length = u32::try_from(record.data.len()).ok()?;
    if record.is_untimed && interface == 0 && record.original_length == captured_length {
        put_block(out, order, SIMPLE_PACKET, |body| {
            order.put_u32(body, record.original_length);
            put_padded(body, &record.data);
        });
        return Some(());
    }
    let high = u32::try_from(record.captured_at_ns >> 32).ok()?;
    let low = u32::try_from(record.captured_at_ns & u64::from(u32::MAX)).ok()?;
    put_block(out, order, ENHANCED_PACKET, |body| {
        for field in [interface, high, low, captured_length, record.original_length] {
            order.put_u32(body, field);
        }
        put_padded(body, &record.data);
    });
    Some(())
}

fn put_padded(body: &mut Vec<u8>, data: &[u8]) {
    body.extend_from_slice(data);
    body.resize(body.len() + padding(data.len()), 0);
}

fn put_block(out: &mut Vec<u8>, order: ByteOrder, block_type: u32, write_body: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    write_body(&mut body);
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX).saturating_add(BLOCK_OVERHEAD_BYTES);
    order.put_u32(out, block_type);
    order.put_u32(out, length);
    out.extend_from_slice(&body);
    order.put_u32(out, length);
}

/// Bytes after `length` bytes up to the next multiple of four.
fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const OPTION_END: u16 = 0;
const OPTION_NAME: u16 = 2;
const OPTION_DESCRIPTION: u16 = 3;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_TIME_OFFSET: u16 = 14;
const TEXT_LIMIT_BYTES: usize = 1024;
const SECOND_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests;
