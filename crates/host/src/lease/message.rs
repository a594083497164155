//! Messages between agents: 120 bytes in network byte order, in a probe or in a UDP datagram.

use std::net::IpAddr;

use ring::hmac;

use crate::abi::{mapped, unmapped};

/// A message between agents.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                          "INBL"                               |
/// +---------------+---------------+---------------+---------------+
/// |  Version (2)  |     Kind      |    Reason     |     Clock     |
/// +---------------+---------------+---------------+---------------+
/// |                          Nonce (64)                           |
/// +---------------------------------------------------------------+
/// |                     Lease, milliseconds                       |
/// +---------------------------------------------------------------+
/// |                           Node ID                             |
/// +---------------------------------------------------------------+
/// |     Dialect, or packets with INT that have arrived (64)       |
/// +---------------------------------------------------------------+
/// |             Source of the flow, IPv4 mapped (128)             |
/// +---------------------------------------------------------------+
/// |          Destination of the flow, IPv4 mapped (128)           |
/// +-------------------------------+-------------------------------+
/// |          Source port          |       Destination port        |
/// +---------------+---------------+-------------------------------+
/// |   Protocol    |   Reserved    |          Reply port           |
/// +---------------+---------------+-------------------------------+
/// |       Length of the probe's IP packet without INT, bytes      |
/// +---------------------------------------------------------------+
/// |                  Generation of that count                     |
/// +---------------------------------------------------------------+
/// |           When the probe arrived, nanoseconds (64)            |
/// +---------------------------------------------------------------+
/// |                HMAC-SHA-256 of what is above (256)            |
/// |                 (zeros where there is no key)                 |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The nonce of the question that this is, or belongs to.
    pub(crate) nonce: u64,
    /// The sender's node id.
    pub(crate) node_id: u32,
    /// The source of the flow, or of the question.
    pub(crate) source: IpAddr,
    /// The destination.
    pub(crate) destination: IpAddr,
    pub(crate) body: Body,
}

/// The body of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Asks whether INT of this dialect is removed.
    Ask { dialect: u64 },
    /// A probe of a flow, which asks for a lease of this length.
    Probe { lease_ms: u32, dialect: u64, ports: (u16, u16), protocol: u8, reply_port: u16, length: u32 },
    /// A lease of this length, from the time the probe was sent.
    Grant { lease_ms: u32, arrived: Arrived },
    /// A refusal.
    Refuse(Refusal),
    /// The end of all leases.
    Withdraw,
    /// The sender has stopped INT: acknowledges the withdrawal.
    Withdrawn,
    /// Agrees to an ask.
    Agree,
    /// INT was removed from the probe, but no packet of its flow has arrived yet.
    Seen(Stamp),
}

/// The number of packets with INT of a flow that had arrived at the sink when its probe did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// Changes when counting begins anew; 0: not counted.
    pub(crate) generation: u32,
    /// All packets since an arbitrary start, the lowest 32 bits.
    pub(crate) packets: u32,
}

/// When a probe arrived at the sink, by its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The kind of clock, as [`Clock::code`](crate::Clock) returns it; 0: unknown.
    pub(crate) clock: u8,
    /// Nanoseconds of that clock.
    pub(crate) time: u64,
}

/// Why no lease is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The sink would not understand the INT.
    Dialect,
    /// The sink has too many leases.
    Full,
    /// The agent is shutting down.
    Ending,
    /// The source is not a peer.
    Stranger,
    /// A reason unknown to this agent.
    Unknown(u8),
}

/// The secrets that agents share: the first signs, all verify; without any nothing is signed.
#[derive(Debug, Default)]
pub(crate) struct Keys(Vec<hmac::Key>);

pub(crate) const MESSAGE_BYTES: usize = 120;
/// A length that makes the message's length field as large as possible.
pub(crate) const MAX_LENGTH: u32 = 0xffff;
const SIGNED_BYTES: usize = 88;
const MAGIC: [u8; 4] = *b"INBL";
const VERSION: u8 = 2;

impl Keys {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(secrets.into_iter().map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret)).collect())
    }

    fn are_right(&self, signed: &[u8], signature: &[u8]) -> bool {
        self.0.is_empty() || self.0.iter().any(|key| hmac::verify(key, signed, signature).is_ok())
    }
}

impl Message {
    pub(crate) fn to_bytes(self, keys: &Keys) -> [u8; MESSAGE_BYTES] {
        let (mut reason, mut lease, mut for_dialect, mut flow) = (0, 0, 0, ((0, 0), 0, 0, 0));
        let (mut generation, mut stamp) = (0, Stamp::default());
        let kind = match self.body {
            Body::Ask { dialect } => {
                for_dialect = dialect;
                1
            }
            Body::Grant { lease_ms, arrived } => {
                (lease, for_dialect, generation) = (lease_ms, arrived.packets.into(), arrived.generation);
                2
            }
            Body::Refuse(refusal) => {
                reason = refusal.code();
                3
            }
            Body::Withdraw => 4,
            Body::Withdrawn => 5,
            Body::Probe { lease_ms, dialect, ports, protocol, reply_port, length } => {
                (lease, for_dialect, flow) = (lease_ms, dialect, (ports, protocol, reply_port, length));
                6
            }
            Body::Agree => 7,
            Body::Seen(of_probe) => {
                stamp = of_probe;
                8
            }
        };
        let ((source_port, destination_port), protocol, reply_port, length) = flow;
        let fields: [&[u8]; 15] = [
            &MAGIC,
            &[VERSION, kind, reason, stamp.clock],
            &self.nonce.to_be_bytes(),
            &lease.to_be_bytes(),
            &self.node_id.to_be_bytes(),
            &for_dialect.to_be_bytes(),
            &mapped(self.source),
            &mapped(self.destination),
            &source_port.to_be_bytes(),
            &destination_port.to_be_bytes(),
            &[protocol, 0],
            &reply_port.to_be_bytes(),
            &length.to_be_bytes(),
            &generation.to_be_bytes(),
            &stamp.time.to_be_bytes(),
        ];
        let mut bytes = [0; MESSAGE_BYTES];
        let (signed, signature) = bytes.split_at_mut(SIGNED_BYTES);
        signed.iter_mut().zip(fields.concat()).for_each(|(byte, of_field)| *byte = of_field);
        if let Some(key) = keys.0.first() {
            let tag = hmac::sign(key, signed);
            signature.iter_mut().zip(tag.as_ref()).for_each(|(byte, of_tag)| *byte = *of_tag);
        }
        bytes
    }

    /// Reads a message; `None`: not one of this version, or not signed with one of `keys`.
    pub(crate) fn from_bytes(bytes: &[u8], keys: &Keys) -> Option<Self> {
        let bytes: &[u8; MESSAGE_BYTES] = bytes.try_into().ok()?;
        let (signed, signature) = bytes.split_at_checked(SIGNED_BYTES)?;
        let short = |at: usize| Some(u16::from_be_bytes(*signed.get(at..)?.first_chunk()?));
        let number = |at: usize| Some(u32::from_be_bytes(*signed.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_be_bytes(*signed.get(at..)?.first_chunk()?));
        let address = |at: usize| Some(unmapped(*signed.get(at..)?.first_chunk()?));
        let [version, kind, reason, clock] = *signed.get(4..)?.first_chunk()?;
        if *signed.first_chunk()? != MAGIC || version != VERSION || !keys.are_right(signed, signature) {
            return None;
        }
        let (lease_ms, dialect) = (number(16)?, long(24)?);
        let body = match kind {
            1 => Body::Ask { dialect },
            2 => {
                let packets = u32::try_from(dialect & u64::from(u32::MAX)).unwrap_or_default();
                Body::Grant { lease_ms, arrived: Arrived { generation: number(76)?, packets } }
            }
            3 => Body::Refuse(Refusal::from_code(reason)),
            4 => Body::Withdraw,
            5 => Body::Withdrawn,
            6 => Body::Probe {
                lease_ms,
                dialect,
                ports: (short(64)?, short(66)?),
                protocol: *signed.get(68)?,
                reply_port: short(70)?,
                length: number(72)?,
            },
            7 => Body::Agree,
            8 => Body::Seen(Stamp { clock, time: long(80)? }),
            _ => return None,
        };
        let (source, destination) = (address(32)?, address(48)?);
        Some(Self { nonce: long(8)?, node_id: number(20)?, source, destination, body })
    }
}

impl Refusal {
    const fn code(self) -> u8 {
        match self {
            Self::Dialect => 1,
            Self::Full => 2,
            Self::Ending => 3,
            Self::Stranger => 4,
            Self::Unknown(code) => code,
        }
    }

    const fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Dialect,
            2 => Self::Full,
            3 => Self::Ending,
            4 => Self::Stranger,
            code => Self::Unknown(code),
        }
    }

    /// The reason, for users.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Dialect => "it takes out INT of another version or encapsulation".to_owned(),
            Self::Full => "it has granted as many leases as it can".to_owned(),
            Self::Ending => "it ends".to_owned(),
            Self::Stranger => "this host is none of its peers".to_owned(),
            Self::Unknown(code) => format!("reason {code}"),
        }
    }
}
