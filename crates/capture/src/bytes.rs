//! Numbers in a capture file, in the byte order of the capturing machine.

/// Byte order of a capture file's own headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    pub(crate) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(crate) fn put_u16(self, out: &mut Vec<u8>, value: u16) {
        out.extend_from_slice(&match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        });
    }

    pub(crate) fn put_u32(self, out: &mut Vec<u8>, value: u32) {
        out.extend_from_slice(&match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        });
    }
}

/// Reads numbers from the front of a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(order: ByteOrder, bytes: &'a [u8]) -> Self {
        Self { order, rest: bytes }
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let (field, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(self.order.u16(*field))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let (field, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(self.order.u32(*field))
    }

    /// Reads `length` bytes; `None` when fewer are left.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(field)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
