//! What do agents write to each other? One UDP datagram of 64 bytes, in network byte order.

use ring::hmac;

/// A message between agents.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                          "INBL"                               |
/// +---------------+---------------+---------------+---------------+
/// |  Version (1)  |     Kind      |    Reason     |   Reserved    |
/// +---------------+---------------+---------------+---------------+
/// |                          Nonce (64)                           |
/// |                                                               |
/// +---------------------------------------------------------------+
/// |                     Lease, milliseconds                       |
/// +---------------------------------------------------------------+
/// |                           Node ID                             |
/// +---------------------------------------------------------------+
/// |                         Dialect (64)                          |
/// |                                                               |
/// +---------------------------------------------------------------+
/// |                HMAC-SHA-256 of what is above (256)            |
/// |                 (zeros where there is no key)                 |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Of the ask that this is, or belongs to.
    pub(crate) nonce: u64,
    /// Of who says this.
    pub(crate) node_id: u32,
    pub(crate) body: Body,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// May I send you INT of this dialect, for so long?
    Ask { lease_ms: u32, dialect: u64 },
    /// For so long from when you asked.
    Grant { lease_ms: u32 },
    /// No.
    Refuse(Refusal),
    /// Not any more.
    Withdraw,
    /// None is sent any more.
    Withdrawn,
}

/// Why no lease is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The INT would not be understood.
    Dialect,
    /// Too many others have leases.
    Full,
    /// The agent ends.
    Ending,
    /// A reason this agent does not know.
    Unknown(u8),
}

/// The secret that agents share.
#[derive(Debug)]
pub(crate) struct Key(hmac::Key);

pub(crate) const MESSAGE_BYTES: usize = 64;
const SIGNED_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"INBL";
const VERSION: u8 = 1;

impl Key {
    pub(crate) fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

impl Message {
    pub(crate) fn to_bytes(self, key: Option<&Key>) -> [u8; MESSAGE_BYTES] {
        let (kind, reason, lease_ms, dialect) = match self.body {
            Body::Ask { lease_ms, dialect } => (1, 0, lease_ms, dialect),
            Body::Grant { lease_ms } => (2, 0, lease_ms, 0),
            Body::Refuse(refusal) => (3, refusal.code(), 0, 0),
            Body::Withdraw => (4, 0, 0, 0),
            Body::Withdrawn => (5, 0, 0, 0),
        };
        let mut bytes = [0; MESSAGE_BYTES];
        let fields: [&[u8]; 6] = [
            &MAGIC,
            &[VERSION, kind, reason, 0],
            &self.nonce.to_be_bytes(),
            &lease_ms.to_be_bytes(),
            &self.node_id.to_be_bytes(),
            &dialect.to_be_bytes(),
        ];
        let (signed, signature) = bytes.split_at_mut(SIGNED_BYTES);
        signed.copy_from_slice(&fields.concat());
        if let Some(Key(key)) = key {
            let tag = hmac::sign(key, signed);
            signature.iter_mut().zip(tag.as_ref()).for_each(|(byte, of_tag)| *byte = *of_tag);
        }
        bytes
    }

    /// Reads a message; `None`: it is none of this version, or not of somebody who has `key`.
    pub(crate) fn from_bytes(bytes: &[u8], key: Option<&Key>) -> Option<Self> {
        let bytes: &[u8; MESSAGE_BYTES] = bytes.try_into().ok()?;
        let (signed, signature) = bytes.split_at_checked(SIGNED_BYTES)?;
        if let Some(Key(key)) = key {
            hmac::verify(key, signed, signature).ok()?;
        }
        let number = |at: usize| Some(u32::from_be_bytes(*signed.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_be_bytes(*signed.get(at..)?.first_chunk()?));
        let [version, kind, reason, _] = *signed.get(4..)?.first_chunk()?;
        if *signed.first_chunk()? != MAGIC || version != VERSION {
            return None;
        }
        let lease_ms = number(16)?;
        let body = match kind {
            1 => Body::Ask { lease_ms, dialect: long(24)? },
            2 => Body::Grant { lease_ms },
            3 => Body::Refuse(Refusal::from_code(reason)),
            4 => Body::Withdraw,
            5 => Body::Withdrawn,
            _ => return None,
        };
        Some(Self { nonce: long(8)?, node_id: number(20)?, body })
    }
}

impl Refusal {
    const fn code(self) -> u8 {
        match self {
            Self::Dialect => 1,
            Self::Full => 2,
            Self::Ending => 3,
            Self::Unknown(code) => code,
        }
    }

    const fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Dialect,
            2 => Self::Full,
            3 => Self::Ending,
            code => Self::Unknown(code),
        }
    }

    /// The reason, for users.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Dialect => "it takes out INT of another version or encapsulation".to_owned(),
            Self::Full => "it has granted as many leases as it can".to_owned(),
            Self::Ending => "it ends".to_owned(),
            Self::Unknown(code) => format!("reason {code}"),
        }
    }
}
