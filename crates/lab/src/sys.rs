//! System calls without a safe wrapper.
#![allow(unsafe_code, reason = "sockets for whole frames, with the kernel's time of arrival")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A socket that receives and sends complete frames of one device.
#[derive(Debug)]
pub(crate) struct FrameSocket(OwnedFd);

impl FrameSocket {
    /// Opens the socket on the device with an interface index, in the network namespace of this thread.
    pub(crate) fn open(device: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes three integers and returns a descriptor, or a negative number. Protocol 0
        // receives nothing yet.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        let socket = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        socket.set(libc::SOL_PACKET, IGNORE_OUTGOING, 1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        // As root, regardless of `net.core.rmem_max`.
        socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER_BYTES)?;
        socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, BUFFER_BYTES)?;
        socket.bind(device)?;
        Ok(socket)
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        // SAFETY: the pointer is to a live integer of the length given, which the call only reads.
        let done = unsafe {
            libc::setsockopt(self.0.as_raw_fd(), level, option, (&raw const value).cast(), INTEGER_BYTES)
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn bind(&self, device: u32) -> io::Result<()> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let every = u16::try_from(libc::ETH_P_ALL).map_err(invalid)?.to_be();
        let address = libc::sockaddr_ll {
            sll_family: u16::try_from(libc::AF_PACKET).map_err(invalid)?,
            sll_protocol: every,
            sll_ifindex: i32::try_from(device).map_err(invalid)?,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = u32::try_from(size_of::<libc::sockaddr_ll>()).map_err(invalid)?;
        // SAFETY: the pointer is to a live structure of the length given, which the call only reads.
        let done = unsafe { libc::bind(self.0.as_raw_fd(), (&raw const address).cast(), length) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Receives a frame into `buffer`, as it was on the link; returns its length and its time of arrival, by
    /// the real-time clock. `None`: no frame is pending.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, Duration)>> {
        // As large as `struct cmsghdr` with `struct timespec`, and aligned as they are.
        let mut control = [0_u64; 16];
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: all zeros is a value of this structure of integers and pointers.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        // SAFETY: every pointer in `header` is to live memory of the length beside it.
        let length = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut header, 0) };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            let none = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if none { Ok(None) } else { Err(error) };
        };
        let (arrived, tag) = read_control(&header);
        let length = length.min(buffer.len());
        let length = tag.map_or(length, |tag| insert_tag(buffer, length, tag));
        Ok(Some((length, arrived.unwrap_or_else(now))))
    }

    /// Sends a frame; returns whether the device accepted it.
    pub(crate) fn send(&self, frame: &[u8]) -> bool {
        // SAFETY: the pointer is to live memory of the length given, which the call only reads.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        usize::try_from(sent).is_ok_and(|sent| sent == frame.len())
    }
}

/// The time of arrival and the VLAN tag that the kernel has put beside a received frame.
fn read_control(header: &libc::msghdr) -> (Option<Duration>, Option<[u8; 4]>) {
    let (mut arrived, mut tag) = (None, None);
    // SAFETY: `header` was filled in by the kernel, and its control memory is live.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: a header that is not null lies within the control memory, whole, with its data behind it.
        let (level, kind, data) = unsafe { ((*next).cmsg_level, (*next).cmsg_type, libc::CMSG_DATA(next)) };
        if level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPNS {
            // SAFETY: the kernel puts a `struct timespec` behind this header; it need not be aligned.
            let time = unsafe { data.cast::<libc::timespec>().read_unaligned() };
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            arrived = Some(Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0)));
        } else if level == libc::SOL_PACKET && kind == libc::PACKET_AUXDATA {
            // SAFETY: the kernel puts a `struct tpacket_auxdata` behind this header; it need not be aligned.
            let beside = unsafe { data.cast::<libc::tpacket_auxdata>().read_unaligned() };
            if beside.tp_status & VLAN_VALID != 0 {
                let ([a, b], [c, d]) = (beside.tp_vlan_tpid.to_be_bytes(), beside.tp_vlan_tci.to_be_bytes());
                tag = Some([a, b, c, d]);
            }
        }
        // SAFETY: as for the first header.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    (arrived, tag)
}

/// Returns a VLAN tag to its place in the frame of `length` bytes; returns the frame's length with it.
fn insert_tag(buffer: &mut [u8], length: usize, tag: [u8; 4]) -> usize {
    let end = length + tag.len();
    // The largest packet of the kernel leaves no room for a tag; no device takes it with one either.
    if length < ADDRESS_BYTES || end > buffer.len() {
        return length;
    }
    buffer.copy_within(ADDRESS_BYTES..length, ADDRESS_BYTES + tag.len());
    buffer[ADDRESS_BYTES..ADDRESS_BYTES + tag.len()].copy_from_slice(&tag);
    end
}

/// Waits until one of two sockets has a frame, for at most `patience`.
pub(crate) fn wait(sockets: [&FrameSocket; 2], patience: Duration) {
    let mut polled =
        sockets.map(|socket| libc::pollfd { fd: socket.0.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(patience.as_secs()).unwrap_or(1),
        tv_nsec: patience.subsec_nanos().into(),
    };
    // SAFETY: the pointers are to two live structures and to a live time; there is no signal mask.
    unsafe { libc::ppoll(polled.as_mut_ptr(), 2, &raw const time, std::ptr::null()) };
}

/// Sets this thread's timer slack to the minimum: it wakes on time, rather than up to 50 us later.
pub(crate) fn wake_in_time() {
    // SAFETY: the call takes integers. If the kernel refuses, timers keep their slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// The real-time clock, which also stamps frames.
pub(crate) fn now() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

/// The two addresses of a frame.
const ADDRESS_BYTES: usize = 12;
/// `TP_STATUS_VLAN_VALID`.
const VLAN_VALID: u32 = 1 << 4;
/// `PACKET_IGNORE_OUTGOING`.
const IGNORE_OUTGOING: libc::c_int = 23;
const BUFFER_BYTES: libc::c_int = 8 << 20;
#[allow(clippy::cast_possible_truncation, reason = "four bytes")]
const INTEGER_BYTES: libc::socklen_t = size_of::<libc::c_int>() as libc::socklen_t;

#[cfg(test)]
mod tests;
