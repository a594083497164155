//! Netfilter: whether there are rules for forwarded packets.

use std::{fs, io};

use crate::netlink::{Message, Netlink};

/// Whether this network namespace has a table of nftables, or of legacy iptables, even an empty one.
///
/// # Errors
/// An error of the kernel.
pub fn has_tables() -> io::Result<bool> {
    // A legacy table exists from its first use on.
    let is_used = |name| {
        fs::read_to_string(format!("/proc/thread-self/net/{name}")).is_ok_and(|names| !names.is_empty())
    };
    if is_used("ip_tables_names") || is_used("ip6_tables_names") {
        return Ok(true);
    }
    let mut count = 0;
    // Protocol and family 0: all of them.
    let asked = Netlink::open_netfilter()
        .and_then(|mut netlink| netlink.dump(Message::new(GET_TABLE, 0, &[0; 4]), |_, _| count += 1));
    match asked {
        // The kernel was built without them.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPROTONOSUPPORT | libc::EINVAL)) => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
        asked => asked.map(|()| count > 0),
    }
}

/// `NFNL_SUBSYS_NFTABLES` and `NFT_MSG_GETTABLE`.
const GET_TABLE: u16 = 10 << 8 | 1;
