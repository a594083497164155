//! A builder for packets.
//!
//! ```
//! use inband_testkit::packet;
//!
//! let frame = packet().vlan(5).ipv4().dscp(10).tcp(1234, 80).options(&[2, 4, 5, 0xb4]).payload(b"data").build();
//! assert_eq!(frame.len(), 14 + 4 + 20 + 20 + 4 + 4);
//! ```

mod bytes;
#[cfg(test)]
mod tests;

/// The checksum field of TCP or UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// The correct value.
    #[default]
    Right,
    /// The correct value plus this, modulo 2^16.
    WrongBy(u16),
    /// This value.
    Field(u16),
}

/// An IP packet, usually in an Ethernet frame, before encoding.
#[derive(Clone, Debug)]
pub struct Packet {
    without_ethernet: bool,
    tags: Vec<(u16, u16)>,
    version: u8,
    addresses: Option<(Vec<u8>, Vec<u8>)>,
    dscp: u8,
    ecn: u8,
    ttl: u8,
    ip_options: Vec<u8>,
    ip_checksum: Checksum,
    extensions: Vec<(u8, Vec<u8>)>,
    fragment: Option<(u16, bool)>,
    l4: L4,
    checksum: Checksum,
    udp_length: Option<u16>,
    payload: Vec<u8>,
    padding: Vec<u8>,
}

#[derive(Clone, Debug)]
enum L4 {
    Tcp { source: u16, destination: u16, options: Vec<u8> },
    Udp { source: u16, destination: u16 },
    Raw(u8),
}

/// An IPv4 packet of an experimental protocol, without payload, in an Ethernet frame.
#[must_use]
pub fn packet() -> Packet {
    Packet {
        without_ethernet: false,
        tags: Vec::new(),
        version: 4,
        addresses: None,
        dscp: 0,
        ecn: 0,
        ttl: 64,
        ip_options: Vec::new(),
        ip_checksum: Checksum::Right,
        extensions: Vec::new(),
        fragment: None,
        l4: L4::Raw(253),
        checksum: Checksum::Right,
        udp_length: None,
        payload: Vec::new(),
        padding: Vec::new(),
    }
}

impl Packet {
    /// Leaves the Ethernet header out.
    #[must_use]
    pub fn without_ethernet(self) -> Self {
        Self { without_ethernet: true, ..self }
    }

    /// Adds an 802.1Q tag after any existing tags.
    #[must_use]
    pub fn vlan(self, id: u16) -> Self {
        self.tag(0x8100, id)
    }

    /// Adds a tag with EtherType and control word.
    #[must_use]
    pub fn tag(mut self, ethertype: u16, control: u16) -> Self {
        self.tags.push((ethertype, control));
        self
    }

    /// Removes all tags.
    #[must_use]
    pub fn untagged(self) -> Self {
        Self { tags: Vec::new(), ..self }
    }

    /// Makes it IPv4, the default.
    #[must_use]
    pub fn ipv4(self) -> Self {
        Self { version: 4, ..self }
    }

    /// Makes it IPv6.
    #[must_use]
    pub fn ipv6(self) -> Self {
        Self { version: 6, ..self }
    }

    /// Sets source and destination address, 4 or 16 bytes each.
    #[must_use]
    pub fn addresses(self, source: &[u8], destination: &[u8]) -> Self {
        Self { addresses: Some((source.to_vec(), destination.to_vec())), ..self }
    }

    /// Sets the DSCP, 0 to 63.
    #[must_use]
    pub fn dscp(self, dscp: u8) -> Self {
        Self { dscp, ..self }
    }

    /// Sets ECN, 0 to 3.
    #[must_use]
    pub fn ecn(self, ecn: u8) -> Self {
        Self { ecn, ..self }
    }

    /// Sets TTL or hop limit.
    #[must_use]
    pub fn ttl(self, ttl: u8) -> Self {
        Self { ttl, ..self }
    }

    /// Sets the options of the TCP header, or of the IPv4 header if it is not TCP (yet); zeros complete a
    /// word.
    #[must_use]
    pub fn options(mut self, options: &[u8]) -> Self {
        let mut options = options.to_vec();
        options.resize(options.len().next_multiple_of(4), 0);
        match &mut self.l4 {
            L4::Tcp { options: tcp, .. } => *tcp = options,
            L4::Udp { .. } | L4::Raw(_) => self.ip_options = options,
        }
        self
    }

    /// Adds an IPv6 extension header of type `next_header`; the body is what follows its first two bytes,
    /// zero-padded to 8 bytes.
    #[must_use]
    pub fn extension(mut self, next_header: u8, body: &[u8]) -> Self {
        self.extensions.push((next_header, body.to_vec()));
        self
    }

    /// Makes it a fragment: at `offset` (in units of 8 bytes), with `more` to follow. With an offset above 0
    /// there is no L4 header.
    #[must_use]
    pub fn fragment(self, offset: u16, more: bool) -> Self {
        Self { fragment: Some((offset, more)), ..self }
    }

    /// Sets the IPv4 header checksum field.
    #[must_use]
    pub fn ip_checksum(self, ip_checksum: Checksum) -> Self {
        Self { ip_checksum, ..self }
    }

    /// Makes it TCP with these ports.
    #[must_use]
    pub fn tcp(self, source: u16, destination: u16) -> Self {
        Self { l4: L4::Tcp { source, destination, options: Vec::new() }, ..self }
    }

    /// Makes it UDP with these ports.
    #[must_use]
    pub fn udp(self, source: u16, destination: u16) -> Self {
        Self { l4: L4::Udp { source, destination }, ..self }
    }

    /// Makes it another protocol, whose header is part of the payload.
    #[must_use]
    pub fn protocol(self, number: u8) -> Self {
        Self { l4: L4::Raw(number), ..self }
    }

    /// Sets the checksum field of TCP or UDP.
    #[must_use]
    pub fn checksum(self, checksum: Checksum) -> Self {
        Self { checksum, ..self }
    }

    /// Sets the length field of UDP, correct or not.
    #[must_use]
    pub fn udp_length(self, length: u16) -> Self {
        Self { udp_length: Some(length), ..self }
    }

    /// Sets the payload.
    #[must_use]
    pub fn payload(self, payload: &[u8]) -> Self {
        Self { payload: payload.to_vec(), ..self }
    }

    /// Adds bytes after the IP packet, as Ethernet does to short ones.
    #[must_use]
    pub fn padding(self, padding: &[u8]) -> Self {
        Self { padding: padding.to_vec(), ..self }
    }

    /// Removes the bytes after the IP packet.
    #[must_use]
    pub fn unpadded(self) -> Self {
        self.padding(&[])
    }

    /// Writes the frame.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        bytes::frame(self)
    }
}
