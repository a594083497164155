//! What can be set about receiving?

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU8;

use serde::{Deserialize, Serialize};

use crate::receive::Prefix;

/// Where reports come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiveSettings {
    /// Addresses to receive reports on, of every version on each. Default `127.0.0.1:32766`.
    pub listen: Vec<SocketAddr>,
    /// Sockets and threads for each address, 1 to 255. Default 1.
    pub workers: NonZeroU8,
    /// Prefixes reports may come from; empty: any. Default empty.
    pub allow: Vec<Prefix>,
    /// Bytes the kernel may keep for each socket; it may grant less. Default 4,194,304.
    pub socket_buffer_bytes: u32,
    /// Bytes that may wait to be understood, for all sockets together; more is shed. Default 67,108,864.
    pub queue_bytes: usize,
}

impl Default for ReceiveSettings {
    fn default() -> ReceiveSettings {
        ReceiveSettings {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, REPORT_PORT))],
            workers: NonZeroU8::MIN,
            allow: Vec::new(),
            socket_buffer_bytes: 4 << 20,
            queue_bytes: 64 << 20,
        }
    }
}

/// UDP port that reports are sent to by custom.
pub(crate) const REPORT_PORT: u16 = 32_766;
