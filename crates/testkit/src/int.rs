//! A builder for INT packets.
//!
//! ```
//! use inband_testkit::md_frame;
//!
//! let frame = md_frame().remaining_hop_count(0).hop(2).hop(1).build();
//! assert_eq!(frame.len(), 14 + 20 + 20 + 4 + 12 + 2 * 8 + 4);
//! ```

use crate::packet::{Packet, packet};

/// A shim of NPT 0 with an INT-MD or INT-MX header and what follows it, before encoding.
#[derive(Clone, Debug)]
pub struct Int {
    header_type: u8,
    original_dscp: u8,
    length: Option<u8>,
    flags: u8,
    hop_ml: Option<u8>,
    remaining_hop_count: u8,
    bitmap: u16,
    domain: [u16; 3],
    stack: Vec<u8>,
}

/// An INT-MD header with remaining hop count 6 that requests node id and queue, with an empty stack.
#[must_use]
pub fn int_md() -> Int {
    Int {
        header_type: 1,
        original_dscp: 0,
        length: None,
        flags: 0,
        hop_ml: None,
        remaining_hop_count: 6,
        bitmap: 0x9000,
        domain: [0; 3],
        stack: Vec::new(),
    }
}

/// An INT-MX header that requests node id and queue.
#[must_use]
pub fn int_mx() -> Int {
    Int { header_type: 3, remaining_hop_count: 0, hop_ml: Some(0), ..int_md() }
}

impl Int {
    /// Sets the DSCP the packet had before INT.
    #[must_use]
    pub fn original_dscp(self, original_dscp: u8) -> Self {
        Self { original_dscp, ..self }
    }

    /// Sets Length of the shim, correct or not.
    #[must_use]
    pub fn length(self, words: u8) -> Self {
        Self { length: Some(words), ..self }
    }

    /// Sets D, E and M: 8, 4, 2.
    #[must_use]
    pub fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    /// Sets Hop ML, correct or not.
    #[must_use]
    pub fn hop_ml(self, words: u8) -> Self {
        Self { hop_ml: Some(words), ..self }
    }

    /// Sets Remaining Hop Count.
    #[must_use]
    pub fn remaining_hop_count(self, remaining_hop_count: u8) -> Self {
        Self { remaining_hop_count, ..self }
    }

    /// Sets Instruction Bitmap.
    #[must_use]
    pub fn bitmap(self, bitmap: u16) -> Self {
        Self { bitmap, ..self }
    }

    /// Sets Domain Specific ID, DS Instruction and DS Flags.
    #[must_use]
    pub fn domain(self, id: u16, instruction: u16, flags: u16) -> Self {
        Self { domain: [id, instruction, flags], ..self }
    }

    /// Adds the metadata of a node, its id and a queue whose occupancy is the id, at the bottom of the stack.
    #[must_use]
    pub fn hop(self, node_id: u32) -> Self {
        self.words(&[node_id, node_id & 0x00ff_ffff])
    }

    /// Adds words at the bottom of the stack.
    #[must_use]
    pub fn words(mut self, words: &[u32]) -> Self {
        self.stack.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        self
    }

    /// Writes shim, header and stack.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let words = u8::try_from(3 + self.stack.len() / 4).unwrap_or(u8::MAX);
        let mut bytes = vec![self.header_type << 4, self.length.unwrap_or(words), 0, self.original_dscp << 2];
        let hop_ml = self.hop_ml.unwrap_or_else(|| words_of(self.bitmap));
        bytes.extend([0x20 | self.flags, 0, hop_ml, self.remaining_hop_count]);
        bytes.extend(self.bitmap.to_be_bytes());
        bytes.extend(self.domain.iter().flat_map(|field| field.to_be_bytes()));
        bytes.extend(&self.stack);
        bytes
    }
}

/// Words that an instruction bitmap requests, counted bit by bit.
#[must_use]
pub fn words_of(bitmap: u16) -> u8 {
    (0..16)
        .filter(|bit| bitmap & 0x8000 >> bit != 0)
        .map(|bit| if [4, 5, 6].contains(&bit) { 2 } else { 1 })
        .sum()
}

/// A frame that carries INT behind TCP, marked by DSCP 0x17.
#[derive(Clone, Debug)]
pub struct IntFrame {
    packet: Packet,
    int: Int,
    payload: Vec<u8>,
}

/// A TCP segment with INT-MD in an Ethernet frame.
#[must_use]
pub fn md_frame() -> IntFrame {
    IntFrame { packet: packet().tcp(40000, 80), int: int_md(), payload: b"data".to_vec() }
}

/// A TCP segment with INT-MX in an Ethernet frame.
#[must_use]
pub fn mx_frame() -> IntFrame {
    IntFrame { int: int_mx(), ..md_frame() }
}

impl IntFrame {
    /// Puts INT behind the L4 header of another packet.
    #[must_use]
    pub fn over(self, packet: Packet) -> Self {
        Self { packet, ..self }
    }

    /// Changes the INT header.
    #[must_use]
    pub fn with(self, change: impl FnOnce(Int) -> Int) -> Self {
        Self { int: change(self.int), ..self }
    }

    /// Sets Remaining Hop Count.
    #[must_use]
    pub fn remaining_hop_count(self, remaining_hop_count: u8) -> Self {
        self.with(|int| int.remaining_hop_count(remaining_hop_count))
    }

    /// Adds the metadata of a node at the bottom, so the last hop of the path is added first.
    #[must_use]
    pub fn hop(self, node_id: u32) -> Self {
        self.with(|int| int.hop(node_id))
    }

    /// Sets what follows INT.
    #[must_use]
    pub fn payload(self, payload: &[u8]) -> Self {
        Self { payload: payload.to_vec(), ..self }
    }

    /// Writes the frame.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let payload = [self.int.bytes(), self.payload.clone()].concat();
        self.packet.clone().dscp(0x17).payload(&payload).build()
    }
}
