//! The counters of a network device.

use std::io;

use crate::netlink::{Attributes, Message, Netlink};

/// The counters of a device since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Frames received.
    pub received_packets: u64,
    /// Frames sent.
    pub sent_packets: u64,
    /// Bytes of the frames received.
    pub received_bytes: u64,
    /// Bytes of the frames sent.
    pub sent_bytes: u64,
    /// Received frames that the device or the kernel dropped before they were handled.
    pub receive_drops: u64,
    /// Frames dropped on sending.
    pub send_drops: u64,
}

impl Statistics {
    /// Reads the counters of the device with this interface index; `None`: unknown.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn read(netlink: &mut Netlink, index: u32) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        for (at, value) in [(INDEX_AT, index), (FILTER_AT, LINK_64_ALONE)] {
            if let Some(room) = header.get_mut(at..at + 4) {
                room.copy_from_slice(&value.to_ne_bytes());
            }
        }
        let mut statistics = None;
        netlink.query(Message::new(GET_STATISTICS, 0, &header), |kind, body| {
            if kind == NEW_STATISTICS {
                let counters = body.get(HEADER_BYTES..).and_then(|body| Attributes(body).get(LINK_64));
                statistics = counters.and_then(Self::from_counters);
            }
        })?;
        Ok(statistics)
    }

    /// The fields of a `struct rtnl_link_stats64`.
    fn from_counters(counters: &[u8]) -> Option<Self> {
        let counter = |at: usize| Some(u64::from_ne_bytes(*counters.get(8 * at..)?.first_chunk()?));
        Some(Self {
            received_packets: counter(0)?,
            sent_packets: counter(1)?,
            received_bytes: counter(2)?,
            sent_bytes: counter(3)?,
            // Two counters of errors are in between.
            receive_drops: counter(6)?,
            send_drops: counter(7)?,
        })
    }
}

/// `struct if_stats_msg`.
const HEADER_BYTES: usize = 12;
const INDEX_AT: usize = 4;
const FILTER_AT: usize = 8;
/// `RTM_NEWSTATS` and `RTM_GETSTATS`.
const NEW_STATISTICS: u16 = 92;
const GET_STATISTICS: u16 = 94;
/// `IFLA_STATS_LINK_64`, which holds a `struct rtnl_link_stats64`, and the filter for it alone.
const LINK_64: u16 = 1;
const LINK_64_ALONE: u32 = 1;
