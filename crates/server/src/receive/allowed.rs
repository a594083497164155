//! The addresses that may report: `[receive] allow`.

use std::net::SocketAddr;

use inband_model::Prefix;

/// The prefixes of addresses that may report; without any, every address may.
#[derive(Debug, Clone, Default)]
pub(super) struct Allowed(Vec<Prefix>);

impl Allowed {
    pub(super) fn new(prefixes: &[Prefix]) -> Allowed {
        Allowed(prefixes.to_vec())
    }

    /// Whether this sender may report.
    pub(super) fn includes(&self, from: SocketAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|prefix| prefix.contains(from.ip()))
    }
}
