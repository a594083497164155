//! A switch's counters besides those of its node.

use std::io;

use inband_host::drops;
use inband_node::InterfaceCounters;
use inband_wire::drop_reason::Table;
use rustix::io::Errno;

/// Why a frame is dropped. The names are those in `/metrics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its queue has no room.
    QueueFull,
    /// No route leads to its destination, or only one by a foreign device.
    NoRoute,
    /// A route says that its destination is unreachable.
    RouteUnreachable,
    /// A route prohibits it.
    RouteProhibit,
    /// A route drops it and tells nobody.
    RouteBlackhole,
    /// Its time to live is used up.
    TtlExceeded,
    /// The next hop's Ethernet address is unknown.
    NeighbourUnresolved,
    /// It is longer than the interface sends, and may not be fragmented.
    TooBig,
    /// Its headers are truncated or contradict each other.
    Malformed,
    /// It would leave by the interface it came in by.
    SameInterface,
    /// It is for another Ethernet address than the switch's, or must not leave its link.
    NotForwarded,
    /// It needs segmentation of a kind that the switch does not support.
    Segmentation,
    /// The device refuses it.
    DeviceRefused,
    /// It was still waiting when the switch ended.
    Ended,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 14] = [
        Self::QueueFull,
        Self::NoRoute,
        Self::RouteUnreachable,
        Self::RouteProhibit,
        Self::RouteBlackhole,
        Self::TtlExceeded,
        Self::NeighbourUnresolved,
        Self::TooBig,
        Self::Malformed,
        Self::SameInterface,
        Self::NotForwarded,
        Self::Segmentation,
        Self::DeviceRefused,
        Self::Ended,
    ];

    /// Its name in metrics and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::NoRoute => "no_route",
            Self::RouteUnreachable => "route_unreachable",
            Self::RouteProhibit => "route_prohibit",
            Self::RouteBlackhole => "route_blackhole",
            Self::TtlExceeded => "ttl_exceeded",
            Self::NeighbourUnresolved => "neighbour_unresolved",
            Self::TooBig => "too_big",
            Self::Malformed => "malformed",
            Self::SameInterface => "same_interface",
            Self::NotForwarded => "not_forwarded",
            Self::Segmentation => "segmentation",
            Self::DeviceRefused => "device_refused",
            Self::Ended => "ended",
        }
    }

    /// The cause where a device, or a kernel queue before it, has refused a frame.
    pub(crate) fn of_refusal(error: &io::Error) -> Self {
        let is_too_long = error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error());
        if is_too_long { Self::TooBig } else { Self::DeviceRefused }
    }

    /// The code in drop reports, as where Linux forwards; `None`: such drops are a switch's normal work, and
    /// are not reported.
    pub(crate) const fn code(self, table: Table, is_ipv6: bool) -> Option<u8> {
        let cause = match self {
            Self::QueueFull => drops::Cause::TrafficManager,
            Self::NoRoute | Self::RouteUnreachable => drops::Cause::RouteMiss,
            Self::RouteProhibit => drops::Cause::AclDeny,
            Self::RouteBlackhole => drops::Cause::RouteDrop { is_ipv6 },
            Self::TtlExceeded => drops::Cause::TtlZero,
            Self::NeighbourUnresolved => drops::Cause::NeighborUnresolved,
            Self::TooBig => drops::Cause::MtuExceeded,
            Self::Malformed => drops::Cause::Malformed,
            Self::DeviceRefused => drops::Cause::DeviceDown,
            Self::SameInterface | Self::NotForwarded | Self::Segmentation | Self::Ended => return None,
        };
        Some(cause.code(table))
    }
}

/// The counters of one interface.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) received_packets: u64,
    pub(crate) received_bytes: u64,
    /// Frames that did not fit into the socket's buffer.
    pub(crate) receive_losses: u64,
    /// Frames passed to the host's own stack.
    pub(crate) to_host: u64,
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    /// Frames that have left their queue; the device has not taken all of them yet.
    pub(crate) departed_packets: u64,
    pub(crate) departed_bytes: u64,
    drops: [u64; Cause::ALL.len()],
    /// Those of them that came in by the interface.
    received_drops: u64,
}

impl Counts {
    /// Counts a frame that would have left by the interface.
    pub(crate) fn drop(&mut self, cause: Cause) {
        self.drop_many(cause, 1);
    }

    /// Counts frames that would have left by the interface.
    pub(crate) fn drop_many(&mut self, cause: Cause, frames: u64) {
        if let Some(count) = self.drops.get_mut(cause as usize) {
            *count += frames;
        }
    }

    /// Counts a frame that came in by the interface, and for which no egress was chosen.
    pub(crate) fn drop_received(&mut self, cause: Cause) {
        self.drop(cause);
        self.received_drops += 1;
    }

    /// What the interface has received.
    pub(crate) fn ingress(&self) -> InterfaceCounters {
        InterfaceCounters {
            packets: Some(self.received_packets),
            bytes: Some(self.received_bytes),
            drops: Some(self.receive_losses + self.received_drops),
        }
    }

    /// What the interface has sent.
    pub(crate) fn egress(&self) -> InterfaceCounters {
        InterfaceCounters {
            packets: Some(self.departed_packets),
            bytes: Some(self.departed_bytes),
            drops: Some(self.drops.iter().sum::<u64>() - self.received_drops),
        }
    }

    pub(crate) fn drops(&self) -> impl Iterator<Item = (Cause, u64)> {
        Cause::ALL.into_iter().zip(self.drops)
    }
}

#[cfg(test)]
mod tests;
