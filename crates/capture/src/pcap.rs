//! Classic pcap files: one file header, then records.
//!
//! ```text
//! magic 4 | major 2 | minor 2 | zone 4 | accuracy 4 | snap length 4 | link 4
//! seconds 4 | fraction 4 | captured length 4 | original length 4 | data
//! ```

use std::io::Read;

use super::bytes::ByteOrder;
use super::bytes::Fields;
use super::error::CaptureError;
use super::format::{Format, RECORD_LIMIT_BYTES, Resolution};
use super::input::Input;
use super::link::LinkType;
use super::record::{Interface, Record};

/// Reads the records of a pcap file.
#[derive(Debug)]
pub(crate) struct PcapReader {
    file: FileHeader,
    interface: [Interface; 1],
}

impl PcapReader {
    /// Reads the rest of the file header, after `magic`. `None` when that is not a pcap magic.
    pub(crate) fn new<R: Read>(input: &mut Input<R>, magic: [u8; 4]) -> Option<Result<Self, CaptureError>> {
        let part = "pcap file header";
        let variant = Variant::of(magic)?;
        let mut header = [0; FILE_HEADER_BYTES - 4];
        let needed = FILE_HEADER_BYTES;
        Some(match input.read_header(&mut header) {
            Err(error) => Err(error),
            Ok(left) if left < header.len() => {
                Err(CaptureError::Truncated { part, at: 0, needed, left: left + 4 })
            }
            Ok(_) => FileHeader::parse(variant, &header)
                .map_err(|what| CaptureError::Malformed { part, at: 0, what })
                .map(|file| {
                    let interface = Interface { link_type: file.link_type(), ..Interface::default() };
                    Self { file, interface: [interface] }
                }),
        })
    }

    pub(crate) fn format(&self) -> Format {
        let FileHeader { variant: Variant { order, resolution, .. }, link } = self.file;
        Format::Pcap { order, resolution, link }
    }

    pub(crate) fn interfaces(&self) -> &[Interface] {
        &self.interface
    }

    /// Reads the next record; false at the end of the file.
    pub(crate) fn read_record<R: Read>(
        &self,
        input: &mut Input<R>,
        record: &mut Record,
    ) -> Result<bool, CaptureError> {
        let part = "pcap record";
        let at = input.at();
        let mut space = [0; MAX_RECORD_HEADER_BYTES];
        let header = &mut space[..self.file.variant.record_header_bytes];
        let (needed, left) = (header.len(), input.read_header(header)?);
        if left == 0 {
            return Ok(false);
        }
        if left < needed {
            return Err(CaptureError::Truncated { part: "pcap record header", at, needed, left });
        }
        let [seconds, fraction, length, original_length] = self.file.record_fields(header);
        if length > RECORD_LIMIT_BYTES {
            return Err(CaptureError::TooLong { part, at, length, limit: RECORD_LIMIT_BYTES });
        }
        input.read_body(&mut record.data, length, part, at)?;
        let unit_ns = self.file.variant.resolution.unit_ns();
        record.captured_at_ns = u64::from(seconds) * SECOND_NS + u64::from(fraction) * unit_ns;
        record.is_untimed = false;
        record.interface = 0;
        record.link_type = self.file.link_type();
        record.original_length = original_length;
        Ok(true)
    }
}

/// The variant of pcap that the magic identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    order: ByteOrder,
    resolution: Resolution,
    record_header_bytes: usize,
}

impl Variant {
    fn of(magic: [u8; 4]) -> Option<Self> {
        [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
            let known = MAGICS.iter().find(|known| known.0 == order.u32(magic))?;
            Some(Self { order, resolution: known.1, record_header_bytes: known.2 })
        })
    }
}

/// The header at the start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileHeader {
    variant: Variant,
    /// Link type in the low 16 bits, length of the frame check sequence above.
    link: u32,
}

impl FileHeader {
    /// Reads what follows the magic.
    fn parse(variant: Variant, header: &[u8; FILE_HEADER_BYTES - 4]) -> Result<Self, String> {
        let [major0, major1, minor0, minor1, .., l0, l1, l2, l3] = *header;
        let (major, minor) = (variant.order.u16([major0, major1]), variant.order.u16([minor0, minor1]));
        if major != 2 {
            return Err(format!("version {major}.{minor}, only 2.x is known"));
        }
        Ok(Self { variant, link: variant.order.u32([l0, l1, l2, l3]) })
    }

    fn link_type(&self) -> LinkType {
        let [low, high, ..] = self.link.to_le_bytes();
        LinkType(u16::from_le_bytes([low, high]))
    }

    /// Seconds, fraction, captured length and original length of a record.
    fn record_fields(&self, header: &[u8]) -> [u32; 4] {
        let mut fields = Fields::new(self.variant.order, header);
        [(); 4].map(|()| fields.u32().unwrap_or_default())
    }
}

pub(crate) fn put_file_header(out: &mut Vec<u8>, order: ByteOrder, resolution: Resolution, link: u32) {
    let magic = match resolution {
        Resolution::Microseconds => MAGIC_MICROSECONDS,
        Resolution::Nanoseconds => MAGIC_NANOSECONDS,
    };
    order.put_u32(out, magic);
    order.put_u16(out, 2);
    order.put_u16(out, 4);
    order.put_u32(out, 0);
    order.put_u32(out, 0);
    // Packets may have grown past the snap length of the file they were read from.
    order.put_u32(out, RECORD_LIMIT_BYTES);
    order.put_u32(out, link);
}

/// Appends a record; `None` when its time or length does not fit in a pcap record.
pub(crate) fn put_record(
    out: &mut Vec<u8>,
    order: ByteOrder,
    resolution: Resolution,
    record: &Record,
) -> Option<()> {
    let seconds = (record.captured_at_ns / SECOND_NS).min(u64::from(u32::MAX));
    let fraction = (record.captured_at_ns - seconds * SECOND_NS) / resolution.unit_ns();
    let length = u32::try_from(record.data.len()).ok()?;
    for field in [u32::try_from(seconds).ok()?, u32::try_from(fraction).ok()?, length, record.original_length]
    {
        order.put_u32(out, field);
    }
    out.extend_from_slice(&record.data);
    Some(())
}

const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
const MAX_RECORD_HEADER_BYTES: usize = 24;
const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const MAGICS: [(u32, Resolution, usize); 3] = [
    (MAGIC_MICROSECONDS, Resolution::Microseconds, RECORD_HEADER_BYTES),
    (MAGIC_NANOSECONDS, Resolution::Nanoseconds, RECORD_HEADER_BYTES),
    // Kuznetsov's format: interface, protocol and packet type follow the usual record header.
    (0xa1b2_cd34, Resolution::Microseconds, MAX_RECORD_HEADER_BYTES),
];
const SECOND_NS: u64 = 1_000_000_000;
