//! Pairs of virtual Ethernet devices.

use std::io;
use std::os::fd::AsRawFd;

use crate::device::{
    ADDRESS, CREATE, INFO_DATA, INFO_KIND, LINK_INFO, MTU, NAME, NEW_LINK, link, zero_terminated,
};
use crate::namespace::Namespace;
use crate::netlink::{Message, Netlink};

/// One end of a pair.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it is created; `None`: in the namespace of the netlink connection.
    pub namespace: Option<&'a Namespace>,
    /// Its Ethernet address; `None`: a random one of the kernel.
    pub address: Option<[u8; 6]>,
    /// The largest IP packet it sends, bytes; `None`: 1500.
    pub mtu: Option<u32>,
}

impl<'a> End<'a> {
    /// An end named `name` in `namespace`.
    #[must_use]
    pub const fn new(name: &'a str, namespace: &'a Namespace) -> Self {
        Self { name, namespace: Some(namespace), address: None, mtu: None }
    }

    fn put(&self, message: Message) -> Message {
        let mut message = message.attribute(NAME, &zero_terminated(self.name));
        if let Some(address) = self.address {
            message = message.attribute(ADDRESS, &address);
        }
        if let Some(mtu) = self.mtu {
            message = message.attribute(MTU, &mtu.to_ne_bytes());
        }
        if let Some(namespace) = self.namespace {
            message = message.attribute(NAMESPACE, &namespace.as_raw_fd().to_ne_bytes());
        }
        message
    }
}

/// Creates a pair of devices, both down. Deleting one of them deletes both.
///
/// # Errors
/// An error of the kernel, for example that a name is in use.
pub fn create(netlink: &mut Netlink, ends: [End<'_>; 2]) -> io::Result<()> {
    let [near, far] = ends;
    netlink.change(near.put(Message::new(NEW_LINK, CREATE, &link(0))).nested(LINK_INFO, |info| {
        info.attribute(INFO_KIND, b"veth")
            .nested(INFO_DATA, |data| data.nested(PEER, |peer| far.put(peer.bytes(&link(0)))))
    }))
}

/// `VETH_INFO_PEER`.
const PEER: u16 = 1;
/// `IFLA_NET_NS_FD`.
const NAMESPACE: u16 = 28;
