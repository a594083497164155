//! A probe as a router quotes it in an ICMP message.

use std::net::IpAddr;

use super::cause::Cause;
use super::stack::{Ended, Hop, Read, Seen};

/// A probe as a router quotes it.
#[derive(Debug, Clone)]
pub(super) struct Quote {
    /// The router that quotes it.
    pub(super) from: IpAddr,
    /// Its number.
    pub(super) number: u16,
    /// Why the router did not forward it.
    pub(super) cause: Cause,
    /// Its TTL when the router received it.
    pub(super) ttl: u8,
    /// The INT it carried; `None`: it was not marked as INT any more.
    pub(super) int: Option<Carried>,
}

/// The INT in a quote.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    /// The hops it had passed and that the quote is long enough to show, first hop first.
    pub(super) hops: Vec<Hop>,
    /// Number of hops it had passed, shown or not.
    pub(super) hop_count: usize,
    /// Whether hops could add no more metadata: no more were allowed (E), or a link had no room (M).
    pub(super) is_full: bool,
}

impl Carried {
    pub(super) fn of(read: Read) -> Self {
        let is_full = read.remaining_hop_count == 0 || read.max_hops_exceeded || read.mtu_exceeded;
        Self { hop_count: read.hop_count, hops: read.hops, is_full }
    }
}

impl Quote {
    /// What this quote alone shows about a probe to `destination` with the initial TTL `sent`.
    pub(super) fn seen(self, destination: IpAddr, sent: u8) -> Seen {
        let (ended, reason) = (self.ended(destination), self.reason());
        let distance = sent.saturating_sub(self.ttl).saturating_add(1);
        let int = self.int.unwrap_or_default();
        Seen {
            hidden_hops: int.hop_count.saturating_sub(int.hops.len()),
            added: (ended == Ended::NoSink && !int.is_full).then_some(int.hop_count),
            at: Some(self.from),
            reason,
            distance: Some(distance),
            ..Seen::new(int.hops, ended)
        }
    }

    /// Where INT ended.
    pub(super) fn ended(&self, destination: IpAddr) -> Ended {
        match self.cause {
            _ if self.int.is_none() => Ended::MarkCleared,
            Cause::NotTaken => Ended::NoSink,
            _ if self.from == destination => Ended::NoSink,
            Cause::TimeExceeded | Cause::Undeliverable(_) => Ended::Lost,
        }
    }

    /// Why the probe could not be delivered; `None`: it was.
    pub(super) const fn reason(&self) -> Option<&'static str> {
        match self.cause {
            Cause::Undeliverable(reason) => Some(reason),
            Cause::TimeExceeded => Some("time exceeded"),
            Cause::NotTaken => None,
        }
    }
}

#[cfg(test)]
mod tests;
