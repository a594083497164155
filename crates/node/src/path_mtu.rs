//! Messages to the sender of a packet that is too big to carry INT.
//!
//! "Fragmentation needed" of ICMP (RFC 792, RFC 1191, RFC 1812) or "packet too big" of ICMPv6 (RFC 4443,
//! RFC 8201), sent to the packet's source. The message quotes the original packet.

mod message;

pub(crate) use message::Original;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::icmp;
use inband_wire::ipv4::Ipv4Header;
use inband_wire::layers::{Fragment, IpVersion, Layers, Link};
use inband_wire::view::view;

use crate::config::{Icmp, MtuConfig};
use crate::core::Core;
use crate::counters::Outcome;
use crate::output::OwnPacket;
use crate::token_bucket::TokenBucket;
use crate::waiting::Waiting;

/// Settings of path MTU discovery: whether, and from which address, packets are answered that INT makes
/// exceed the egress MTU.
// int-2.1/mtu-02
#[derive(Clone, Debug)]
pub(crate) struct PathMtu {
    icmp: Icmp,
    source_ipv4: Ipv4Addr,
    source_ipv6: Ipv6Addr,
    per_second: u32,
}

/// Pending messages and their rate limit.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    bucket: TokenBucket,
    waiting: Waiting<OwnPacket>,
}

impl PathMtu {
    pub(crate) fn new(config: &MtuConfig) -> Self {
        Self {
            icmp: config.icmp,
            source_ipv4: config.icmp_source_ipv4,
            source_ipv6: config.icmp_source_ipv6,
            per_second: config.icmp_per_second,
        }
    }

    /// Whether senders are notified.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.icmp != Icmp::Off
    }

    /// Whether the reported MTU leaves room for the metadata of all remaining hops.
    // int-2.1/mtu-03, int-2.1/mtu-04
    pub(crate) fn is_conservative(&self) -> bool {
        self.icmp == Icmp::Conservative
    }

    fn source(&self, version: IpVersion) -> IpAddr {
        match version {
            IpVersion::V4 => IpAddr::V4(self.source_ipv4),
            IpVersion::V6 => IpAddr::V6(self.source_ipv6),
        }
    }
}

impl Answers {
    /// The messages of one core, with its share of the rate.
    pub(crate) fn new(settings: &PathMtu, core: Core) -> Self {
        Self { bucket: TokenBucket::new(core.share(settings.per_second)), waiting: Waiting::default() }
    }

    /// Advances the clock to `now`, nanoseconds of the device's clock.
    pub(crate) fn advance(&mut self, now: u64) {
        self.bucket.advance(now);
    }

    /// Answers `original`, which should have been at most `mtu` bytes long; returns the outcome.
    pub(crate) fn answer(
        &mut self,
        settings: &PathMtu,
        original: &Original<'_>,
        mtu: usize,
        dscp: u8,
    ) -> Outcome {
        let least = match original.layers.ip {
            IpVersion::V4 => MIN_MTU_V4,
            IpVersion::V6 => MIN_MTU_V6,
        };
        // An MTU that no sender can comply with is not reported.
        let mtu = mtu.max(least);
        if mtu >= original.layers.ip_length() || !may_be_answered(original) {
            return Outcome::IcmpWithheld;
        }
        if !self.bucket.take() {
            return Outcome::IcmpLimited;
        }
        let own = settings.source(original.layers.ip);
        let Some(bytes) = message::write(original, own, mtu, dscp) else {
            return Outcome::IcmpWithheld;
        };
        let reply = OwnPacket { egress: original.ingress, link: original.link, bytes };
        if self.waiting.push(reply) { Outcome::IcmpSent } else { Outcome::IcmpShed }
    }

    /// Returns the oldest pending message.
    pub(crate) fn poll(&mut self) -> Option<OwnPacket> {
        self.waiting.poll()
    }
}

/// Whether the RFCs let an error message answer the packet.
fn may_be_answered(original: &Original<'_>) -> bool {
    let Original { bytes, layers, .. } = *original;
    let (source, destination) = layers.addresses(bytes);
    let first = bytes.get(layers.l4..layers.end.min(bytes.len())).and_then(<[u8]>::first).copied();
    if layers.fragment == Fragment::Later || icmp::may_be_error(layers.protocol, first) {
        return false;
    }
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            // RFC 1812, section 4.3.2.7: no packet sent to a broadcast or multicast address, and no invalid
            // source.
            is_host(source)
                && !destination.is_multicast()
                && !destination.is_broadcast()
                && !is_sent_to_many(original)
                && is_whole_and_may_not_be_fragmented(bytes, layers)
        }
        // RFC 4443, section 2.4 (e): "packet too big" also answers multicast packets.
        (IpAddr::V6(source), _) => {
            !source.is_unspecified() && !source.is_multicast() && !source.is_loopback()
        }
        _ => false,
    }
}

/// Not 0.0.0.0/8, 127.0.0.0/8, a multicast, reserved or broadcast address.
const fn is_host(source: Ipv4Addr) -> bool {
    let [first, ..] = source.octets();
    !source.is_loopback() && first != 0 && first < 224
}

fn is_sent_to_many(original: &Original<'_>) -> bool {
    original.link == Link::Ethernet && original.bytes.first().is_some_and(|first| first & 1 != 0)
}

/// DF is set, without which a router would fragment silently, and the header checksum is correct.
fn is_whole_and_may_not_be_fragmented(bytes: &[u8], layers: &Layers) -> bool {
    let Ok(header) = view::<Ipv4Header>(bytes, layers.l3, Header::Ipv4) else { return false };
    let is_right = |header: &[u8]| Sum::of(header).fold() == 0xffff;
    header.dont_fragment() && bytes.get(layers.l3..layers.l3 + header.header_length()).is_some_and(is_right)
}

/// Every IPv4 link carries this much: RFC 791.
const MIN_MTU_V4: usize = 68;
/// Every IPv6 link carries this much: RFC 8200; RFC 8201 forbids hosts to go below.
const MIN_MTU_V6: usize = 1280;
