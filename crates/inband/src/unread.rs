//! Packets of link types that cannot be read.

use anyhow::{Error, anyhow};
use inband_capture::{LinkType, Record};

use crate::note::note;
use crate::number::count;

/// The packets of a capture, and those whose link type is unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    packets: u64,
    unknown: u64,
    /// The link type of the first unknown packet.
    first: Option<LinkType>,
}

impl Unread {
    /// Counts a packet; returns whether its link type is known.
    pub(crate) fn note(&mut self, record: &Record) -> bool {
        let is_known = record.link_type.is_known();
        self.packets += 1;
        if !is_known {
            self.unknown += 1;
            self.first.get_or_insert(record.link_type);
        }
        is_known
    }

    /// Whether no packet of the capture could be read.
    pub(crate) fn is_all(&self) -> bool {
        self.unknown > 0 && self.unknown == self.packets
    }

    /// Prints how many packets could not be read, if only some could not.
    ///
    /// # Errors
    /// No packet could be read.
    pub(crate) fn report(&self, name: &str) -> Result<(), Error> {
        let Some(link_type) = self.first else { return Ok(()) };
        if self.is_all() {
            let packets = count(self.packets, "packet");
            return Err(anyhow!("{name}: {packets} of {link_type}, which is not known: nothing was read"));
        }
        let (unknown, packets) = (self.unknown, count(self.packets, "packet"));
        note!("note: {name}: {unknown} of {packets} not read: {link_type} is not known");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use inband_capture::{LinkType, Record};

    use super::Unread;

    #[test]
    fn only_a_capture_without_a_packet_of_a_known_link_type_is_an_error() {
        let of = |link_type| Record { link_type, ..Record::default() };
        let mut unread = Unread::default();
        assert!(unread.report("x").is_ok());

        assert!(!unread.note(&of(LinkType(147))));
        assert_eq!(
            unread.report("x").unwrap_err().to_string(),
            "x: 1 packet of link type 147, which is not known: nothing was read"
        );

        assert!(unread.note(&of(LinkType::ETHERNET)));
        assert!(unread.report("x").is_ok());
    }
}
