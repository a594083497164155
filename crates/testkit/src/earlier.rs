//! A builder for INT of versions before 2.0.
//!
//! ```
//! use inband_testkit::{int_0_5, packet};
//!
//! let int = int_0_5().hop(2).hop(1).bytes();
//! assert_eq!(int.len(), 4 + 8 + 2 * 8 + 4);
//! let frame = packet().tcp(40000, 80).dscp(0x17).payload(&[&int[..], b"data"].concat()).build();
//! assert_eq!(frame.len(), 54 + 32 + 4);
//! ```

/// A shim with a metadata header, its stack and what follows it, before encoding.
#[derive(Clone, Debug)]
pub struct EarlierInt {
    kind: u8,
    last_of_shim: u8,
    length: Option<u8>,
    flags: u8,
    mtu_exceeded: bool,
    is_1_0: bool,
    hop_words: Option<u8>,
    max_hops: u8,
    total_hops: Option<u8>,
    bitmap: u16,
    stack: Vec<u8>,
    behind: Vec<u8>,
    has_reserved: bool,
}

/// A hop-by-hop header of 1.0 with remaining hop count 6 that requests node id and queue, with an empty
/// stack.
#[must_use]
pub fn int_1_0() -> EarlierInt {
    EarlierInt { flags: 0x10, is_1_0: true, max_hops: 6, behind: Vec::new(), ..int_0_5() }
}

/// A hop-by-hop header of 0.5 with at most 16 hops that requests node id and queue, with an empty stack and
/// the tail of TCP to port 22.
#[must_use]
pub fn int_0_5() -> EarlierInt {
    EarlierInt {
        kind: 1,
        last_of_shim: 0,
        length: None,
        flags: 0,
        mtu_exceeded: false,
        is_1_0: false,
        hop_words: None,
        max_hops: 16,
        total_hops: None,
        bitmap: 0x9000,
        stack: Vec::new(),
        behind: vec![6, 0, 22, 0],
        has_reserved: false,
    }
}

/// A hop-by-hop header of 0.5 or 2016 as tunnels carry it: no tail, Ethernet follows.
#[must_use]
pub fn int_in_tunnel() -> EarlierInt {
    EarlierInt { last_of_shim: 3, behind: Vec::new(), ..int_0_5() }
}

/// What a Host-INT source inserts: node 2, sequence number 1, a tail of zeros.
#[must_use]
pub fn host_int() -> EarlierInt {
    EarlierInt { kind: 3, max_hops: 2, bitmap: 0xcc00, behind: vec![0, 0, 0, 1, 0, 0, 0, 0], ..int_0_5() }
        .words(&[2, 0x0004_0004, 0x5968_2f00, 0x5968_2f00])
}

impl EarlierInt {
    /// Sets Type of the shim.
    #[must_use]
    pub fn kind(self, kind: u8) -> Self {
        Self { kind, ..self }
    }

    /// Sets the fourth byte of the shim: DSCP, Next Protocol or reserved.
    #[must_use]
    pub fn last_of_shim(self, last_of_shim: u8) -> Self {
        Self { last_of_shim, ..self }
    }

    /// Sets Length of the shim, correct or not.
    #[must_use]
    pub fn length(self, words: u8) -> Self {
        Self { length: Some(words), ..self }
    }

    /// Sets the first byte of the metadata header: version, Rep, C, E.
    #[must_use]
    pub fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    /// Sets M of 1.0.
    #[must_use]
    pub fn mtu_exceeded(self) -> Self {
        Self { mtu_exceeded: true, ..self }
    }

    /// Sets Hop ML or Instruction Count, correct or not.
    #[must_use]
    pub fn hop_words(self, words: u8) -> Self {
        Self { hop_words: Some(words), ..self }
    }

    /// Sets Remaining Hop Count of 1.0, Max Hop Count of the others.
    #[must_use]
    pub fn max_hops(self, max_hops: u8) -> Self {
        Self { max_hops, ..self }
    }

    /// Sets Total Hop Count, correct or not.
    #[must_use]
    pub fn total_hops(self, total_hops: u8) -> Self {
        Self { total_hops: Some(total_hops), ..self }
    }

    /// Sets Instruction Bitmap.
    #[must_use]
    pub fn bitmap(self, bitmap: u16) -> Self {
        Self { bitmap, ..self }
    }

    /// Sets what follows the stack: sequence number, tail.
    #[must_use]
    pub fn behind(self, behind: &[u8]) -> Self {
        Self { behind: behind.to_vec(), ..self }
    }

    /// Sets every reserved bit of shim and metadata header, except those that are flags in another version:
    /// in 2016 C and E of 0.5, and behind TCP and UDP the DSCP of 1.0.
    #[must_use]
    pub fn reserved(self) -> Self {
        Self { has_reserved: true, ..self }
    }

    /// Adds the metadata of a node, its id and queue 1 with the id as occupancy, at the bottom of the stack.
    #[must_use]
    pub fn hop(self, node_id: u32) -> Self {
        self.words(&[node_id, 0x0100_0000 | node_id & 0x00ff_ffff])
    }

    /// Adds words at the bottom of the stack.
    #[must_use]
    pub fn words(mut self, words: &[u32]) -> Self {
        self.stack.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        self
    }

    /// Writes the metadata header and the stack, as a Geneve option holds them.
    #[must_use]
    pub fn header(&self) -> Vec<u8> {
        let two_words = u8::from(self.is_1_0 && self.bitmap & 0x0200 != 0);
        let asked = u8::try_from(self.bitmap.count_ones()).unwrap_or(u8::MAX) + two_words;
        let words = self.hop_words.unwrap_or(asked);
        let hops = (self.stack.len() / 4).checked_div(words.into()).unwrap_or(0);
        let total = self.total_hops.unwrap_or_else(|| u8::try_from(hops).unwrap_or(u8::MAX));
        let counts = if self.is_1_0 {
            let reserved = if self.has_reserved { [0x7f, 0xe0] } else { [0; 2] };
            [u8::from(self.mtu_exceeded) << 7 | reserved[0], words | reserved[1], self.max_hops]
        } else {
            [words | if self.has_reserved { 0xe0 } else { 0 }, self.max_hops, total]
        };
        let [high, low] = self.bitmap.to_be_bytes();
        let reserved = if self.has_reserved { 0xff } else { 0 };
        [&[self.flags][..], &counts, &[high, low, reserved, reserved], &self.stack].concat()
    }

    /// Writes shim, metadata header, stack, and what follows.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let rest = [self.header(), self.behind.clone()].concat();
        let words = u8::try_from(1 + rest.len() / 4).unwrap_or(u8::MAX);
        let reserved = if self.has_reserved { 0xff } else { 0 };
        [&[self.kind, reserved, self.length.unwrap_or(words), self.last_of_shim][..], &rest].concat()
    }
}
