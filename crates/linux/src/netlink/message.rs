//! Netlink messages, written and read. Everything is in the byte order of the machine and aligned to 4 bytes.

/// A request to the kernel.
#[derive(Clone, Debug)]
pub struct Message {
    kind: u16,
    flags: u16,
    body: Vec<u8>,
}

/// One message of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    pub(super) kind: u16,
    pub(super) flags: u16,
    pub(super) sequence: u32,
    pub(super) body: &'a [u8],
}

/// The attributes of a message, or of one of its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

const HEADER_BYTES: usize = 16;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
/// The kernel marks attributes that hold attributes; what is left is the type.
const ATTRIBUTE_TYPE: u16 = 0x3fff;

const REQUEST: u16 = 0x1;
const ACKNOWLEDGE: u16 = 0x4;
const DUMP: u16 = 0x300;

impl Message {
    /// Begins a request of type `kind` whose fixed part is `fixed`.
    #[must_use]
    pub fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        Self { kind, flags: flags | REQUEST, body: fixed.to_vec() }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        put(&mut self.body, kind, value);
        self
    }

    /// Adds an attribute with the contents that `fill` writes into a message of its own.
    #[must_use]
    pub fn nested(mut self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let inner = fill(Self { body: Vec::new(), ..self });
        put(&mut self.body, kind, &inner.body);
        self
    }

    /// Adds raw bytes: the fixed part of a message in an attribute.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.body.extend_from_slice(bytes);
        self
    }

    /// The part behind the header.
    #[must_use]
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn with_acknowledgement(self) -> Self {
        Self { flags: self.flags | ACKNOWLEDGE, ..self }
    }

    pub(super) fn for_all(self) -> Self {
        Self { flags: self.flags | DUMP, ..self }
    }

    /// The bytes to send.
    pub(super) fn finish(&self, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(HEADER_BYTES + self.body.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.body.len());
        bytes.extend_from_slice(&length.to_ne_bytes());
        bytes.extend_from_slice(&self.kind.to_ne_bytes());
        bytes.extend_from_slice(&self.flags.to_ne_bytes());
        bytes.extend_from_slice(&sequence.to_ne_bytes());
        bytes.extend_from_slice(&0_u32.to_ne_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(ATTRIBUTE_HEADER_BYTES + value.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// The messages of a datagram; a truncated one at its end is skipped.
pub(super) fn answers(datagram: &[u8]) -> impl Iterator<Item = Answer<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = usize::try_from(u32::from_ne_bytes(*rest.first_chunk()?)).ok()?;
        let kind = u16::from_ne_bytes(*rest.get(4..)?.first_chunk()?);
        let flags = u16::from_ne_bytes(*rest.get(6..)?.first_chunk()?);
        let sequence = u32::from_ne_bytes(*rest.get(8..)?.first_chunk()?);
        let body = rest.get(HEADER_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Answer { kind, flags, sequence, body })
    })
}

impl<'a> Attributes<'a> {
    /// The value of the first attribute of type `kind`.
    #[must_use]
    pub fn get(self, kind: u16) -> Option<&'a [u8]> {
        self.iter().find(|(other, _)| *other == kind).map(|(_, value)| value)
    }

    /// The attribute `kind` as a number.
    #[must_use]
    pub fn number(self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(*self.get(kind)?.first_chunk()?))
    }

    /// The attribute `kind` as text, which ends in a zero.
    #[must_use]
    pub fn text(self, kind: u16) -> Option<&'a str> {
        std::str::from_utf8(self.get(kind)?.split(|byte| *byte == 0).next()?).ok()
    }

    /// Every attribute, its type and its value.
    pub fn iter(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
            let kind = u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?);
            let value = rest.get(ATTRIBUTE_HEADER_BYTES..length)?;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            Some((kind & ATTRIBUTE_TYPE, value))
        })
    }
}
