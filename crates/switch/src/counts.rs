//! What a switch counts beside what its node does.

use std::io;

use rustix::io::Errno;

/// Why a frame goes nowhere. The names are those of `/metrics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its queue has no room.
    QueueFull,
    /// No route leads to its destination, or only one by a device that is none of the switch's.
    NoRoute,
    /// A route says to drop it.
    RouteDrop,
    /// Its time to live is over.
    TtlExceeded,
    /// The next hop's Ethernet address is not known.
    NeighbourUnresolved,
    /// It is longer than the interface sends, and may not be fragmented.
    TooBig,
    /// Its headers are cut or contradict each other.
    Malformed,
    /// It would leave by the interface it came in by.
    SameInterface,
    /// It is to another Ethernet address than the switch's, or is not to leave its link.
    NotForwarded,
    /// It is a packet to be segmented of a kind that the switch does not know.
    Segmentation,
    /// The device does not take it.
    DeviceRefused,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 11] = [
        Self::QueueFull,
        Self::NoRoute,
        Self::RouteDrop,
        Self::TtlExceeded,
        Self::NeighbourUnresolved,
        Self::TooBig,
        Self::Malformed,
        Self::SameInterface,
        Self::NotForwarded,
        Self::Segmentation,
        Self::DeviceRefused,
    ];

    /// Its name in metrics and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::NoRoute => "no_route",
            Self::RouteDrop => "route_drop",
            Self::TtlExceeded => "ttl_exceeded",
            Self::NeighbourUnresolved => "neighbour_unresolved",
            Self::TooBig => "too_big",
            Self::Malformed => "malformed",
            Self::SameInterface => "same_interface",
            Self::NotForwarded => "not_forwarded",
            Self::Segmentation => "segmentation",
            Self::DeviceRefused => "device_refused",
        }
    }

    /// The cause where a device, or a queue of the kernel's in front of it, has refused a frame.
    pub(crate) fn of_refusal(error: &io::Error) -> Self {
        let is_too_long = error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error());
        if is_too_long { Self::TooBig } else { Self::DeviceRefused }
    }

    /// The code in drop reports; `None`: dropping such frames is what a switch is for, and is not reported.
    pub(crate) const fn code(self, tail_drop: u8) -> Option<u8> {
        match self {
            Self::QueueFull => Some(tail_drop),
            Self::NoRoute => Some(29),
            Self::RouteDrop => Some(207),
            Self::TtlExceeded => Some(26),
            Self::NeighbourUnresolved => Some(195),
            Self::TooBig => Some(200),
            Self::Malformed => Some(198),
            Self::DeviceRefused => Some(196),
            Self::SameInterface | Self::NotForwarded | Self::Segmentation => None,
        }
    }
}

/// Counts of one interface.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) received_packets: u64,
    pub(crate) received_bytes: u64,
    /// Frames the socket had no room for.
    pub(crate) receive_losses: u64,
    /// Frames for the switch's own stack, which has them.
    pub(crate) to_host: u64,
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    drops: [u64; Cause::ALL.len()],
}

impl Counts {
    pub(crate) fn drop(&mut self, cause: Cause) {
        if let Some(count) = self.drops.get_mut(cause as usize) {
            *count += 1;
        }
    }

    pub(crate) fn drops(&self) -> impl Iterator<Item = (Cause, u64)> {
        Cause::ALL.into_iter().zip(self.drops)
    }
}
