//! The meaning of the kernel's reason numbers, for other programs at the tracepoint.

use inband_node::config::DropReasonsConfig;

use super::causes::{Cause, Hints};
use super::codes::Codes;
use super::reasons::Reasons;
use crate::error::HostError;

/// The reasons of the running kernel, and the codes that reports give for them.
#[derive(Clone, Debug)]
pub struct Meaning {
    reasons: Reasons,
    codes: Codes,
}

impl Meaning {
    /// Reads the reasons from the running kernel.
    ///
    /// # Errors
    /// A kernel without a description of its types, or before 5.17, which gives no reasons.
    pub fn of_this_kernel(config: &DropReasonsConfig) -> Result<Self, HostError> {
        let reasons = Reasons::of_this_kernel()?;
        Ok(Self { codes: Codes::new(config, &reasons), reasons })
    }

    /// Applies the codes of another configuration.
    pub fn configure(&mut self, config: &DropReasonsConfig) {
        self.codes = Codes::new(config, &self.reasons);
    }

    /// The kernel's name of the reason, such as `IP_INNOROUTES`.
    #[must_use]
    pub fn name(&self, reason: u32) -> String {
        self.reasons.name(reason)
    }

    /// The reasons with their numbers and what they mean.
    pub fn causes(&self) -> impl Iterator<Item = (u32, Cause)> {
        self.reasons.iter().map(|(number, name)| (number, Cause::of(name)))
    }

    /// The code that reports give for a packet dropped for this reason; the error number of its route, 0 for
    /// none, refines it.
    #[must_use]
    pub fn code(&self, reason: u32, packet: &[u8], route_error: u16) -> u8 {
        let is_ipv6 = packet.first().is_some_and(|first| first >> 4 == 6);
        let hop_limit = packet.get(if is_ipv6 { 7 } else { 8 });
        let ttl_used_up = hop_limit.is_some_and(|limit| *limit <= 1);
        self.codes.code(&self.reasons, reason, Hints { ttl_used_up, route_error, is_ipv6 })
    }
}
