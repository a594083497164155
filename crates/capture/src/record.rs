//! One captured packet, and the interface it was captured on.

use super::link::LinkType;

/// One captured packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Place in the file, the first record is 1.
    pub number: u64,
    /// When the capturing device saw it, nanoseconds since 1970. 0 when the file does not say.
    pub captured_at_ns: u64,
    /// Index into [`Reader::interfaces`].
    pub interface: usize,
    /// What `data` starts with.
    pub link_type: LinkType,
    /// Length on the link, bytes. More than `data.len()` when the capture cut the packet.
    pub original_length: u32,
    /// The captured bytes.
    pub data: Vec<u8>,
}

impl Record {
    /// Whether the capture kept less of the packet than was on the link.
    pub fn is_cut(&self) -> bool {
        usize::try_from(self.original_length).is_ok_and(|length| length > self.data.len())
    }

    /// Creates the record of another packet on the same link at the same time, whole.
    #[must_use]
    pub fn sibling(&self, data: Vec<u8>) -> Self {
        let original_length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let Self { number, captured_at_ns, interface, link_type, .. } = *self;
        Self { number, captured_at_ns, interface, link_type, original_length, data }
    }

    /// Puts `data` in place of the captured bytes; the original length changes by the same amount.
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
    /// What its frames start with.
    pub link_type: LinkType,
    /// Its name, where the file gives one.
    pub name: Option<Vec<u8>>,
    /// Its description, where the file gives one.
    pub description: Option<Vec<u8>>,
}
