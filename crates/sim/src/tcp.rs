//! TCP connections of the fabric: one direction of data, acknowledgments back.
//!
//! Both ends count the units of a stream from 0 in 64 bits: unit 0 is the SYN, then the bytes, then the FIN.
//! `to_wire` and `from_wire` translate to the 32-bit sequence numbers of the header.

pub(crate) mod receiver;
pub(crate) mod sender;
#[cfg(test)]
mod tests;

/// A segment without addresses and payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    /// First unit of the sender's stream that it carries.
    pub(crate) sequence: u64,
    /// Next unit expected from the other side; `None` on the first SYN.
    pub(crate) acknowledgment: Option<u64>,
    /// Bytes of data.
    pub(crate) length: usize,
}

impl Segment {
    /// Number of sequence units it occupies.
    pub(crate) fn units(&self) -> u64 {
        self.length as u64 + u64::from(self.syn) + u64::from(self.fin)
    }

    /// The unit after its last one.
    pub(crate) fn end(&self) -> u64 {
        self.sequence + self.units()
    }
}

/// The sequence number of `unit` in a stream whose SYN is numbered `initial`.
pub(crate) fn to_wire(initial: u32, unit: u64) -> u32 {
    let low = unit & u64::from(u32::MAX);
    initial.wrapping_add(u32::try_from(low).unwrap_or(0))
}

/// The unit numbered `wire` that is nearest to the unit `near`; `None` for one before the SYN.
pub(crate) fn from_wire(initial: u32, near: u64, wire: u32) -> Option<u64> {
    let distance = wire.wrapping_sub(to_wire(initial, near)).cast_signed();
    near.checked_add_signed(i64::from(distance))
}
