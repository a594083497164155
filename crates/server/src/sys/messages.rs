//! Reading many datagrams from a socket in one system call.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Room for the datagrams of one call.
pub(crate) struct Messages {
    bytes: Box<[u8]>,
    headers: Box<[libc::mmsghdr]>,
    vectors: Box<[libc::iovec]>,
    addresses: Box<[Address]>,
    controls: Box<[Control]>,
    received: usize,
}

/// One datagram, or several of one sender coalesced into one piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    /// Sender; `None` if its address is of another family.
    pub(crate) from: Option<SocketAddr>,
    /// The address it was sent to; `None` unless `name_destinations` was called for the socket.
    pub(crate) to: Option<IpAddr>,
    /// The payload.
    pub(crate) bytes: &'a [u8],
    /// Length of each datagram but the last one, bytes; `None` if there is only one.
    pub(crate) segment_bytes: Option<usize>,
}

/// `sockaddr_storage`, read as bytes.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Address([u8; 128]);

/// Room for control messages.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

impl Messages {
    pub(crate) fn new() -> Messages {
        // SAFETY: `mmsghdr` and `iovec` are plain C structures of numbers and pointers, for which zeros are valid.
        let (header, vector) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Messages {
            bytes: vec![0; MESSAGES * MESSAGE_BYTES].into(),
            headers: vec![header; MESSAGES].into(),
            vectors: vec![vector; MESSAGES].into(),
            addresses: vec![Address([0; 128]); MESSAGES].into(),
            controls: vec![Control([0; CONTROL_BYTES]); MESSAGES].into(),
            received: 0,
        }
    }

    /// Waits for a datagram up to the socket's read timeout, and reads all pending ones that fit.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.received = 0;
        self.prepare();
        let (count, wait_for_one) = (MESSAGES_U32, libc::MSG_WAITFORONE);
        // SAFETY: `prepare` has just pointed every header at memory of this structure with its length, all of it
        // stays where it is during the call, and the headers are `count` many.
        let received = unsafe {
            let headers = self.headers.as_mut_ptr();
            libc::recvmmsg(socket.as_raw_fd(), headers, count, wait_for_one, std::ptr::null_mut())
        };
        self.received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok(())
    }

    /// The datagrams read by the last call, in the order of arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Message<'_>> {
        let rooms = self.bytes.chunks_exact(MESSAGE_BYTES);
        let parts = self.headers.iter().zip(rooms).zip(self.addresses.iter().zip(&self.controls));
        parts.take(self.received).map(|((header, room), (address, control))| {
            let length = usize::try_from(header.msg_len).unwrap_or_default();
            let control_length = header.msg_hdr.msg_controllen.min(CONTROL_BYTES);
            let controls = &control.0[..control_length];
            let segment = segment_bytes(controls);
            let bytes = room.get(..length).unwrap_or(room);
            Message {
                from: socket_address(&address.0),
                to: destination(controls),
                bytes,
                segment_bytes: segment.filter(|segment| *segment < bytes.len()),
            }
        })
    }

    /// Points each header at its room. The kernel overwrites the lengths, so this is done before every call.
    fn prepare(&mut self) {
        let rooms = self.bytes.chunks_exact_mut(MESSAGE_BYTES);
        let parts = self.headers.iter_mut().zip(&mut self.vectors).zip(rooms);
        let parts = parts.zip(self.addresses.iter_mut().zip(&mut self.controls));
        for (((header, vector), room), (address, control)) in parts {
            vector.iov_base = room.as_mut_ptr().cast();
            vector.iov_len = room.len();
            // A kernel that writes no address leaves the family at 0, which is invalid.
            address.0[..2].fill(0);
            header.msg_len = 0;
            let header = &mut header.msg_hdr;
            header.msg_name = address.0.as_mut_ptr().cast();
            header.msg_namelen = ADDRESS_BYTES;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES;
            header.msg_flags = 0;
        }
    }
}

/// Reads a `sockaddr_in` or `sockaddr_in6`.
fn socket_address(bytes: &[u8; 128]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    match family {
        libc::AF_INET => {
            let address: [u8; 4] = *bytes[4..].first_chunk()?;
            Some(SocketAddr::from((Ipv4Addr::from(address), port)))
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = *bytes[8..].first_chunk()?;
            let scope = u32::from_ne_bytes(*bytes[24..].first_chunk()?);
            Some(SocketAddrV6::new(Ipv6Addr::from(address), port, 0, scope).into())
        }
        _ => None,
    }
}

/// Finds the segment size among control messages.
fn segment_bytes(controls: &[u8]) -> Option<usize> {
    let value = value_of(controls, |kind| kind == (libc::SOL_UDP, libc::UDP_GRO))?;
    let size = i32::from_ne_bytes(*value.first_chunk()?);
    usize::try_from(size).ok().filter(|size| *size > 0)
}

/// Finds the destination address among control messages: in `in_pktinfo` behind the interface and a local
/// address, in `in6_pktinfo` at the beginning.
fn destination(controls: &[u8]) -> Option<IpAddr> {
    let of = |level, name| value_of(controls, |kind| kind == (level, name));
    if let Some(value) = of(libc::IPPROTO_IP, libc::IP_PKTINFO) {
        let address: [u8; 4] = *value.get(8..)?.first_chunk()?;
        return Some(address.into());
    }
    let address: [u8; 16] = *of(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO)?.first_chunk()?;
    Some(address.into())
}

/// The value of the first control message of a level and a type, with all that follows it.
fn value_of(mut controls: &[u8], is_wanted: impl Fn((i32, i32)) -> bool) -> Option<&[u8]> {
    // Each consists of its length with this header, its level, its type and its value, padded to the width of
    // a length.
    loop {
        let length = usize::from_ne_bytes(*controls.first_chunk()?);
        let level = i32::from_ne_bytes(*controls.get(WORD..)?.first_chunk()?);
        let kind = i32::from_ne_bytes(*controls.get(WORD + 4..)?.first_chunk()?);
        if is_wanted((level, kind)) {
            return controls.get(WORD + 8..);
        }
        let padded = length.max(WORD + 8).checked_next_multiple_of(WORD)?;
        controls = controls.get(padded..)?;
    }
}

/// Maximum number of pieces read in one call.
const MESSAGES: usize = 32;
const MESSAGES_U32: libc::c_uint = 32;
/// Maximum length of a piece: that of a UDP datagram, up to which the kernel coalesces.
const MESSAGE_BYTES: usize = 65_536;
/// The segment size takes 24, the destination 32, or 40 for IPv6.
const CONTROL_BYTES: usize = 64;
const ADDRESS_BYTES: libc::socklen_t = 128;
/// Width of a length in control messages.
const WORD: usize = size_of::<usize>();

#[cfg(test)]
mod tests;
