//! IPsec policies: whether forwarded packets may have to be encrypted.

use std::io;

use crate::netlink::{Attributes, Message, Netlink};

/// Whether this network namespace has policies for packets that it forwards or sends.
///
/// # Errors
/// An error of the kernel.
pub fn has_policies() -> io::Result<bool> {
    let mut policies = 0;
    let asked = Netlink::open_ipsec().and_then(|mut netlink| {
        netlink.query(Message::new(GET_INFO, 0, &[0; FLAG_BYTES]), |_, body| {
            let counts = Attributes(body.get(FLAG_BYTES..).unwrap_or_default()).get(INFO).unwrap_or_default();
            // Incoming, outgoing, forwarded.
            let counts = counts.chunks_exact(4).take(3).skip(1).filter_map(<[u8]>::first_chunk);
            policies = counts.map(|count| u32::from_ne_bytes(*count)).fold(0, u32::saturating_add);
        })
    });
    match asked {
        // The kernel was built without them.
        Err(error) if error.raw_os_error() == Some(libc::EPROTONOSUPPORT) => Ok(false),
        asked => asked.map(|()| policies > 0),
    }
}

/// `XFRM_MSG_GETSPDINFO`, its flags, and `XFRMA_SPD_INFO`.
const GET_INFO: u16 = 0x25;
const FLAG_BYTES: usize = 4;
const INFO: u16 = 1;
