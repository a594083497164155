//! One captured packet, and the interface it was captured on.

use super::link::LinkType;

/// One captured packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Position in the file; the first record is 1.
    pub number: u64,
    /// Capture time by the capturing device's clock, nanoseconds since 1970. 0 when the file has none.
    pub captured_at_ns: u64,
    /// Whether the file has no time for the packet: pcapng's simple packets.
    pub is_untimed: bool,
    /// Index into [`Reader::interfaces`].
    pub interface: usize,
    /// The link type of `data`.
    pub link_type: LinkType,
    /// Length on the link, bytes. More than `data.len()` when the packet was truncated.
    pub original_length: u32,
    /// The captured bytes.
    pub data: Vec<u8>,
}

impl Record {
    /// Whether the packet was truncated when it was captured.
    pub fn is_cut(&self) -> bool {
        usize::try_from(self.original_length).is_ok_and(|length| length > self.data.len())
    }

    /// Creates the record of another complete packet on the same link at the same time.
    #[must_use]
    pub fn sibling(&self, data: Vec<u8>) -> Self {
        let original_length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        Self { original_length, data, ..*self }
    }

    /// Replaces the captured bytes with `data`; the original length changes by the same amount.
    pub fn replace_data(&mut self, data: &[u8]) {
        let length = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let change = length(data.len()).saturating_sub(length(self.data.len()));
        let original = i64::from(self.original_length).saturating_add(change).max(0);
        self.original_length = u32::try_from(original).unwrap_or(u32::MAX);
        self.data.clear();
        self.data.extend_from_slice(data);
    }
}

/// One interface a capture was taken on. A pcap file has exactly one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The link type of its frames.
    pub link_type: LinkType,
    /// Its name, if the file has one.
    pub name: Option<Vec<u8>>,
    /// Its description, if the file has one.
    pub description: Option<Vec<u8>>,
}
