//! The key of the report filter.

use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;

use inband_wire::FiveTuple;

/// The subject of at most one report per interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) flow: FiveTuple,
    /// Drop reason of the flow's packets; `None` for forwarded ones.
    pub(super) reason: Option<u8>,
}

impl Key {
    /// Mixes the key into 64 bits in a single write: SipHash is slow on short pieces.
    pub(super) fn hash(&self) -> u64 {
        let FiveTuple { source, destination, protocol, source_port, destination_port } = self.flow;
        let mut bytes = [0; MAX_KEY_BYTES];
        let mut at = 0;
        let mut put = |piece: &[u8]| {
            if let Some(to) = bytes.get_mut(at..at + piece.len()) {
                to.copy_from_slice(piece);
            }
            at += piece.len();
        };
        for address in [source, destination] {
            match address {
                IpAddr::V4(address) => put(&address.octets()),
                IpAddr::V6(address) => put(&address.octets()),
            }
        }
        put(&source_port.to_be_bytes());
        put(&destination_port.to_be_bytes());
        let [reason, has_reason] = self.reason.map_or([0, 0], |reason| [reason, 1]);
        put(&[protocol, reason, has_reason]);
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes.get(..at).unwrap_or_default());
        hasher.finish()
    }
}

/// Two IPv6 addresses, ports, protocol, reason, and whether there is a reason.
const MAX_KEY_BYTES: usize = 2 * 16 + 4 + 3;
