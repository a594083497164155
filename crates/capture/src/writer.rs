//! Writes a capture in the format of the one it was made from.

use std::io::{self, ErrorKind, Write};

use super::{Format, Interface, Record, pcap, pcapng};

/// Writes records in order.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    format: Format,
    /// Interfaces described in the output so far; pcapng only.
    interfaces: usize,
    scratch: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the file header of `format` to `out`.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(out: W, format: Format) -> io::Result<Self> {
        let mut scratch = Vec::new();
        match format {
            Format::Pcap { order, resolution, link } => {
                pcap::put_file_header(&mut scratch, order, resolution, link);
            }
            Format::Pcapng { order } => pcapng::put_section_header(&mut scratch, order),
        }
        let mut writer = Self { out, format, interfaces: 0, scratch };
        writer.out.write_all(&writer.scratch)?;
        Ok(writer)
    }

    /// Appends `record`, preceded by those of its reader's `interfaces` that are new.
    ///
    /// # Errors
    /// When the output cannot be written, or the record's time does not fit in a pcap file.
    pub fn write_record(&mut self, record: &Record, interfaces: &[Interface]) -> io::Result<()> {
        self.scratch.clear();
        let fits = match self.format {
            Format::Pcap { order, resolution, .. } => {
                pcap::put_record(&mut self.scratch, order, resolution, record)
            }
            Format::Pcapng { order } => {
                for interface in interfaces.iter().skip(self.interfaces) {
                    pcapng::put_interface(&mut self.scratch, order, interface);
                }
                self.interfaces = self.interfaces.max(interfaces.len());
                pcapng::put_packet(&mut self.scratch, order, record)
            }
        };
        if fits.is_none() {
            let message = format!("the time or length of packet {} does not fit the format", record.number);
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        self.out.write_all(&self.scratch)
    }

    /// Passes on what the output holds back.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
