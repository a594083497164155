//! Which network devices are there, and what is to be known of them?

use std::io;

use crate::netlink::{Attributes, Message, Netlink};

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Device {
    /// Interface index.
    pub(crate) index: u32,
    pub(crate) name: String,
    /// The largest IP packet, bytes.
    pub(crate) mtu: u32,
    /// Whether its frames are those of Ethernet.
    pub(crate) is_ethernet: bool,
    /// Whether it is up, and so is what is at its other end.
    pub(crate) is_running: bool,
    /// Whether the kernel has noticed so, and given it a queue; until then it drops what is sent.
    pub(crate) is_operational: bool,
    pub(crate) address: Vec<u8>,
}

/// Every device of this network namespace.
///
/// # Errors
/// What the kernel says.
pub(crate) fn all(netlink: &mut Netlink) -> io::Result<Vec<Device>> {
    let mut devices = Vec::new();
    netlink.dump(Message::new(GET_LINK, 0, &[0; LINK_BYTES]), |kind, body| {
        devices.extend(Device::read(body).filter(|_| kind == NEW_LINK));
    })?;
    Ok(devices)
}

/// How many bytes the device with this interface index has sent; `None`: the kernel does not say.
///
/// # Errors
/// What the kernel says.
pub(crate) fn sent_bytes(netlink: &mut Netlink, index: u32) -> io::Result<Option<u64>> {
    let mut asked = [0; STATISTICS_BYTES];
    for (at, value) in [(4, index), (8, LINK_64_ALONE)] {
        if let Some(room) = asked.get_mut(at..at + 4) {
            room.copy_from_slice(&value.to_ne_bytes());
        }
    }
    let mut sent = None;
    netlink.query(Message::new(GET_STATISTICS, 0, &asked), |kind, body| {
        let counters =
            body.get(STATISTICS_BYTES..).and_then(|attributes| Attributes(attributes).get(LINK_64));
        let counter = counters.and_then(|counters| counters.get(SENT_BYTES_AT..)?.first_chunk());
        if let Some(counter) = counter.filter(|_| kind == NEW_STATISTICS) {
            sent = Some(u64::from_ne_bytes(*counter));
        }
    })?;
    Ok(sent)
}

impl Device {
    /// Reads `struct ifinfomsg` and its attributes.
    fn read(body: &[u8]) -> Option<Self> {
        let attributes = Attributes(body.get(LINK_BYTES..)?);
        let flags = u32::from_ne_bytes(*body.get(8..)?.first_chunk()?);
        Some(Self {
            index: u32::from_ne_bytes(*body.get(4..)?.first_chunk()?),
            name: attributes.text(NAME)?.to_owned(),
            mtu: attributes.number(MTU)?,
            is_ethernet: u16::from_ne_bytes(*body.get(2..)?.first_chunk()?) == ETHERNET,
            is_running: flags & RUNNING == RUNNING,
            is_operational: flags & OPERATIONAL != 0,
            address: attributes.get(ADDRESS).unwrap_or_default().to_vec(),
        })
    }
}

impl Device {
    /// Whether it is one side of a shim.
    pub(crate) fn is_shim(&self) -> bool {
        self.address.starts_with(&crate::shim::MARK)
    }
}

/// Whether `name` is one that `pattern` means, in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|at| name.get(at..).is_some_and(|left| matches(rest, left)))
}

/// `struct ifinfomsg`.
pub(crate) const LINK_BYTES: usize = 16;
pub(crate) const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
pub(crate) const ADDRESS: u16 = 1;
pub(crate) const NAME: u16 = 3;
pub(crate) const MTU: u16 = 4;
const NEW_STATISTICS: u16 = 92;
const GET_STATISTICS: u16 = 94;
/// `struct if_stats_msg`.
const STATISTICS_BYTES: usize = 12;
/// `IFLA_STATS_LINK_64`, which holds a `struct rtnl_link_stats64`, and the filter for it alone.
const LINK_64: u16 = 1;
const LINK_64_ALONE: u32 = 1;
/// Packets received and sent and bytes received stand in front of bytes sent.
const SENT_BYTES_AT: usize = 24;
/// `IFF_UP` and `IFF_LOWER_UP`.
const RUNNING: u32 = 0x1_0001;
/// `IFF_RUNNING`.
const OPERATIONAL: u32 = 0x40;
/// `ARPHRD_ETHER`.
const ETHERNET: u16 = 1;

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, fits) in [
            ("eth0", "eth0", true),
            ("eth0", "eth00", false),
            ("veth*", "veth", true),
            ("veth*", "veth1a2b", true),
            ("veth*", "xveth", false),
            ("*", "", true),
            ("e*1", "enp3s1", true),
            ("e*1", "enp3s10", false),
            ("e*s*0", "enp3s10", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
