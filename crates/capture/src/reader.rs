//! Reads the records of a capture one by one, in bounded memory.

use std::io::Read;

use super::input::Input;
use super::pcap::PcapReader;
use super::pcapng::{PcapngReader, SECTION_HEADER};
use super::{CaptureError, Format, Interface, Record};

/// Reads a pcap or pcapng capture.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    kind: Kind,
    records: u64,
    finished: bool,
}

#[derive(Debug)]
enum Kind {
    Pcap(PcapReader),
    Pcapng(PcapngReader),
}

impl<R: Read> Reader<R> {
    /// Recognises the format from the first bytes of `source`.
    ///
    /// # Errors
    /// When they match neither format, or the file header is truncated or of an unknown version.
    pub fn new(source: R) -> Result<Self, CaptureError> {
        let mut input = Input::new(source);
        let mut magic = [0; 4];
        let left = input.read_header(&mut magic)?;
        if left < magic.len() {
            let found = if left == 0 { "it is empty" } else { "it is shorter than any header" };
            return Err(CaptureError::NotACapture { found });
        }
        let kind = if u32::from_be_bytes(magic) == SECTION_HEADER {
            Kind::Pcapng(PcapngReader::new(&mut input)?)
        } else {
            let unknown = || CaptureError::NotACapture { found: describe(magic) };
            Kind::Pcap(PcapReader::new(&mut input, magic).ok_or_else(unknown)??)
        };
        Ok(Self { input, kind, records: 0, finished: false })
    }

    /// The source.
    pub fn source(&self) -> &R {
        self.input.source()
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        match &self.kind {
            Kind::Pcap(reader) => reader.format(),
            Kind::Pcapng(reader) => reader.format(),
        }
    }

    /// The interfaces described so far, of all sections in file order.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.kind {
            Kind::Pcap(reader) => reader.interfaces(),
            Kind::Pcapng(reader) => reader.interfaces(),
        }
    }

    /// Reads the next record into `record`; false at the end of the file, and always after an error.
    ///
    /// # Errors
    /// Once, when the rest of the file cannot be read. Every record before it has been returned.
    pub fn read_record(&mut self, record: &mut Record) -> Result<bool, CaptureError> {
        if self.finished {
            return Ok(false);
        }
        let result = match &mut self.kind {
            Kind::Pcap(reader) => reader.read_record(&mut self.input, record),
            Kind::Pcapng(reader) => reader.read_record(&mut self.input, record),
        };
        if matches!(result, Ok(true)) {
            self.records += 1;
            record.number = self.records;
        } else {
            self.finished = true;
        }
        result
    }
}

/// Describes the likely type of a file that is not a capture.
fn describe(magic: [u8; 4]) -> &'static str {
    match magic {
        [0x1f, 0x8b, ..] => "it is gzip-compressed, pipe it through `gunzip -c`",
        [0x28, 0xb5, 0x2f, 0xfd] => "it is zstd-compressed, pipe it through `zstd -dc`",
        [0xfd, b'7', b'z', b'X'] => "it is xz-compressed, pipe it through `xz -dc`",
        _ => "its first four bytes are no known magic",
    }
}

#[cfg(test)]
mod tests;
