//! Reads the packets of a pcapng file and keeps the state that packet blocks refer to.

use std::io::Read;

use super::blocks::{
    BLOCK_OVERHEAD_BYTES, Clock, ENHANCED_PACKET, INTERFACE_DESCRIPTION, OBSOLETE_PACKET, SECTION_HEADER,
    SIMPLE_PACKET, check_section, parse_interface, parse_packet, section_order,
};
use crate::input::Input;
use crate::{
    BLOCK_LIMIT_BYTES, ByteOrder, CaptureError, Format, INTERFACE_LIMIT, Interface, RECORD_LIMIT_BYTES,
    Record,
};

/// Reads the packets of a pcapng file.
#[derive(Debug)]
pub(crate) struct PcapngReader {
    first_order: ByteOrder,
    section: Section,
    interfaces: Vec<Interface>,
    /// Body of the current block.
    block: Vec<u8>,
}

/// State of the current section.
#[derive(Debug)]
struct Section {
    order: ByteOrder,
    /// Index of this section's first interface among those of the file.
    first_interface: usize,
    clocks: Vec<Clock>,
}

impl PcapngReader {
    /// Reads the first section header, whose block type has been read from `input`.
    pub(crate) fn new<R: Read>(input: &mut Input<R>) -> Result<Self, CaptureError> {
        let section = Section { order: ByteOrder::Little, first_interface: 0, clocks: Vec::new() };
        let mut reader =
            Self { first_order: section.order, section, interfaces: Vec::new(), block: Vec::new() };
        reader.read_section_header(input, 0)?;
        reader.first_order = reader.section.order;
        Ok(reader)
    }

    pub(crate) fn format(&self) -> Format {
        Format::Pcapng { order: self.first_order }
    }

    pub(crate) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Reads blocks up to and including the next packet, skipping those of other types; false at the end.
    pub(crate) fn read_record<R: Read>(
        &mut self,
        input: &mut Input<R>,
        record: &mut Record,
    ) -> Result<bool, CaptureError> {
        loop {
            let at = input.at();
            let mut block_type = [0; 4];
            if !read_block_header(input, &mut block_type, 0, at)? {
                return Ok(false);
            }
            if u32::from_be_bytes(block_type) == SECTION_HEADER {
                self.read_section_header(input, at)?;
                continue;
            }
            let mut length = [0; 4];
            read_block_header(input, &mut length, 4, at)?;
            self.read_body(input, self.section.order, length, at)?;
            match self.section.order.u32(block_type) {
                INTERFACE_DESCRIPTION => self.add_interface(at)?,
                packet @ (ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET) => {
                    self.take_packet(packet, record, at)?;
                    return Ok(true);
                }
                _ => {}
            }
        }
    }

    /// Reads a section header after its block type. Its length is readable only once its byte order is known.
    fn read_section_header<R: Read>(&mut self, input: &mut Input<R>, at: u64) -> Result<(), CaptureError> {
        let malformed = |what| CaptureError::Malformed { part: "pcapng section header", at, what };
        let (mut length, mut magic) = ([0; 4], [0; 4]);
        read_block_header(input, &mut length, 4, at)?;
        read_block_header(input, &mut magic, 8, at)?;
        let order = section_order(magic).ok_or_else(|| {
            malformed(format!("{:#010x} is no byte-order magic", u32::from_be_bytes(magic)))
        })?;
        self.read_body(input, order, length, at)?;
        check_section(order, &self.block).map_err(malformed)?;
        self.section = Section { order, first_interface: self.interfaces.len(), clocks: Vec::new() };
        Ok(())
    }

    /// Reads the rest of a block into `self.block`, and compares the lengths before and after it.
    fn read_body<R: Read>(
        &mut self,
        input: &mut Input<R>,
        order: ByteOrder,
        length: [u8; 4],
        at: u64,
    ) -> Result<(), CaptureError> {
        let part = "pcapng block";
        let malformed = |what| CaptureError::Malformed { part, at, what };
        let length = order.u32(length);
        if length > BLOCK_LIMIT_BYTES {
            return Err(CaptureError::TooLong { part, at, length, limit: BLOCK_LIMIT_BYTES });
        }
        let taken = u32::try_from(input.at() - at).unwrap_or(u32::MAX);
        let rest = length
            .checked_sub(taken)
            .filter(|rest| *rest >= 4 && length >= BLOCK_OVERHEAD_BYTES && length.is_multiple_of(4))
            .ok_or_else(|| malformed(format!("total length {length} is no block's")))?;
        input.read_body(&mut self.block, rest, part, at)?;
        let repeated = self.block.last_chunk().map(|repeated| order.u32(*repeated));
        if repeated != Some(length) {
            return Err(malformed(format!("total length {length} is not repeated behind the body")));
        }
        self.block.truncate(self.block.len() - 4);
        Ok(())
    }

    fn add_interface(&mut self, at: u64) -> Result<(), CaptureError> {
        let malformed = |what| CaptureError::Malformed { part: "pcapng interface description", at, what };
        if self.interfaces.len() >= INTERFACE_LIMIT {
            return Err(malformed(format!("more than {INTERFACE_LIMIT} interfaces")));
        }
        let (interface, clock) = parse_interface(self.section.order, &self.block).map_err(malformed)?;
        self.interfaces.push(interface);
        self.section.clocks.push(clock);
        Ok(())
    }

    fn take_packet(&self, block_type: u32, record: &mut Record, at: u64) -> Result<(), CaptureError> {
        let part = "pcapng packet";
        let packet = parse_packet(self.section.order, block_type, &self.block, &self.section.clocks)
            .map_err(|what| CaptureError::Malformed { part, at, what })?;
        let length = u32::try_from(packet.data.len()).unwrap_or(u32::MAX);
        if length > RECORD_LIMIT_BYTES {
            return Err(CaptureError::TooLong { part, at, length, limit: RECORD_LIMIT_BYTES });
        }
        record.captured_at_ns = packet.captured_at_ns.unwrap_or_default();
        record.is_untimed = packet.captured_at_ns.is_none();
        record.interface = self.section.first_interface + packet.interface;
        record.link_type = self.interfaces.get(record.interface).map(|i| i.link_type).unwrap_or_default();
        record.original_length = packet.original_length;
        record.data.clear();
        record.data.extend_from_slice(packet.data);
        Ok(())
    }
}

/// Reads the next four bytes of a block header, after `taken` bytes; false when the file ends before it.
fn read_block_header<R: Read>(
    input: &mut Input<R>,
    field: &mut [u8; 4],
    taken: usize,
    at: u64,
) -> Result<bool, CaptureError> {
    let left = taken + input.read_header(field)?;
    if left == 0 {
        return Ok(false);
    }
    if left < taken + field.len() {
        return Err(CaptureError::Truncated { part: "pcapng block header", at, needed: 8, left });
    }
    Ok(true)
}
